//! Scans: conditions become key tests, of the rowkey and of each index.

use super::rel::{Ask, PlanResult, Planned};
use super::{Compiler, Node, NodeKind};
use crate::WhyNot;
use crate::access::{
    BoundIndex, BoundIndexes, Direction, KeyTest, ScanPath, Scanned, Sides, Target, Way, Width, clause, direction, rank,
};
use crate::expr::{RowExpr, Scope, columns};
use bind::tree::{ColId, Scalar};
use catalog::{RowCodec, RowReader, Table};
use index::IndexChoice;
use std::sync::Arc;

/// Columns of a scan: ordinal and id.
pub(crate) type ScanCols = [(usize, ColId)];

impl Compiler<'_> {
    /// A scan that begins a program, or a branch of it.
    pub(crate) fn scan<'a>(&mut self, table: &Arc<Table>, cols: &ScanCols, ask: Ask<'a>) -> PlanResult {
        let own: Vec<ColId> = cols.iter().map(|(_, col)| *col).collect();
        // A condition that waits for a subquery cannot run inside of a scan.
        let (late, early): (Vec<&Scalar>, Vec<&Scalar>) =
            ask.conditions.iter().partition(|condition| columns::has_subquery(condition));
        let conditions = self.judges(&early, &own)?;
        let ways = self.ways(table, cols, &[], &early)?;
        let first_rows = ask.limited && late.is_empty();
        let Some((ways, ordered)) = self.worth_while(ways, cols, &ask, first_rows) else {
            return Err(WhyNot::FullScan { table: table.name.clone() });
        };
        let width = ways.iter().map(Way::width).max().unwrap_or(Width::Wide);
        self.widest = self.widest.max(width);
        if width == Width::Bounded {
            self.bounded = Some(table.name.clone());
        }
        let column_tests = self.column_tests(table, cols, &early);
        let path = ScanPath { column_tests, ..Self::path(table, cols, conditions, ways)? };
        let node = Node { kind: NodeKind::Scan(Box::new(path)), cols: own };
        Ok(Planned { node: self.filter(node, &late)?, ordered })
    }

    /// Those of the ways that may turn out to be the best, and whether they give the order. `None`: all of them read too
    /// much. `first_rows`: few are wanted if the order is given.
    fn worth_while(
        &self,
        ways: Vec<Way>,
        cols: &ScanCols,
        ask: &Ask<'_>,
        first_rows: bool,
    ) -> Option<(Vec<Way>, bool)> {
        let gives = |way: &Way| {
            let key = sorted_by(way, cols, &ask.computed);
            direction(way.scanned.codec().key_schema(), &key, &way.tests, &ask.order)
        };
        let with_order = |mut way: Way| {
            way.direction = gives(&way)?;
            Some(way)
        };
        let (narrow, wide): (Vec<Way>, Vec<Way>) = ways.into_iter().partition(|way| way.width() < Width::Wide);
        if narrow.is_empty() {
            let first = |way: &&Way| first_rows && gives(way).is_some() && way.tests.iter().all(KeyTest::is_complete);
            let is_first = wide.iter().any(|way| first(&way));
            let usable = wide.into_iter().filter(|way| if is_first { first(&way) } else { self.options.full_scans });
            let best = usable.min_by_key(|way| (!matches!(way.scanned, Scanned::Rows(_)) && !is_first, rank(way)))?;
            let found = gives(&best);
            return Some((vec![Way { direction: found.unwrap_or(Direction::Any), ..best }], found.is_some()));
        }
        let best_gives = narrow.iter().min_by_key(|way| rank(way)).is_some_and(|way| gives(way).is_some());
        let any_gives = narrow.iter().any(|way| gives(way).is_some());
        match best_gives || first_rows && any_gives {
            true => Some((narrow.into_iter().filter_map(with_order).collect(), true)),
            false => Some((narrow, false)),
        }
    }

    /// Conditions that are judged on rows of `scope`.
    pub(crate) fn judges(&mut self, conditions: &[&Scalar], scope: &[ColId]) -> Result<Vec<RowExpr>, WhyNot> {
        conditions.iter().map(|condition| self.expr(condition, &Scope { cols: scope })).collect()
    }

    /// The path to a table's rows by some of these ways.
    pub(crate) fn path(
        table: &Arc<Table>,
        cols: &ScanCols,
        conditions: Vec<RowExpr>,
        ways: Vec<Way>,
    ) -> Result<ScanPath, WhyNot> {
        let wanted: Vec<usize> = cols.iter().map(|(ordinal, _)| *ordinal).collect();
        let reader = RowCodec::new(table).and_then(|codec| RowReader::new(&codec, &wanted)).map_err(broken)?;
        let cols = cols.iter().map(|(_, col)| *col).collect();
        Ok(ScanPath { table: Arc::clone(table), reader, cols, conditions, column_tests: Vec::new(), ways })
    }

    /// All ways to a table's rows. Operands of tests read `outer`, the columns of rows that are looked up for. The table's
    /// own key is the first, and the only one where it names whole keys.
    pub(crate) fn ways(
        &mut self,
        table: &Arc<Table>,
        cols: &ScanCols,
        outer: &[ColId],
        conditions: &[&Scalar],
    ) -> Result<Vec<Way>, WhyNot> {
        // A plan says so when it is run.
        if table.is_unpopulated() {
            return Err(WhyNot::Node { what: "a materialized view that is not populated" });
        }
        let rules = self.options.hints.rules(&table.name, self.options.index_choice);
        let choice = rules.choice;
        let mut by_rowkey = Way::by_rowkey(table).map_err(broken)?;
        by_rowkey.one_range = rules.one_range;
        by_rowkey.tests = self.tests(table, &by_rowkey, cols, outer, conditions);
        let settled = !choice.is_forced() && by_rowkey.width() == Width::Points && !rules.has_hint();
        let mut ways = vec![by_rowkey];
        if settled || choice == IndexChoice::Off {
            return Ok(ways);
        }
        let wanted: Vec<usize> = cols.iter().map(|(ordinal, _)| *ordinal).collect();
        let bound = BoundIndexes::of(table);
        for index in table.public_indexes() {
            let Some(bound) = bound.get(index.oid).filter(|bound| has_all(bound, cols, conditions)) else { continue };
            let mut way = Way::by_index(table, index, &wanted).map_err(broken)?;
            way.compute(index, bound, cols);
            (way.preferred, way.one_range) = (rules.place_of(&index.name), rules.one_range);
            way.tests = self.tests(table, &way, cols, outer, conditions);
            ways.push(way);
        }
        if let Some(best) = ways.iter().filter_map(|way| way.preferred).min() {
            ways.retain(|way| way.preferred == Some(best));
            return Ok(ways);
        }
        let forced = ways.iter().skip(1).any(|way| way.width() < Width::Wide);
        if choice.is_forced() && forced {
            ways.retain(|way| !matches!(way.scanned, Scanned::Rows(_)) && way.width() < Width::Wide);
        }
        Ok(ways)
    }

    /// What conditions say about the columns of the table, if anything is known of these.
    fn column_tests(&mut self, table: &Table, cols: &ScanCols, conditions: &[&Scalar]) -> Vec<KeyTest> {
        let part_of = |id: ColId| {
            let (ordinal, _) = cols.iter().find(|(_, col)| *col == id)?;
            Some(Target { part: *ordinal, ty: table.columns.get(*ordinal)?.ty })
        };
        let own = cols.iter().map(|(_, col)| *col).collect();
        let sides = Sides { part_of: &part_of, computed: &[], own: &own, scope: Scope { cols: &[] } };
        conditions.iter().map(|condition| self.key_test(condition, &sides)).collect()
    }

    /// What conditions say about the key of what is scanned.
    fn tests(
        &mut self,
        table: &Table,
        way: &Way,
        cols: &ScanCols,
        outer: &[ColId],
        conditions: &[&Scalar],
    ) -> Vec<KeyTest> {
        let part_of = |id: ColId| {
            let (ordinal, _) = cols.iter().find(|(_, col)| *col == id)?;
            Some(Target { part: way.part_of(*ordinal)?, ty: table.columns.get(*ordinal)?.ty })
        };
        let own = cols.iter().map(|(_, col)| *col).collect();
        let sides = Sides { part_of: &part_of, computed: &way.computed, own: &own, scope: Scope { cols: outer } };
        conditions.iter().map(|condition| self.key_test(condition, &sides)).collect()
    }
}

