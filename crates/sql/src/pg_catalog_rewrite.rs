//! What clients of PostgreSQL's catalogs write, in the form that the planner reads.
//!
//! - `x::regclass` is a number where it is compared and a name where it is shown: `regclass_oid(x)`,
//!   `regclass_name(x)`; so for `regtype`, `regnamespace`, `regrole`, `regproc` and `regprocedure`.
//! - A function in FROM names its column by its alias: `generate_series(1, 3) AS i` is `… AS i(i)`.
//! - `pg_options_to_table(x)` in FROM is a query over `unnest(x)`, whose elements read `name=value`.
//! - `pg_get_keywords()` and `pg_show_all_settings()` in FROM are computed tables.
//! - In queries of catalogs alone, when they are planned ([`catalog_forms`]): `typname[0]` is a letter of a name, of which
//!   there is no array here: `substr(typname, 0 + 1, 1)`; `generate_series(…, array_upper(a, 1)) AS s … = a[s]` is
//!   `= ANY (a)`.

use crate::dialect::BennuDialect;
use sqlparser::ast::{
    AccessExpr, BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, Select, SelectItem, SetExpr, Statement, Subscript, TableAlias,
    TableAliasColumnDef, TableFactor, Value, VisitMut, VisitorMut,
};
use sqlparser::parser::Parser;
use std::ops::ControlFlow;

/// Types that are an oid inside and a name outside.
const ALIASES: [&str; 6] = ["regclass", "regtype", "regnamespace", "regrole", "regproc", "regprocedure"];

/// Puts casts to names of catalogs, and functions in FROM, into the forms that a plan of the syntax reads.
pub fn catalog_calls(statement: &mut Statement) {
    let _ = VisitMut::visit(statement, &mut CatalogCalls);
}

struct CatalogCalls;

impl VisitorMut for CatalogCalls {
    type Break = ();

    fn pre_visit_select(&mut self, of: &mut Select) -> ControlFlow<()> {
        select(of);
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        expression(expr);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        name_function_column(factor);
        ControlFlow::Continue(())
    }
}

/// Puts a query that reads catalogs into forms that mean the same of the catalogs' columns only.
pub fn catalog_forms(statement: &mut Statement) {
    let _ = VisitMut::visit(statement, &mut CatalogForms);
}

struct CatalogForms;

impl VisitorMut for CatalogForms {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        drop_series_of_subscripts(select);
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        letter_of_name(expr);
        ControlFlow::Continue(())
    }
}

/// Rewrites one expression, before those inside it.
fn expression(expr: &mut Expr) {
    match expr {
        Expr::BinaryOp { left, op, right } if is_comparison(op) => compared(left, right),
        Expr::InList { expr: tested, list, .. } => {
            let any = is_alias_cast(tested) || list.iter().any(is_alias_cast);
            if any {
                list.iter_mut().chain([tested.as_mut()]).for_each(as_oid);
            }
        }
        Expr::InSubquery { expr: tested, subquery, .. } => {
            as_oid(tested);
            outputs_as_oids(&mut subquery.body);
        }
        Expr::AnyOp { left, compare_op, right, .. } | Expr::AllOp { left, compare_op, right }
            if is_comparison(compare_op) =>
        {
            compared_with_items(left, right);
        }
        Expr::Case { operand: Some(operand), conditions, .. } => {
            conditions.iter_mut().for_each(|case| compared(operand, &mut case.condition));
        }
        Expr::Function(function) => constants_as_oids(function),
        Expr::Cast { expr: inner, data_type, kind: CastKind::Cast | CastKind::DoubleColon, .. }
            if is_number(data_type) =>
        {
            as_oid(inner);
        }
        _ => {}
    }
    if is_alias_cast(expr) {
        as_call(expr, "name");
    }
}

/// Rewrites a SELECT's own clauses, before the expressions inside it.
fn select(select: &mut Select) {
    for item in &mut select.projection {
        name_alias_cast(item);
    }
    for table in &mut select.from {
        set_of_rows(&mut table.relation);
        table.joins.iter_mut().for_each(|join| set_of_rows(&mut join.relation));
        name_function_column(&mut table.relation);
        table.joins.iter_mut().for_each(|join| name_function_column(&mut join.relation));
    }
}

fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

/// Both sides as numbers if one is a cast to an alias type.
fn compared(left: &mut Expr, right: &mut Expr) {
    match (alias_of(left), alias_of(right)) {
        (Some(_), Some(_)) => {
            as_oid(left);
            as_oid(right);
        }
        (Some(alias), None) => {
            as_oid(left);
            constant_as_oid(right, alias);
        }
        (None, Some(alias)) => {
            as_oid(right);
            constant_as_oid(left, alias);
        }
        (None, None) => {}
    }
}

/// `x IN (VALUES ('t'::regclass))`: what a query is compared by.
fn outputs_as_oids(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            for item in &mut select.projection {
                if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
                    as_oid(expr);
                }
            }
        }
        SetExpr::Values(values) => values.rows.iter_mut().flat_map(|row| row.content.iter_mut()).for_each(as_oid),
        SetExpr::SetOperation { left, right, .. } => [left, right].into_iter().for_each(|side| outputs_as_oids(side)),
        SetExpr::Query(query) => outputs_as_oids(&mut query.body),
        _ => {}
    }
}

/// `x = ANY (ARRAY['t'::regclass])`.
fn compared_with_items(tested: &mut Expr, array: &mut Expr) {
    match array {
        Expr::Nested(inner) => compared_with_items(tested, inner),
        Expr::Array(array) => array.elem.iter_mut().for_each(|item| compared(tested, item)),
        _ => {}
    }
}

/// A quoted constant beside a `regclass` is one, too.
fn constant_as_oid(expr: &mut Expr, alias: &'static str) {
    if is_quoted(expr) {
        *expr = call(&format!("{alias}_oid"), std::mem::replace(expr, Expr::value(Value::Null)));
    }
}

fn is_quoted(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(value.value, Value::SingleQuotedString(_)))
}

/// The alias type that the expression is cast to.
fn alias_of(expr: &Expr) -> Option<&'static str> {
    match expr {
        Expr::Cast { data_type, kind: CastKind::Cast | CastKind::DoubleColon, .. } => alias_named(data_type),
        Expr::TypedString(typed) => alias_named(&typed.data_type),
        Expr::Nested(inner) => alias_of(inner),
        Expr::Function(function) => tried_alias(function),
        _ => None,
    }
}

/// `to_regclass(x)` is `x::regclass`, or NULL if there is no such thing.
fn tried_alias(function: &Function) -> Option<&'static str> {
    let name = function.name.to_string().to_lowercase();
    let name = name.strip_prefix("pg_catalog.").unwrap_or(&name).strip_prefix("to_")?;
    ALIASES.iter().find(|alias| **alias == name).copied()
}

fn is_alias_cast(expr: &Expr) -> bool {
    matches!(expr, Expr::Cast { .. } | Expr::TypedString(_)) && alias_of(expr).is_some()
}

fn alias_named(data_type: &DataType) -> Option<&'static str> {
    let text = match data_type {
        DataType::Regclass => return Some("regclass"),
        DataType::Custom(name, modifiers) if modifiers.is_empty() => name.to_string().to_lowercase(),
        _ => return None,
    };
    let text = text.strip_prefix("pg_catalog.").unwrap_or(&text);
    ALIASES.iter().find(|alias| **alias == text).copied()
}

fn is_number(data_type: &DataType) -> bool {
    let text = data_type.to_string().to_lowercase();
    matches!(text.strip_prefix("pg_catalog.").unwrap_or(&text), "oid" | "int8" | "bigint" | "int4" | "int" | "integer")
}

/// A cast to an alias type as a number.
fn as_oid(expr: &mut Expr) {
    let target = match expr {
        Expr::Nested(inner) => return as_oid(inner),
        other => other,
    };
    match (alias_of(target), &mut *target) {
        (None, _) => {}
        (Some(alias), Expr::Function(function)) => {
            function.name = ObjectName::from(vec![Ident::new(format!("to_{alias}_oid"))]);
        }
        (Some(_), _) => as_call(target, "oid"),
    }
}

