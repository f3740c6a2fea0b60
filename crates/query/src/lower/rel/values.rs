//! VALUES.

use crate::convert::expression_field;
use crate::error::QueryError;
use crate::lower::Lowering;
use crate::lower::error::LowerResult;
use crate::lower::scalar::constant;
use ::bind::tree::{ColId, Rows};
use datafusion::common::{Column, DFSchema};
use datafusion::logical_expr::{Expr, LogicalPlan, Values};
use std::sync::Arc;

impl Lowering<'_> {
    /// VALUES. Many constant rows later become an in-memory table.
    pub(in crate::lower) fn values(&mut self, cols: &[ColId], rows: &Rows) -> LowerResult<LogicalPlan> {
        let none = Arc::new(DFSchema::empty());
        let (mut fields, mut types) = (Vec::with_capacity(cols.len()), Vec::with_capacity(cols.len()));
        for col in cols {
            let missing = || QueryError::internal("a column of VALUES without a type");
            let info = self.bound.col(*col).ok_or_else(missing)?;
            let ty = constant::value_type(info.ty)?;
            let Column { relation, name, .. } = self.columns.computed(*col, &info.name);
            fields.push((relation, Arc::new(expression_field(&ty).with_name(name))));
            types.push(info.ty);
        }
        let values: Vec<Vec<Expr>> = match rows {
            Rows::Const(rows) => {
                let row =
                    |row: &Vec<_>| row.iter().zip(&types).map(|(value, ty)| constant::plain(value, *ty)).collect();
                rows.iter().map(row).collect::<LowerResult<_>>()?
            }
            Rows::Exprs(rows) => {
                let mut lowered = Vec::with_capacity(rows.len());
                for row in rows {
                    let row = row.iter().map(|value| self.expr(value, &none)).collect::<LowerResult<Vec<_>>>()?;
                    lowered.push(row);
                }
                lowered
            }
        };
        let schema = Arc::new(DFSchema::new_with_metadata(fields, Default::default())?);
        Ok(LogicalPlan::Values(Values { schema, values }))
    }
}
