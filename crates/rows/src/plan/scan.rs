//! Scans: conditions become key tests.

use super::rel::{Ask, PlanResult, Planned};
use super::{Compiler, Node, NodeKind};
use crate::WhyNot;
use crate::access::{Direction, KeyTest, ScanPath, Target, Width, direction, width};
use crate::expr::{Scope, columns};
use bind::tree::{ColId, Scalar};
use catalog::row_codec::Place;
use catalog::{RowCodec, RowReader, Table};
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
        let mut path = self.path(table, cols, &[], &early, &own)?;
        let key = key_cols(&path.codec, cols);
        let found = direction(path.codec.key_schema(), &key, &path.tests, &ask.order);
        path.direction = found.unwrap_or(Direction::Any);
        let width = width(&path.tests, key.len());
        let first_rows =
            ask.limited && found.is_some() && late.is_empty() && path.tests.iter().all(KeyTest::is_complete);
        if width == Width::Wide && !first_rows && !self.options.full_scans {
            return Err(WhyNot::FullScan { table: table.name.clone() });
        }
        self.widest = self.widest.max(width);
        let node = Node { kind: NodeKind::Scan(Box::new(path)), cols: own };
        Ok(Planned { node: self.filter(node, &late)?, ordered: found.is_some() })
    }

    /// The path to a table's rows. Operands read `outer`, the columns of rows that are looked up for; conditions read
    /// `scope`, which begins with them.
    pub(crate) fn path(
        &mut self,
        table: &Arc<Table>,
        cols: &ScanCols,
        outer: &[ColId],
        conditions: &[&Scalar],
        scope: &[ColId],
    ) -> Result<ScanPath, WhyNot> {
        let broken = |error: catalog::RowError| WhyNot::Table { detail: error.to_string() };
        let codec = RowCodec::new(table).map_err(broken)?;
        let wanted: Vec<usize> = cols.iter().map(|(ordinal, _)| *ordinal).collect();
        let reader = RowReader::new(&codec, &wanted).map_err(broken)?;
        let tests = self.tests(table, &codec, cols, outer, conditions);
        let compiled = conditions.iter().map(|condition| self.expr(condition, &Scope { cols: scope }));
        let conditions = compiled.collect::<Result<_, _>>()?;
        Ok(ScanPath { table: Arc::clone(table), codec, reader, tests, conditions, direction: Direction::Any })
    }

    /// What conditions say about the key of a table.
    pub(crate) fn tests(
        &mut self,
        table: &Table,
        codec: &RowCodec,
        cols: &ScanCols,
        outer: &[ColId],
        conditions: &[&Scalar],
    ) -> Vec<KeyTest> {
        let part_of = |id: ColId| {
            let (ordinal, _) = cols.iter().find(|(_, col)| *col == id)?;
            match codec.places().get(*ordinal)? {
                Place::Key(part) => Some(Target { part: *part, ty: table.columns.get(*ordinal)?.ty }),
                Place::Value(_) => None,
            }
        };
        let own = cols.iter().map(|(_, col)| *col).collect();
        let sides = crate::access::Sides { part_of: &part_of, own: &own, scope: Scope { cols: outer } };
        conditions.iter().map(|condition| self.key_test(condition, &sides)).collect()
    }
}

/// For each part of the key its column, if the statement uses it.
fn key_cols(codec: &RowCodec, cols: &ScanCols) -> Vec<Option<ColId>> {
    let col = |column: &usize| cols.iter().find(|(ordinal, _)| ordinal == column).map(|(_, col)| *col);
    codec.key_columns().iter().map(col).collect()
}
