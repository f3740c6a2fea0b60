//! The columns of a row that come from nowhere but their defaults, where rows come without a statement: COPY and appends.

use crate::Session;
use crate::dml::insert::set;
use crate::dml::row_exprs::Exprs;
use crate::dml::target::{Row, Target};
use crate::error::EngineResult;
use bind::{AssignedTo, Clause};
use catalog::Catalog;
use std::sync::Arc;
use types::Datum;

/// What columns get that are not given.
pub(crate) struct Defaults {
    /// Constants, and NULL elsewhere.
    pub(crate) base: Row,
    /// Columns whose defaults are evaluated for each row.
    pub(crate) columns: Vec<usize>,
    pub(crate) exprs: Exprs,
}

impl Session {
    /// The defaults for a table of which `given` comes from elsewhere. Sequences are left to
    /// [`crate::dml::sequence_defaults`], generated columns to the row writer.
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
