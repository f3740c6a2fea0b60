//! Columns of a query in FROM or WITH that have one name: `*` gives them all, and to ask for one by the name is 42702.
//!
//! The planner wants names that differ, and would give the first of such columns the name that all of them have. Here
//! none keeps it:
//!
//! ```text
//!   SELECT x FROM (SELECT 1 AS x, 2 AS x) s      the columns of s are x#0 and x#1, and there is no x
//! ```

use super::names::{MARK, ident_name, shown};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use sql::ast::{Ident, TableAlias};

/// The plan with columns of which no two are shown alike and one has the name that is shown.
///
/// # Errors
/// None of a plan that the planner made.
pub(super) fn told_apart(plan: LogicalPlan) -> Result<LogicalPlan> {
    let names: Vec<String> = (0..plan.schema().fields().len()).map(|at| name_of(&plan, at).to_owned()).collect();
    if numbers(&names).all(|number| number.is_none()) {
        return Ok(plan);
    }
    let columns = plan.schema().columns().into_iter().zip(&names).zip(numbers(&names));
    let columns = columns.map(|((column, name), number)| match number {
        Some(number) => {
            let relation = column.relation.clone();
            Expr::Column(column).alias_qualified(relation, numbered(name, number))
        }
        None => Expr::Column(column),
    });
    let columns: Vec<Expr> = columns.collect();
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

/// The same of names that FROM gives to columns.
pub(super) fn tell_apart(alias: &mut TableAlias) {
    let names: Vec<String> = alias.columns.iter().map(|column| ident_name(&column.name)).collect();
    for ((column, name), number) in alias.columns.iter_mut().zip(&names).zip(numbers(&names)) {
        if let Some(number) = number {
            column.name = Ident::with_quote('"', numbered(name, number));
        }
    }
}

/// The letter keeps them from the names of outputs that were told apart where they stand.
fn numbered(name: &str, number: usize) -> String {
    format!("{name}{MARK}d{number}")
}

/// The name that is meant, if `columns` have it with numbers only.
pub(crate) fn is_of_several<'a>(asked: &'a str, columns: impl Iterator<Item = &'a Column>) -> Option<&'a str> {
    let name = shown(asked);
    let is_one = |column: &&Column| {
        column.name != asked && shown(&column.name) == name && column.name.starts_with(&format!("{name}{MARK}d"))
    };
    (columns.filter(is_one).count() > 1).then_some(name)
}

/// For each name its number among equal ones, if there are several.
fn numbers(names: &[String]) -> impl Iterator<Item = Option<usize>> {
    names.iter().enumerate().map(|(at, name)| {
        let before = names.iter().take(at).filter(|other| *other == name).count();
        let several = before > 0 || names.iter().skip(at + 1).any(|other| other == name);
        (several && !name.is_empty()).then_some(before)
    })
}

/// The name that a column is shown with. Of columns of several tables the planner has renamed all but the first.
fn name_of(plan: &LogicalPlan, at: usize) -> &str {
    let own = plan.schema().field(at).name();
    let LogicalPlan::Projection(projection) = plan else { return shown(own) };
    match projection.expr.get(at) {
        Some(Expr::Alias(alias)) => match alias.expr.as_ref() {
            Expr::Column(column) if alias.relation.is_some() && alias.relation == column.relation => {
                shown(&column.name)
            }
            _ => shown(own),
        },
        _ => shown(own),
    }
}
