//! Functions in FROM: `FROM f(x) [WITH ORDINALITY] AS a(b, n)` as a subquery that takes the set apart.

use sql::ast::{
    Expr, FunctionArg, FunctionArgExpr, Ident, Query, TableAlias, TableAliasColumnDef, TableFactor, Value, VisitMut,
    VisitorMut,
};
use std::ops::ControlFlow;

/// The item of FROM as the planner should see it.
pub(super) fn rewrite(factor: &mut TableFactor) {
    let Some((calls, ordinality, alias)) = taken_apart(factor) else {
        name_column(factor);
        return;
    };
    // What names columns names those of items before it.
    let lateral = calls.iter().any(|(_, call)| names_columns(call));
    let names: Vec<String> = calls.iter().map(|(name, _)| name.clone()).collect();
    let items: Vec<String> = calls.iter().enumerate().map(|(at, (_, call))| format!("{call} AS _{at}")).collect();
    let inner = format!("SELECT {}", items.join(", "));
    let text = if ordinality { format!("SELECT *, row_number() OVER () AS _n FROM ({inner}) AS _t") } else { inner };
    let Some(subquery) = parse(&text) else { return };
    *factor = TableFactor::Derived { lateral, subquery, alias: Some(named(alias, names, ordinality)), sample: None };
}

/// The planner's own series are of bigint; between small constants PostgreSQL's are of integer.
pub(super) fn narrow_series(factor: &mut TableFactor) {
    let TableFactor::Table { name, args: Some(args), with_ordinality: false, alias, .. } = factor else { return };
    let function = name.0.last().and_then(|part| part.as_ident()).map(|part| part.value.to_lowercase());
    if function.as_deref() != Some("generate_series") || !args.args.iter().all(is_small) {
        return;
    }
    let shown: Vec<String> = args.args.iter().map(ToString::to_string).collect();
    let text = format!("SELECT CAST(_v AS integer) FROM {name}({}) AS _s(_v)", shown.join(", "));
    let Some(subquery) = parse(&text) else { return };
    let alias = Some(named(alias.take(), vec!["generate_series".to_owned()], false));
    *factor = TableFactor::Derived { lateral: false, subquery, alias, sample: None };
}

/// A constant that is an integer.
fn is_small(arg: &FunctionArg) -> bool {
    is_number(arg) && arg.to_string().replace(' ', "").parse::<i32>().is_ok()
}

pub(super) fn parse(text: &str) -> Option<Box<Query>> {
    match sql::parse(text).ok()?.pop()?.statement {
        sql::Statement::Query(query) => Some(query),
        _ => None,
    }
}

type Calls = (Vec<(String, String)>, bool, Option<TableAlias>);

/// Names of the columns and the calls that make them; `None` for what the planner does itself.
fn taken_apart(factor: &TableFactor) -> Option<Calls> {
    match factor {
        TableFactor::UNNEST { alias, array_exprs, with_ordinality: true, .. } => {
            let calls = array_exprs.iter().map(|array| ("unnest".to_owned(), format!("unnest({array})"))).collect();
            Some((calls, true, alias.clone()))
        }
        TableFactor::Table { name, args: Some(args), with_ordinality, alias, .. } => {
            let function = name.0.last()?.as_ident()?.value.to_lowercase();
            let plain = matches!(function.as_str(), "generate_series" | "range") && args.args.iter().all(is_number);
            let columns = args.args.iter().any(|arg| names_columns(&arg.to_string()));
            let known = matches!(function.as_str(), "unnest" | "generate_series") && (columns || function == "unnest");
            if (plain || known) && !with_ordinality {
                return None;
            }
            let shown: Vec<String> = args.args.iter().map(ToString::to_string).collect();
            let call = format!("{name}({})", shown.join(", "));
            let calls = match function.as_str() {
                "_pg_expandarray" => ["x", "n"].map(|field| (field.to_owned(), format!("({call}).{field}"))).to_vec(),
                _ => vec![(function, call)],
            };
            Some((calls, *with_ordinality, alias.clone()))
        }
        _ => None,
    }
}

/// Does an expression name a column?
fn names_columns(text: &str) -> bool {
    let Ok(mut expr) = sql::parse_expr(text) else { return false };
    let mut found = false;
    let _ = expr.visit(&mut ColumnFinder { found: &mut found });
    found
}

struct ColumnFinder<'a> {
    found: &'a mut bool,
}

impl VisitorMut for ColumnFinder<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) {
            *self.found = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// Arguments that the planner's own series takes: numbers, and parameters for them.
fn is_number(arg: &FunctionArg) -> bool {
    let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = arg else { return false };
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => number.bytes().all(|byte| byte.is_ascii_digit()),
            Value::Placeholder(_) => true,
            _ => false,
        },
        Expr::UnaryOp { expr, .. } => is_number(&FunctionArg::Unnamed(FunctionArgExpr::Expr((**expr).clone()))),
        _ => false,
    }
}

/// The alias with names for all columns: a lone column is called like the table.
fn named(alias: Option<TableAlias>, functions: Vec<String>, ordinality: bool) -> TableAlias {
    let first = functions.first().cloned().unwrap_or_default();
    let mut alias =
        alias.unwrap_or_else(|| TableAlias { explicit: true, name: Ident::new(first), columns: Vec::new(), at: None });
    let lone = functions.len() == 1;
    // Two columns of one name are told apart behind a character that no name has.
    let own = |place: usize| match functions.get(place) {
        _ if lone => alias.name.clone(),
        Some(name) if functions.iter().take(place).any(|other| other == name) => {
            Ident::new(format!("{name}\u{1}{place}"))
        }
        name => Ident::new(name.cloned().unwrap_or_default()),
    };
    let all = (0..functions.len()).map(own).chain(ordinality.then(|| Ident::new("ordinality")));
    let missing: Vec<Ident> = all.skip(alias.columns.len()).collect();
    alias.columns.extend(missing.into_iter().map(|name| TableAliasColumnDef { name, data_type: None }));
    alias
}

/// `generate_series(1, 3) AS g` has a column `g`.
fn name_column(factor: &mut TableFactor) {
    let alias = match factor {
        TableFactor::Table { args: Some(_), alias: Some(alias), .. } => alias,
        TableFactor::UNNEST { alias: Some(alias), array_exprs, .. } if array_exprs.len() == 1 => alias,
        _ => return,
    };
    if alias.columns.is_empty() {
        alias.columns.push(TableAliasColumnDef { name: alias.name.clone(), data_type: None });
    }
}
