//! Expressions and predicates in index definitions: compiles and prints them.

use crate::Session;
use crate::ddl::alter_table::{Step, apply};
use crate::ddl::check::{renamed_text, strip_table_qualifier, unqualified_names};
use crate::dml::RowTable;
use crate::error::{EngineResult, Fault, fail};
use bind::{Clause, Environment, TableExpression, bind_table_expression};
use catalog::{ColumnId, IndexText, NewIndexExpr, Table};
use sql::ast::Expr;
use sql::{WrittenExpr, folded};
use std::sync::Arc;
use types::DataType;
use types::temporal::{Utc, ZoneRules};

impl Session {
    /// Compiles an index expression or predicate and returns it for the catalog.
    ///
    /// # Errors
    /// Errors of the expression; 42P17 if it is not immutable.
    pub(in crate::ddl) async fn new_index_expr(
        &mut self,
        table: &Arc<Table>,
        def: &WrittenExpr,
        clause: Clause,
    ) -> EngineResult<NewIndexExpr> {
        let catalog = self.engine.catalog().current();
        let schema = catalog.schema_name(table).to_string();
        let (text, expr) = strip_table_qualifier((&def.text, &def.expr), &schema, &table.name)?;
        let row = RowTable::of(table);
        let compiled = self.compile_index_expr(&catalog, &row, &expr, clause).await?;
        let WrittenExpr { text, expr } = self.fixed_over(&row, (&text, &expr), clause)?;
        let ty = match compiled.types().first().copied().unwrap_or(DataType::Text) {
            // The scale of a computed numeric may differ from row to row.
            DataType::Numeric(_) => DataType::Numeric(None),
            ty => ty,
        };
        let bound = bound(table, &text, &expr);
        if bound.is_some_and(|bound| depends_on_zone(&bound, table, &text, &expr)) {
            let feature =
                format!("a constant in an {} that depends on the time zone of the session", clause.singular());
            return fail(Fault::Unsupported { feature });
        }
        let mut columns = unqualified_names(&expr);
        columns.retain(|name| table.visible_columns().any(|column| column.name == *name));
        let shown = shown(table, &text, &expr);
        Ok(NewIndexExpr { name: name_of(&expr).unwrap_or_else(|| "expr".to_string()), text, ty, columns, shown })
    }
}

impl Session {
    /// Binds the expressions and predicates of indexes on retyped columns again, keeping their explicit and implicit
    /// casts, as in PostgreSQL. Returns them by index OID.
    ///
    /// # Errors
    /// Errors of binding with the new type, such as 42883 for a function that does not accept it.
    pub(in crate::ddl) async fn retyped_index_texts(
        &mut self,
        table: &Table,
        steps: &[Step],
    ) -> EngineResult<Vec<(u32, Vec<IndexText>)>> {
        if table.indexes.iter().all(|index| index.texts().next().is_none())
            || !steps.iter().any(|step| matches!(step, Step::SetType(..)))
        {
            return Ok(Vec::new());
        }
        let catalog = self.engine.catalog().current();
        let mut draft = self.trial_draft(&catalog);
        for step in steps {
            apply(&mut draft, table.oid, step.clone())?;
        }
        let wanted = draft.table(table.oid)?;
        let retyped = |id: &ColumnId| match (table.column(*id), wanted.column(*id)) {
            (Some(old), Some(new)) => old.ty != new.ty,
            _ => false,
        };
        let mut all = Vec::new();
        for index in wanted.indexes.iter().filter(|it| it.texts().any(|expr| expr.columns.iter().any(retyped))) {
            let mut texts = Vec::new();
            for (at, expr) in index.texts().enumerate() {
                let is_predicate = at == index.expressions().count();
                let clause = if is_predicate { Clause::IndexPredicate } else { Clause::IndexExpression };
                let text = expr.shown(false);
                let def = WrittenExpr { expr: sql::parse_expr(text)?, text: text.to_string() };
                let NewIndexExpr { text, ty, shown, .. } = self.new_index_expr(&wanted, &def, clause).await?;
                texts.push(IndexText { text, shown, ty });
            }
            all.push((index.oid, texts));
        }
        Ok(all)
    }
}

