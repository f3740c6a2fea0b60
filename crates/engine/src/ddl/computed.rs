//! Generated columns in definitions: compiles generation expressions and finds the columns they reference.

use super::check::{rewritten, unqualified_names};
use crate::Session;
use crate::dml::RowTable;
use crate::error::{EngineResult, Fault, fail};
use crate::row_writer::can_assign;
use bind::Clause;
use catalog::{NewColumn, Table};
use sql::ast::{Expr, Ident};
use sql::{ColumnDef, folded};
use types::ident::quote;

impl Session {
    /// Compiles the generation expressions of `defs` and sets them in `columns`. `generated` are the names of all
    /// generated columns.
    ///
    /// # Errors
    /// 42P17, 42703, 42804.
    pub(super) async fn compute_columns<'d>(
        &mut self,
        row: &RowTable,
        defs: impl Iterator<Item = &'d ColumnDef>,
        generated: &[String],
        columns: &mut [NewColumn],
    ) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        for def in defs {
            let Some(computed) = &def.computed else { continue };
            let mut names = unqualified_names(&computed.expr);
            names.retain(|name| row.columns.iter().any(|(column, _)| column == name));
            if let Some(column) = names.iter().find(|name| generated.contains(name)) {
                return fail(Fault::NestedGenerated { column: column.clone() });
            }
            let compiled = self.compile_generated(&catalog, row, std::slice::from_ref(&computed.expr)).await?;
            if let Some(ty) = compiled.types().first().filter(|ty| !can_assign(**ty, def.data_type)) {
                let message = format!(
                    "column \"{}\" is of type {} but default expression is of type {}",
                    def.name,
                    def.data_type.base_name(),
                    ty.base_name()
                );
                let hint = Some("You will need to rewrite or cast the expression.".to_string());
                return Err(Fault::NoCastToType { message, hint }.into());
            }
            let fixed = self.fixed_over(row, (&computed.text, &computed.expr), Clause::Generated)?;
            for column in columns.iter_mut().filter(|column| column.name == def.name) {
                (column.default, column.generated) = (Some(fixed.text.clone()), Some(names.clone()));
            }
        }
        Ok(())
    }
}

/// The names and rewritten expressions of the generated columns that reference a renamed column.
///
/// # Errors
/// 0A000 for an expression that does not round-trip through its text.
pub(super) fn renamed_expressions(table: &Table, from: &str, to: &str) -> EngineResult<Vec<(String, String)>> {
    let Some(column) = table.column_by_name(from) else { return Ok(Vec::new()) };
    let naming = table.columns.iter().filter(|it| it.generated.as_ref().is_some_and(|of| of.contains(&column.id)));
    let identifier = || if quote(to) == to { Ident::new(to) } else { Ident::with_quote('"', to) };
    let renamed = naming.map(|column| {
        let (text, _) = rewritten(sql::parse_expr(column.default.as_deref().unwrap_or("NULL"))?, |part| {
            if let Expr::Identifier(name) = part
                && folded(name) == from
            {
                *name = identifier();
            }
        })?;
        Ok((column.name.clone(), text))
    });
    renamed.collect()
}