/// `x::regclass` becomes `regclass_<what>(x)`.
fn as_call(expr: &mut Expr, what: &str) {
    let Some(alias) = alias_of(expr) else { return };
    let operand = match std::mem::replace(expr, Expr::value(Value::Null)) {
        Expr::Cast { expr, .. } => *expr,
        Expr::TypedString(typed) => Expr::Value(typed.value),
        other => {
            *expr = other;
            return;
        }
    };
    *expr = call(&format!("{alias}_{what}"), known_type(operand));
}

/// A parameter without a type is a name.
fn known_type(operand: Expr) -> Expr {
    let parameter = matches!(&operand, Expr::Value(value) if matches!(value.value, Value::Placeholder(_)));
    if !parameter {
        return operand;
    }
    Expr::Cast { kind: CastKind::Cast, expr: Box::new(operand), data_type: DataType::Text, array: false, format: None }
}

/// `pg_table_size('t'::regclass)`: functions want numbers, and a constant is not there to be shown.
fn constants_as_oids(function: &mut Function) {
    let FunctionArguments::List(list) = &mut function.args else { return };
    for argument in &mut list.args {
        let (FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))
        | FunctionArg::Named { arg: FunctionArgExpr::Expr(expr), .. }) = argument
        else {
            continue;
        };
        let constant = match &*expr {
            Expr::Cast { expr: operand, .. } => matches!(operand.as_ref(), Expr::Value(_)),
            Expr::TypedString(_) => true,
            _ => false,
        };
        if constant {
            as_oid(expr);
        }
    }
}

fn call(name: &str, argument: Expr) -> Expr {
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))],
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// A column keeps the name that it had as a cast.
fn name_alias_cast(item: &mut SelectItem) {
    let SelectItem::UnnamedExpr(expr) = item else { return };
    if matches!(expr, Expr::Function(_)) {
        return;
    }
    let Some(alias) = alias_of(expr) else { return };
    let name = column_of(expr).unwrap_or_else(|| Ident::new(alias));
    let expr = std::mem::replace(expr, Expr::value(Value::Null));
    *item = SelectItem::ExprWithAlias { expr, alias: name };
}

/// The column behind casts.
fn column_of(expr: &Expr) -> Option<Ident> {
    match expr {
        Expr::Identifier(ident) => Some(ident.clone()),
        Expr::CompoundIdentifier(parts) => parts.last().cloned(),
        Expr::Cast { expr, .. } | Expr::Nested(expr) => column_of(expr),
        _ => None,
    }
}

/// `generate_series(1, 3) AS i` has a column `i`.
fn name_function_column(factor: &mut TableFactor) {
    let TableFactor::Table { name, alias, args: Some(_), .. } = factor else { return };
    let Some(function) = name.0.last().and_then(|part| part.as_ident()) else { return };
    if alias.is_none() && function.value.eq_ignore_ascii_case("generate_series") {
        *alias = Some(TableAlias { explicit: true, name: function.clone(), columns: Vec::new(), at: None });
    }
    let Some(alias) = alias else { return };
    if alias.columns.is_empty() {
        alias.columns.push(TableAliasColumnDef { name: alias.name.clone(), data_type: None });
    }
}

/// A letter of the one column of type `name` that clients take letters of.
fn letter_of_name(expr: &mut Expr) {
    let Expr::CompoundFieldAccess { root, access_chain } = expr else { return };
    let [AccessExpr::Subscript(Subscript::Index { index })] = access_chain.as_slice() else { return };
    if column_of(root).is_none_or(|column| !column.value.eq_ignore_ascii_case("typname")) {
        return;
    }
    let one = || Expr::value(Value::Number("1".to_owned(), false));
    let place = Expr::BinaryOp { left: Box::new(index.clone()), op: BinaryOperator::Plus, right: Box::new(one()) };
    let mut letter = call("substr", root.as_ref().clone());
    if let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = &mut letter {
        list.args.extend([place, one()].map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))));
    }
    *expr = letter;
}

