//! UPDATE and DELETE … WHERE CURRENT OF: rewritten to a condition on the primary key of the row fetched last.
//!
//! The key values come from the cursor's columns, whose descriptions name their table and column. The cursor therefore
//! has to read all key columns. A row that was deleted or whose key changed after the FETCH is not found.

use crate::error::{EngineResult, Fault, fail};
use crate::statement::Source;
use crate::{Answer, ColumnDesc, Prepared, Session};
use catalog::{Column, Table};
use sql::{ObjectName, Statement, ast};
use std::sync::Arc;
use types::Datum;
use types::ident::quote;

/// The cursor of a statement with WHERE CURRENT OF, its target table and the table's alias.
pub(crate) fn cursor_of(statement: &Statement) -> Option<(&str, &ObjectName, Option<&str>)> {
    match statement {
        Statement::Update(it) => Some((it.current_of.as_deref()?, &it.table, it.alias.as_deref())),
        Statement::Delete(it) => Some((it.current_of.as_deref()?, &it.table, it.alias.as_deref())),
        _ => None,
    }
}

impl Session {
    /// Runs the statement with CURRENT OF replaced by a condition on the primary key.
    ///
    /// # Errors
    /// 34000 if the cursor does not exist, 24000 if it is not positioned on a row or does not read the table, 0A000 if
    /// it does not read the table's whole primary key.
    pub(crate) async fn run_at_cursor(
        &mut self,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        let Some((cursor, name, alias)) = cursor_of(&source.statement) else {
            return fail(Fault::Internal { detail: "a statement without a cursor".to_string() });
        };
        let (columns, row) = self.current_row(cursor)?;
        let table = self.resolve(&self.engine.catalog().current(), name)?;
        let condition = condition(cursor, &table, alias, &columns, &row)?;
        let mut statement = source.statement.clone();
        match &mut statement {
            Statement::Update(it) => (it.selection, it.current_of) = (Some(condition), None),
            Statement::Delete(it) => (it.selection, it.current_of) = (Some(condition), None),
            _ => {}
        }
        let types = prepared
            .map_or_else(|| source.types.clone(), |prepared| prepared.parameters.iter().copied().map(Some).collect());
        let (text, written) = (Arc::from(""), source.written.clone());
        let source = Arc::new(Source { text, written, statement, types, hints: source.hints.clone() });
        Box::pin(self.run_write(&source, None, params)).await
    }
}

/// `t.a = … AND t.b = …` for all key columns.
fn condition(
    cursor: &str,
    table: &Table,
    alias: Option<&str>,
    columns: &[ColumnDesc],
    row: &[Datum],
) -> EngineResult<ast::Expr> {
    let of_table = |column: &&ColumnDesc| column.table_oid == table.oid.0;
    if !columns.iter().any(|column| of_table(&column)) {
        let message = format!("cursor \"{cursor}\" is not a simply updatable scan of table \"{}\"", table.name);
        return fail(Fault::CursorPosition { message });
    }
    let mut parts = Vec::new();
    for part in table.key_columns() {
        let is_part = |column: &ColumnDesc| of_table(&column) && number_of(part) == Some(column.column_number);
        let Some(value) = columns.iter().position(is_part).and_then(|at| row.get(at)) else {
            let feature =
                format!("CURRENT OF of a cursor that does not read the primary key of table \"{}\"", table.name);
            return fail(Fault::Unsupported { feature });
        };
        let column = format!("{}.{}", quote(alias.unwrap_or(&table.name)), quote(&part.name));
        parts.push(match value {
            Datum::Null => format!("{column} IS NULL"),
            value => format!("{column} = {}", crate::ddl::constant_of(&part.ty, value)),
        });
    }
    Ok(sql::parse_expr(&parts.join(" AND "))?)
}

fn number_of(column: &Column) -> Option<i16> {
    i16::try_from(column.id.0).ok().filter(|_| !column.hidden)
}
