//! ALTER COLUMN … TYPE: in the catalog alone where the bytes of values stay, else with the rows written anew.

use super::alter_table::Step;
use super::check_default;
use super::rewrite::Rewrite;
use crate::Session;
use crate::dml::RowTable;
use crate::error::{EngineResult, Fault, fail};
use crate::row_writer::can_assign;
use bind::Clause;
use catalog::{Column, Counting, Table, TableOid, keeps_bytes};
use sql::{SequenceOptions, WrittenExpr};
use types::DataType;

impl Session {
    /// `None`: the column is of that type already. `old` is the table as it is, whose rows USING reads; `table` as the actions
    /// before make it.
    pub(super) async fn set_type(
        &mut self,
        (old, table): (&Table, &Table),
        name: &str,
        ty: DataType,
        using: Option<&WrittenExpr>,
        rewrite: &mut Rewrite,
    ) -> EngineResult<Option<Step>> {
        let column = table.must_get_column(name)?.clone();
        if !ty.is_storable() {
            return fail(Fault::Unsupported { feature: format!("a column of type {ty}") });
        }
        if column.ty == ty && using.is_none() {
            return Ok(None);
        }
        if column.generated.is_some() && using.is_some() {
            let message = "cannot specify USING when altering type of generated column".to_string();
            return fail(Fault::InvalidDefinition { message });
        }
        let counting = match column.identity {
            Some(_) => self.retyped_identity(&column, ty).await?,
            None => {
                self.check_retyped_default(&column, ty).await?;
                None
            }
        };
        if let Some(using) = using {
            // The rows are read by a query that is made of its text: what is wrong with it is told here, where it stands.
            let (catalog, row) = (self.engine.catalog().current(), RowTable::of(old));
            self.exprs_over(&catalog, &row, std::slice::from_ref(&using.expr), Clause::Transform).await?;
            rewrite.using.insert(column.id, using.text.clone());
        }
        if using.is_some() || column.generated.is_some() || !keeps_bytes(column.ty, ty) {
            rewrite.needed = true;
            rewrite.retyped.insert(column.id);
        }
        Ok(Some(Step::SetType(name.to_string(), ty, counting)))
    }

    /// How the sequence of an identity counts when its column is of that type: with the bounds of the type, unless others
    /// were chosen.
    async fn retyped_identity(&self, column: &Column, ty: DataType) -> EngineResult<Option<(TableOid, Counting)>> {
        if !is_counted(ty) {
            let message = "identity column type must be smallint, integer, or bigint".to_string();
            return fail(Fault::BadSequence { message });
        }
        let catalog = self.engine.catalog().current();
        let Some(sequence) = column.sequence.and_then(|oid| catalog.sequence_by_oid(oid)) else { return Ok(None) };
        let options = SequenceOptions { data_type: Some(ty), ..SequenceOptions::default() };
        Ok(Some((sequence.oid, self.recounted(&options, sequence).await?)))
    }

    /// A default is of its column's type, as PostgreSQL keeps it.
    async fn check_retyped_default(&mut self, column: &Column, ty: DataType) -> EngineResult<()> {
        let Some(text) = &column.default else { return Ok(()) };
        if column.generated.is_some() || (column.sequence.is_some() && !is_counted(ty)) {
            return Ok(());
        }
        if !can_assign(column.ty, ty) {
            let (name, of) = (&column.name, ty.column_name());
            let message = format!("default for column \"{name}\" cannot be cast automatically to type {of}");
            return Err(Fault::NoCastToType { message, hint: None }.into());
        }
        let default = WrittenExpr { expr: sql::parse_expr(text)?, text: text.clone() };
        check_default(self, Some(&default), &column.name, ty).await
    }
}

/// May a sequence be of that type?
fn is_counted(ty: DataType) -> bool {
    matches!(ty, DataType::SmallInt | DataType::Integer | DataType::BigInt)
}
