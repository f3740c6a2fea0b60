//! Compiles scans: conditions become key tests of the rowkey and of each index.

use super::rel::{Ask, PlanResult, Planned};
use super::{Compiler, Node, NodeKind};
use crate::WhyNot;
use crate::access::{
    AccessPath, BoundIndex, BoundIndexes, Direction, KeyTest, ScanPath, Scanned, Sides, Target, Width, clause,
    direction, rank,
};
use crate::expr::{RowExpr, Scope, columns};
use bind::tree::{ColId, Scalar};
use catalog::{RowCodec, RowReader, Table};
use index::IndexChoice;
use std::sync::Arc;

/// The columns of a scan: ordinal and id.
pub(crate) type ScanCols = [(usize, ColId)];

impl Compiler<'_> {
    /// A scan that is not the inner side of a lookup.
    pub(crate) fn scan<'a>(&mut self, table: &Arc<Table>, cols: &ScanCols, ask: Ask<'a>) -> PlanResult {
        let own: Vec<ColId> = cols.iter().map(|(_, col)| *col).collect();
        // A condition with a subquery cannot be evaluated within a scan.
        let (late, early): (Vec<&Scalar>, Vec<&Scalar>) =
            ask.conditions.iter().partition(|condition| columns::has_subquery(condition));
        let conditions = self.judges(&early, &own)?;
        let candidates = self.candidates(table, cols, &[], &early)?;
        let first_rows = ask.limited && late.is_empty();
        let Some((candidates, ordered)) = self.usable_paths(candidates, cols, &ask, first_rows) else {
            return Err(WhyNot::FullScan { table: table.name.clone() });
        };
        let width = candidates.iter().map(AccessPath::width).max().unwrap_or(Width::Wide);
        self.widest = self.widest.max(width);
        if width == Width::Bounded {
            self.bounded = Some(table.name.clone());
        }
        let column_tests = self.column_tests(table, cols, &early);
        let path = ScanPath { column_tests, ..Self::path(table, cols, conditions, candidates)? };
        let node = Node { kind: NodeKind::Scan(Box::new(path)), cols: own };
        Ok(Planned { node: self.filter(node, &late)?, ordered })
    }

    /// The access paths that may turn out to be the best, and whether they give the order. `None` if all of them read
    /// too much. `first_rows`: few rows are needed if the order is given.
    fn usable_paths(
        &self,
        candidates: Vec<AccessPath>,
        cols: &ScanCols,
        ask: &Ask<'_>,
        first_rows: bool,
    ) -> Option<(Vec<AccessPath>, bool)> {
        let gives = |candidate: &AccessPath| {
            let key = sorted_by(candidate, cols, &ask.computed);
            direction(candidate.scanned.codec().key_schema(), &key, &candidate.tests, &ask.order)
        };
        let with_order = |mut candidate: AccessPath| {
            candidate.direction = gives(&candidate)?;
            Some(candidate)
        };
        let (narrow, wide): (Vec<AccessPath>, Vec<AccessPath>) =
            candidates.into_iter().partition(|candidate| candidate.width() < Width::Wide);
        if narrow.is_empty() {
            let first = |candidate: &&AccessPath| {
                first_rows && gives(candidate).is_some() && candidate.tests.iter().all(KeyTest::is_complete)
            };
            let is_first = wide.iter().any(|candidate| first(&candidate));
            let usable =
                wide.into_iter().filter(|candidate| if is_first { first(&candidate) } else { self.options.full_scans });
            let best = usable.min_by_key(|candidate| {
                (!matches!(candidate.scanned, Scanned::Rows(_)) && !is_first, rank(candidate))
            })?;
            let found = gives(&best);
            return Some((vec![AccessPath { direction: found.unwrap_or(Direction::Any), ..best }], found.is_some()));
        }
        let best_gives =
            narrow.iter().min_by_key(|candidate| rank(candidate)).is_some_and(|candidate| gives(candidate).is_some());
        let any_gives = narrow.iter().any(|candidate| gives(candidate).is_some());
        match best_gives || first_rows && any_gives {
            true => Some((narrow.into_iter().filter_map(with_order).collect(), true)),
            false => Some((narrow, false)),
        }
    }

    /// Compiles conditions that are checked on rows of `scope`.
    pub(crate) fn judges(&mut self, conditions: &[&Scalar], scope: &[ColId]) -> Result<Vec<RowExpr>, WhyNot> {
        conditions.iter().map(|condition| self.expr(condition, &Scope { cols: scope })).collect()
    }

    /// The scan of a table with these access paths.
    pub(crate) fn path(
        table: &Arc<Table>,
        cols: &ScanCols,
        conditions: Vec<RowExpr>,
        candidates: Vec<AccessPath>,
    ) -> Result<ScanPath, WhyNot> {
        let wanted: Vec<usize> = cols.iter().map(|(ordinal, _)| *ordinal).collect();
        let reader = RowCodec::new(table).and_then(|codec| RowReader::new(&codec, &wanted)).map_err(broken)?;
        let cols = cols.iter().map(|(_, col)| *col).collect();
        Ok(ScanPath { table: Arc::clone(table), reader, cols, conditions, column_tests: Vec::new(), candidates })
    }

    /// All access paths to a table's rows. Operands of tests may read `outer`, the columns of the outer row of a
    /// lookup. The rowkey is the first path, and the only one if the conditions give complete keys.
    pub(crate) fn candidates(
        &mut self,
        table: &Arc<Table>,
        cols: &ScanCols,
        outer: &[ColId],
        conditions: &[&Scalar],
    ) -> Result<Vec<AccessPath>, WhyNot> {
        // A plan reports the error when it is executed.
        if table.is_unpopulated() {
            return Err(WhyNot::Node { what: "a materialized view that is not populated" });
        }
        let rules = self.options.hints.rules(&table.name, self.options.index_choice);
        let choice = rules.choice;
        let mut by_rowkey = AccessPath::by_rowkey(table).map_err(broken)?;
        by_rowkey.one_range = rules.one_range;
        by_rowkey.tests = self.tests(table, &by_rowkey, cols, outer, conditions);
        let settled = !choice.is_forced() && by_rowkey.width() == Width::Points && !rules.has_hint();
        let mut candidates = vec![by_rowkey];
        if settled || choice == IndexChoice::Off {
            return Ok(candidates);
        }
        let wanted: Vec<usize> = cols.iter().map(|(ordinal, _)| *ordinal).collect();
        let bound = BoundIndexes::of(table);
        for index in table.public_indexes() {
            let Some(bound) = bound.get(index.oid).filter(|bound| has_all(bound, cols, conditions)) else { continue };
            let mut candidate = AccessPath::by_index(table, index, &wanted).map_err(broken)?;
            candidate.compute(index, bound, cols);
            (candidate.preferred, candidate.one_range) = (rules.place_of(&index.name), rules.one_range);
            candidate.tests = self.tests(table, &candidate, cols, outer, conditions);
            candidates.push(candidate);
        }
        if let Some(best) = candidates.iter().filter_map(|candidate| candidate.preferred).min() {
            candidates.retain(|candidate| candidate.preferred == Some(best));
            return Ok(candidates);
        }
        let forced = candidates.iter().skip(1).any(|candidate| candidate.width() < Width::Wide);
        if choice.is_forced() && forced {
            candidates
                .retain(|candidate| !matches!(candidate.scanned, Scanned::Rows(_)) && candidate.width() < Width::Wide);
        }
        Ok(candidates)
    }

    /// The conditions as tests of the table's columns, for estimates.
    fn column_tests(&mut self, table: &Table, cols: &ScanCols, conditions: &[&Scalar]) -> Vec<KeyTest> {
        let part_of = |id: ColId| {
            let (ordinal, _) = cols.iter().find(|(_, col)| *col == id)?;
            Some(Target { part: *ordinal, ty: table.columns.get(*ordinal)?.ty })
        };
        let own = cols.iter().map(|(_, col)| *col).collect();
        let sides = Sides { part_of: &part_of, computed: &[], own: &own, scope: Scope { cols: &[] } };
        conditions.iter().map(|condition| self.key_test(condition, &sides)).collect()
    }

    /// The conditions as tests of the scanned key.
    fn tests(
        &mut self,
        table: &Table,
        candidate: &AccessPath,
        cols: &ScanCols,
        outer: &[ColId],
        conditions: &[&Scalar],
    ) -> Vec<KeyTest> {
        let part_of = |id: ColId| {
            let (ordinal, _) = cols.iter().find(|(_, col)| *col == id)?;
            Some(Target { part: candidate.part_of(*ordinal)?, ty: table.columns.get(*ordinal)?.ty })
        };
        let own = cols.iter().map(|(_, col)| *col).collect();
        let sides = Sides { part_of: &part_of, computed: &candidate.computed, own: &own, scope: Scope { cols: outer } };
        conditions.iter().map(|condition| self.key_test(condition, &sides)).collect()
    }
}

