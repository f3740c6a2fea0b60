//! ALTER COLUMN … TYPE: changes only the catalog if the encoding of values stays, else rewrites the table.

use super::alter_table::Step;
use super::check_default;
use super::rewrite::Rewrite;
use crate::Session;
use crate::dml::RowTable;
use crate::error::{EngineResult, Fault, fail};
use crate::row_writer::can_assign;
use bind::{AssignedTo, Clause};
use catalog::{Column, Counting, Table, TableOid, is_binary_coercible};
use sql::ast::{Expr, Value};
use sql::{SequenceOptions, WrittenExpr};
use types::DataType;

impl Session {
    /// SET DATA TYPE. `None` if the column already has the type. `old` is the current table, whose rows USING reads;
    /// `table` is the table after the preceding actions.
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
            rewrite.using.insert(column.id, self.using_text(old, using, AssignedTo { ty, column: Some(name) }).await?);
        }
        if using.is_some() || column.generated.is_some() || !is_binary_coercible(column.ty, ty) {
            rewrite.needed = true;
            rewrite.retyped.insert(column.id);
        }
        Ok(Some(Step::SetType(name.to_string(), ty, counting)))
    }

    /// The text of USING, from which the rewrite's query is built. Compiling the expression here reports errors with their
    /// position.
    async fn using_text(&mut self, old: &Table, using: &WrittenExpr, column: AssignedTo<'_>) -> EngineResult<String> {
        let catalog = self.engine.catalog().current();
        if is_untyped(&using.expr) && !column.ty.is_text() {
            self.constant_now(&catalog, &using.expr, Clause::Transform, column)?;
            // Writing the rows applies length and scale, and refuses values that an explicit cast would truncate.
            return Ok(format!("CAST({} AS {})", using.text, column.ty.unlimited().sql_name()));
        }
        self.exprs_over(&catalog, &RowTable::of(old), std::slice::from_ref(&using.expr), Clause::Transform).await?;
        Ok(using.text.clone())
    }

    /// The options of an identity's sequence for the column's new type: the type's bounds, unless other bounds were
    /// set.
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

    /// Checks that the default can be cast to the new type, as PostgreSQL does.
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

/// Whether the expression has no type of its own: a string or NULL, which gets the column's type.
fn is_untyped(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_untyped(inner),
        Expr::Value(value) => matches!(
            value.value,
            Value::Null
                | Value::SingleQuotedString(_)
                | Value::EscapedStringLiteral(_)
                | Value::UnicodeStringLiteral(_)
                | Value::DollarQuotedString(_)
        ),
        _ => false,
    }
}

/// Whether a sequence can have the type.
fn is_counted(ty: DataType) -> bool {
    matches!(ty, DataType::SmallInt | DataType::Integer | DataType::BigInt)
}
