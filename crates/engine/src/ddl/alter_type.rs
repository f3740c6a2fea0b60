//! ALTER COLUMN … TYPE: in the catalog alone where the bytes of values stay, else with the rows written anew.

use super::alter_table::Step;
use super::check_default;
use super::rewrite::Rewrite;
use crate::Session;
use crate::dml::RowTable;
use crate::error::{EngineResult, Fault, fail};
use crate::row_writer::can_assign;
use bind::Clause;
use catalog::{Table, keeps_bytes};
use sql::WrittenExpr;
use types::DataType;

impl Session {
    /// `None`: the column is of that type already.
    pub(super) async fn set_type(
        &mut self,
        table: &Table,
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
        if column.sequence.is_some() && !matches!(ty, DataType::SmallInt | DataType::Integer | DataType::BigInt) {
            if column.identity.is_some() {
                let message = "identity column type must be smallint, integer, or bigint".to_string();
                return fail(Fault::BadSequence { message });
            }
        } else if column.generated.is_none()
            && let Some(text) = &column.default
        {
            // A default is of its column's type, as PostgreSQL keeps it.
            if !can_assign(column.ty, ty) {
                let of = ty.column_name();
                let message = format!("default for column \"{name}\" cannot be cast automatically to type {of}");
                return Err(Fault::NoCastToType { message, hint: None }.into());
            }
            let default = WrittenExpr { expr: sql::parse_expr(text)?, text: text.clone() };
            check_default(self, Some(&default), name, ty).await?;
        }
        let refers = table.foreign_keys.iter().any(|key| key.columns.contains(&column.id));
        let catalog = self.engine.catalog().current();
        let mut keys = catalog.tables().flat_map(|other| &other.foreign_keys);
        let referred = keys.any(|key| key.parent == table.oid && key.parent_columns.contains(&column.id));
        if using.is_some() && (refers || referred) {
            let feature = "ALTER COLUMN TYPE with USING of a column of a foreign key".to_string();
            return fail(Fault::Unsupported { feature });
        }
        if let Some(using) = using {
            // The rows are read by a query that is made of its text: what is wrong with it is told here, where it stands.
            let row = RowTable::of(table);
            self.exprs_over(&catalog, &row, std::slice::from_ref(&using.expr), Clause::Transform).await?;
            rewrite.using.insert(column.id, using.text.clone());
        }
        rewrite.needed |= using.is_some() || column.generated.is_some() || !keeps_bytes(column.ty, ty);
        Ok(Some(Step::SetType(name.to_string(), ty)))
    }
}