/// The rewritten expressions and predicates of the indexes that reference a renamed column, by index OID.
///
/// # Errors
/// 0A000 for an expression that does not round-trip through its text.
pub(in crate::ddl) fn renamed_index_texts(
    table: &Table,
    from: &str,
    to: &str,
) -> EngineResult<Vec<(u32, Vec<IndexText>)>> {
    let Some(column) = table.column_by_name(from) else { return Ok(Vec::new()) };
    let mut renamed = table.clone();
    for own in renamed.columns.iter_mut().filter(|own| own.id == column.id) {
        own.name = to.to_string();
    }
    let renamed = Arc::new(renamed);
    let naming = table.indexes.iter().filter(|index| index.texts().any(|expr| expr.columns.contains(&column.id)));
    let texts = naming.map(|index| {
        let texts = index.texts().map(|expr| {
            let text = match expr.columns.contains(&column.id) {
                true => renamed_text(&expr.text, from, to)?,
                false => expr.text.clone(),
            };
            let shown = shown(&renamed, &text, &sql::parse_expr(&text)?);
            Ok(IndexText { text, shown, ty: expr.ty })
        });
        Ok((index.oid, texts.collect::<EngineResult<_>>()?))
    });
    texts.collect()
}

fn bound(table: &Arc<Table>, text: &str, expr: &Expr) -> Option<TableExpression> {
    bind_table_expression(table, expr, &Environment { text, rules: &Utc }).ok()
}

/// The expression's plain and pretty forms as PostgreSQL prints them; the original text if it cannot be deparsed.
fn shown(table: &Arc<Table>, text: &str, expr: &Expr) -> (String, String) {
    let bound = bound(table, text, expr);
    let printed = |pretty| bound.as_ref().and_then(|bound| bind::deparse(bound, table, pretty));
    match (printed(false), printed(true)) {
        (Some(full), Some(pretty)) => (full, pretty),
        _ if matches!(expr, Expr::Function(_) | Expr::Nested(_)) => (text.to_string(), text.to_string()),
        _ => (format!("({text})"), text.to_string()),
    }
}

/// Whether the value of a literal depends on the session's time zone.
fn depends_on_zone(in_utc: &TableExpression, table: &Arc<Table>, text: &str, expr: &Expr) -> bool {
    let elsewhere = bind_table_expression(table, expr, &Environment { text, rules: &Elsewhere });
    elsewhere.is_ok_and(|elsewhere| !bind::is_same(&in_utc.value, &elsewhere.value))
}

/// Time zone rules that differ from UTC.
struct Elsewhere;

impl ZoneRules for Elsewhere {
    fn offset_at_local(&self, name: Option<&str>, local_micros: i64) -> Option<i32> {
        match name {
            None => Some(5 * 3600),
            name => Utc.offset_at_local(name, local_micros),
        }
    }
}

/// The column name that PostgreSQL derives from an expression. Source: `FigureIndexColname` of PostgreSQL.
fn name_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(folded(name)),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => name_of(inner),
        Expr::Function(call) => call.name.0.last().and_then(|part| part.as_ident()).map(folded),
        Expr::Cast { expr, data_type, .. } => {
            name_of(expr).or_else(|| Some(data_type.to_string().to_ascii_lowercase()))
        }
        Expr::Case { .. } => Some("case".to_string()),
        Expr::Extract { .. } => Some("extract".to_string()),
        Expr::Substring { .. } => Some("substring".to_string()),
        Expr::Position { .. } => Some("position".to_string()),
        Expr::Trim { .. } => Some("btrim".to_string()),
        Expr::AtTimeZone { .. } => Some("timezone".to_string()),
        _ => None,
    }
}
