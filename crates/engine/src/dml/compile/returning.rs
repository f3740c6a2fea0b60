//! Compiles RETURNING over the written row and the columns of joined tables.

use super::Writing;
use super::exprs::inputs_of;
use crate::ColumnDesc;
use crate::Session;
use crate::dml::returning::{Item, Returning};
use crate::dml::target::Target;
use crate::error::EngineResult;
use bind::tree::{ColId, Kind, Scalar, TargetRow};
use query::{OutputColumn, RowInput};
use std::collections::BTreeSet;
use std::sync::Arc;
use types::DataType;

/// Columns that RETURNING reads in addition to the written row.
pub(super) fn joined_columns(returning: &[(String, Scalar)], written: &TargetRow) -> Vec<ColId> {
    let mut all = BTreeSet::new();
    returning.iter().for_each(|(_, value)| value.each_column(&mut |col| _ = all.insert(col)));
    all.retain(|col| written.cols.iter().all(|(_, own)| own != col));
    all.into_iter().collect()
}

impl Session {
    /// Compiles RETURNING. `joined` are the columns that it reads from the row set.
    pub(super) async fn bound_returning(
        &mut self,
        writing: &Writing<'_>,
        target: &Target,
        returning: &[(String, Scalar)],
        written: &TargetRow,
        joined: &[(ColId, &OutputColumn)],
    ) -> EngineResult<Option<Returning>> {
        if returning.is_empty() {
            return Ok(None);
        }
        let (mut columns, mut items, mut computed) = (Vec::new(), Vec::new(), Vec::new());
        for (name, value) in returning {
            let (item, column) = match item_of(value, target, written, joined) {
                Some((item, column)) => (item, ColumnDesc { name: name.clone(), ..column }),
                None => {
                    computed.push(value);
                    // The type is filled in below, once all expressions are compiled.
                    let column = ColumnDesc { name: name.clone(), ty: DataType::Text, table_oid: 0, column_number: 0 };
                    (Item::Computed(computed.len() - 1), column)
                }
            };
            items.push(item);
            columns.push(column);
        }
        let beside = joined.iter().enumerate().map(|(place, (col, column))| RowInput {
            col: *col,
            row: 1,
            place,
            ty: column.ty,
        });
        let inputs: Vec<RowInput> = inputs_of(target, &written.cols, 0).chain(beside).collect();
        let exprs = self.bound_exprs(writing, &computed, &inputs).await?;
        let of_exprs = columns.iter_mut().zip(&items).filter(|(_, item)| matches!(item, Item::Computed(_)));
        for ((column, _), ty) in of_exprs.zip(exprs.types()) {
            column.ty = *ty;
        }
        Ok(Some(Returning::new(Arc::new(columns), items, exprs)))
    }
}

/// The item for a plain column reference; `None` for other expressions.
fn item_of(
    value: &Scalar,
    target: &Target,
    written: &TargetRow,
    joined: &[(ColId, &OutputColumn)],
) -> Option<(Item, ColumnDesc)> {
    let Kind::Col(col) = &value.kind else { return None };
    if let Some((at, _)) = written.cols.iter().find(|(_, own)| *own == col.id) {
        return Some((Item::Column(*at), target.describe(*at)));
    }
    let at = joined.iter().position(|(other, _)| *other == col.id)?;
    let (_, column) = joined.get(at)?;
    let OutputColumn { name, ty, table_oid, column_number, .. } = (*column).clone();
    Some((Item::Joined(at), ColumnDesc { name, ty, table_oid, column_number }))
}
