//! CHECK constraints in definitions: compiles conditions, finds the columns they reference, and checks existing rows.

use super::alter_table::Added;
use super::rewrite::Rewrite;
use crate::Session;
use crate::dml::RowTable;
use crate::error::{EngineResult, Fault, fail};
use bind::Clause;
use catalog::{NewCheck, Table};
use sql::ast::{self, Expr, Ident};
use sql::{CheckDef, folded};
use std::ops::ControlFlow;
use types::ident::quote;

impl Session {
    /// Compiles a CHECK constraint over the columns of a table in `schema` and returns it for the catalog.
    ///
    /// # Errors
    /// Errors of the condition.
    pub(super) async fn new_check(&mut self, schema: &str, row: &RowTable, def: &CheckDef) -> EngineResult<NewCheck> {
        let catalog = self.engine.catalog().current();
        let (text, expr) = strip_table_qualifier((&def.text, &def.expr), schema, &row.name)?;
        self.compile_conditions(&catalog, row, std::slice::from_ref(&expr)).await?;
        let text = self.fixed_over(row, (&text, &expr), Clause::Check)?.text;
        let mut columns = unqualified_names(&expr);
        columns.retain(|name| row.columns.iter().any(|(column, _)| column == name));
        Ok(NewCheck { name: def.name.clone(), text, columns, validated: true })
    }

    /// The constraints that ALTER TABLE adds to `table`, its future definition, which includes the `added` columns.
    /// Checks all rows, unless the rewrite does. The caller locks the table against writers.
    ///
    /// # Errors
    /// As [`Self::new_check`]; 23514.
    pub(super) async fn added_checks(
        &mut self,
        table: &Table,
        added: &[Added],
        defs: &[&CheckDef],
        rewrite: &Rewrite,
    ) -> EngineResult<Vec<NewCheck>> {
        let schema = self.engine.catalog().current().schema_name(table).to_string();
        let columns = table.visible_columns().map(|column| (column.name.clone(), column.ty)).collect();
        let row = RowTable { name: table.name.clone(), columns };
        let mut checks: Vec<NewCheck> = Vec::with_capacity(defs.len());
        for def in defs {
            let mut check = self.new_check(&schema, &row, def).await?;
            let taken: Vec<&str> = checks.iter().filter_map(|check| check.name.as_deref()).collect();
            let name = check.name.take().unwrap_or_else(|| table.free_check_name(&check.columns, &taken));
            check.validated = !def.not_valid;
            if check.validated && !rewrite.needed {
                self.check_rows(table, &schema, added, &name, &check.text).await?;
            }
            check.name = Some(name);
            checks.push(check);
        }
        Ok(checks)
    }

    /// Refuses a constraint that a row violates; `added` are the columns of `table` that the rows do not have yet.
    pub(super) async fn check_rows(
        &mut self,
        table: &Table,
        schema: &str,
        added: &[Added],
        name: &str,
        condition: &str,
    ) -> EngineResult<()> {
        let columns = table.visible_columns().map(|column| match added.iter().find(|new| new.name == column.name) {
            Some(new) => format!("{} AS {}", new.value(), quote(&new.name)),
            None => quote(&column.name).into_owned(),
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        let from = format!("(SELECT {columns} FROM {}.{})", quote(schema), quote(&table.name));
        let text = format!("SELECT 1 FROM {from} AS {} WHERE NOT ({condition}) LIMIT 1", quote(&table.name));
        match self.own_query(&text).await?.is_empty() {
            true => Ok(()),
            false => fail(Fault::CheckFailsRow {
                schema: schema.to_string(),
                table: table.name.clone(),
                constraint: name.to_string(),
            }),
        }
    }
}

/// The names and rewritten texts of the CHECK constraints that reference a renamed column.
///
/// # Errors
/// 0A000 for a condition that does not round-trip through its text.
pub(super) fn renamed_texts(table: &Table, from: &str, to: &str) -> EngineResult<Vec<(String, String)>> {
    let Some(column) = table.column_by_name(from) else { return Ok(Vec::new()) };
    let naming = table.checks.iter().filter(|check| check.columns.contains(&column.id));
    let renamed = naming.map(|check| Ok((check.name.clone(), renamed_text(&check.text, from, to)?)));
    renamed.collect()
}

/// Renames a column in the text of an expression.
///
/// # Errors
/// As [`renamed_texts`].
pub(super) fn renamed_text(text: &str, from: &str, to: &str) -> EngineResult<String> {
    let (text, _) = rewritten(sql::parse_expr(text)?, |part| {
        if let Expr::Identifier(name) = part
            && folded(name) == from
        {
            *name = identifier(to);
        }
    })?;
    Ok(text)
}

/// Removes the table qualifier from the columns of a condition. Returns the text and the expression.
pub(super) fn strip_table_qualifier(
    (text, expr): (&str, &Expr),
    schema: &str,
    table: &str,
) -> EngineResult<(String, Expr)> {
    let is_table = |names: &[Ident]| match names {
        [name] => folded(name) == table,
        [first, name] => folded(first) == schema && folded(name) == table,
        _ => false,
    };
    let mut changed = false;
    let mut expr = expr.clone();
    change_parts(&mut expr, |part| {
        if let Expr::CompoundIdentifier(names) = part
            && let Some((column, before)) = names.split_last()
            && is_table(before)
        {
            changed = true;
            let place = before.first().map_or(column.span, |first| first.span.union(&column.span));
            *part = Expr::Identifier(Ident { span: place, ..column.clone() });
        }
    });
    if changed { rewritten(expr, |_| {}) } else { Ok((text.to_owned(), expr)) }
}

/// Applies `change` to all subexpressions. Returns the new text, which parses to the new expression, and the
/// expression.
pub(super) fn rewritten(mut expr: Expr, change: impl FnMut(&mut Expr)) -> EngineResult<(String, Expr)> {
    change_parts(&mut expr, change);
    let text = sql::printed(&expr);
    match sql::parse_expr(&text) {
        Ok(read) if read == expr => Ok((text, expr)),
        _ => fail(Fault::Unsupported { feature: format!("other names of columns in ({text})") }),
    }
}

fn change_parts(expr: &mut Expr, mut change: impl FnMut(&mut Expr)) {
    let _ = ast::visit_expressions_mut(expr, |part| {
        change(part);
        ControlFlow::<()>::Continue(())
    });
}

/// The unqualified identifiers of an expression, without duplicates; not all of them need be columns.
pub(super) fn unqualified_names(expr: &Expr) -> Vec<String> {
    let mut names = Vec::new();
    let _ = ast::visit_expressions(expr, |part| {
        if let Expr::Identifier(name) = part {
            let name = folded(name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        ControlFlow::<()>::Continue(())
    });
    names
}

/// A name as an identifier, quoted where SQL needs it.
pub(super) fn identifier(name: &str) -> Ident {
    if quote(name) == name { Ident::new(name) } else { Ident::with_quote('"', name) }
}
