//! Column defaults for rows that come without an INSERT statement: COPY and appends.

use crate::Session;
use crate::dml::insert::set;
use crate::dml::row_exprs::Exprs;
use crate::dml::target::{Row, Target};
use crate::error::EngineResult;
use bind::{AssignedTo, Clause};
use catalog::Catalog;
use std::sync::Arc;
use types::Datum;

/// Defaults of the columns that a source omits.
pub(crate) struct Defaults {
    /// Constant defaults; NULL for all other columns.
    pub(crate) base: Row,
    /// Columns whose defaults are evaluated for each row.
    pub(crate) columns: Vec<usize>,
    pub(crate) exprs: Exprs,
}

impl Session {
    /// Compiles the defaults of the columns that are not in `given`. [`crate::dml::sequence_defaults`] covers
    /// sequences, the row writer generated columns.
    pub(crate) async fn defaults_of(
        &mut self,
        catalog: &Arc<Catalog>,
        target: &Target,
        given: &[usize],
    ) -> EngineResult<Defaults> {
        let mut base = vec![Datum::Null; target.width()];
        let (mut columns, mut exprs, mut assigned) = (Vec::new(), Vec::new(), Vec::new());
        for (at, column) in target.table.columns.iter().enumerate() {
            let own = !given.contains(&at) && column.sequence.is_none() && column.generated.is_none();
            let Some(text) = column.default.as_ref().filter(|_| own) else { continue };
            let expr = sql::parse_expr(text)?;
            let to = AssignedTo { ty: column.ty, column: Some(&column.name) };
            match self.constant_now(catalog, &expr, Clause::Default, to)? {
                Some(value) => set(&mut base, at, target.assign(at, value)?),
                None => {
                    columns.push(at);
                    exprs.push(expr);
                    assigned.push(to);
                }
            }
        }
        let exprs = self.defaults_over(catalog, &exprs, &assigned).await?;
        Ok(Defaults { base, columns, exprs })
    }
}