/// Functions of the catalog that have rows of several columns.
fn set_of_rows(factor: &mut TableFactor) {
    options_to_table(factor);
    let TableFactor::Table { name, alias, args, .. } = factor else { return };
    let called = name.to_string().to_lowercase();
    let function = called.strip_prefix("pg_catalog.").unwrap_or(&called);
    let table = match function {
        "pg_get_keywords" => "pg_get_keywords()",
        "pg_show_all_settings" => "pg_settings",
        _ => return,
    };
    if args.as_ref().is_some_and(|args| args.args.is_empty()) {
        *args = None;
        let own = TableAlias { explicit: true, name: Ident::new(function), columns: Vec::new(), at: None };
        alias.get_or_insert(own);
        *name = ObjectName::from(vec![Ident::new("pg_catalog"), Ident::with_quote('"', table)]);
    }
}

/// `pg_options_to_table(x)` as the query that it stands for.
fn options_to_table(factor: &mut TableFactor) {
    let TableFactor::Table { name, alias, args: Some(args), .. } = factor else { return };
    let called = name.to_string().to_lowercase();
    if called.strip_prefix("pg_catalog.").unwrap_or(&called) != "pg_options_to_table" {
        return;
    }
    let [argument] = args.args.as_slice() else { return };
    let text = format!(
        "SELECT split_part(o, '=', 1) AS option_name, \
         CASE WHEN strpos(o, '=') > 0 THEN substr(o, strpos(o, '=') + 1) END AS option_value \
         FROM unnest({argument}) AS options(o)"
    );
    let dialect = BennuDialect::for_tokens(0);
    let Ok(subquery) = Parser::new(&dialect).try_with_sql(&text).and_then(|mut parser| parser.parse_query()) else {
        return;
    };
    let named = |name| TableAlias { explicit: true, name: Ident::new(name), columns: Vec::new(), at: None };
    let alias = alias.take().unwrap_or_else(|| named("pg_options_to_table"));
    *factor = TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None };
}

/// A series over the subscripts of an array, used in one comparison with an element: is any element equal?
fn drop_series_of_subscripts(select: &mut Select) {
    let Some(place) = select.from.iter().position(|table| table.joins.is_empty() && is_series(&table.relation)) else {
        return;
    };
    let Some(TableFactor::Table { alias: Some(TableAlias { name, .. }), .. }) =
        select.from.get(place).map(|table| &table.relation)
    else {
        return;
    };
    let name = name.clone();
    if select.from.len() > 1 && select.selection.as_mut().is_some_and(|condition| use_any(condition, &name)) {
        select.from.remove(place);
    }
}

/// `generate_series(…, array_upper(…, 1))`.
fn is_series(factor: &TableFactor) -> bool {
    let TableFactor::Table { name, args: Some(args), .. } = factor else { return false };
    let last = match args.args.last() {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Function(function)))) => function.name.to_string(),
        _ => return false,
    };
    let is = |name: &str, wanted: &str| name.strip_prefix("pg_catalog.").unwrap_or(name).eq_ignore_ascii_case(wanted);
    is(&name.to_string(), "generate_series") && is(&last, "array_upper")
}

/// Turns `x = a[name]` among conditions joined by AND into `x = ANY (a)`. Was there one?
fn use_any(condition: &mut Expr, name: &Ident) -> bool {
    match condition {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => use_any(left, name) || use_any(right, name),
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
            let Some(array) = element_of(right, name) else { return false };
            *condition = Expr::AnyOp {
                left: left.clone(),
                compare_op: BinaryOperator::Eq,
                right: Box::new(array),
                is_some: false,
            };
            true
        }
        _ => false,
    }
}

/// The array of `array[name]`.
fn element_of(expr: &Expr, name: &Ident) -> Option<Expr> {
    let Expr::CompoundFieldAccess { root, access_chain } = expr else { return None };
    match access_chain.as_slice() {
        [AccessExpr::Subscript(Subscript::Index { index: Expr::Identifier(ident) })] if ident == name => {
            Some(root.as_ref().clone())
        }
        _ => None,
    }
}