/// Has an index all rows that satisfy the conditions?
fn has_all(bound: &BoundIndex, cols: &ScanCols, conditions: &[&Scalar]) -> bool {
    let Some(predicate) = &bound.predicate else { return true };
    let given: Vec<index::Clause> = conditions.iter().map(|condition| clause(condition)).collect();
    // A column that the statement does not use is in none of its conditions.
    predicate.over(cols).is_some_and(|predicate| index::implies(&given, &clause(&predicate)))
}

/// For each part of a way's key the column that is in its order: of the table, or computed as the part is.
fn sorted_by(way: &Way, cols: &ScanCols, computed: &[(ColId, &Scalar)]) -> Vec<Option<ColId>> {
    let computed_as = |at: usize| {
        let (part, _) = way.computed.iter().find(|(_, target)| target.part == at)?;
        computed.iter().find(|(_, scalar)| bind::is_same(scalar, part)).map(|(col, _)| *col)
    };
    let parts = way.key.iter().enumerate();
    parts.map(|(at, column)| column_of(cols, *column).or_else(|| computed_as(at))).collect()
}

/// The id of a column, if the statement uses it.
fn column_of(cols: &ScanCols, column: Option<usize>) -> Option<ColId> {
    cols.iter().find(|(ordinal, _)| Some(*ordinal) == column).map(|(_, col)| *col)
}

fn broken(error: catalog::RowError) -> WhyNot {
    WhyNot::Table { detail: error.to_string() }
}