/// Do the conditions imply the index's predicate?
fn has_all(bound: &BoundIndex, cols: &ScanCols, conditions: &[&Scalar]) -> bool {
    let Some(predicate) = &bound.predicate else { return true };
    let given: Vec<index::Clause<String>> = conditions.iter().map(|condition| clause(condition)).collect();
    // A column that the statement does not use is in none of its conditions.
    predicate.over(cols).is_some_and(|predicate| index::implies(&given, &clause(&predicate)))
}

/// For each part of the path's key the column with its order: of the table, or computed by the same expression.
fn sorted_by(candidate: &AccessPath, cols: &ScanCols, computed: &[(ColId, &Scalar)]) -> Vec<Option<ColId>> {
    let computed_as = |at: usize| {
        let (part, _) = candidate.computed.iter().find(|(_, target)| target.part == at)?;
        computed.iter().find(|(_, scalar)| bind::is_same(scalar, part)).map(|(col, _)| *col)
    };
    let parts = candidate.key.iter().enumerate();
    parts.map(|(at, column)| column_of(cols, *column).or_else(|| computed_as(at))).collect()
}

/// The id of a column, if the statement uses it.
fn column_of(cols: &ScanCols, column: Option<usize>) -> Option<ColId> {
    cols.iter().find(|(ordinal, _)| Some(*ordinal) == column).map(|(_, col)| *col)
}

fn broken(error: catalog::RowError) -> WhyNot {
    WhyNot::Table { detail: error.to_string() }
}
