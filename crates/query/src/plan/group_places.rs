//! GROUP BY with sets of groups, in forms that the planner knows.
//!
//! - Places of the select list inside ROLLUP, CUBE and GROUPING SETS (`GROUP BY ROLLUP (1, 2)`) are the expressions there.
//! - Places inside DISTINCT ON likewise.
//! - ROLLUP and CUBE inside GROUPING SETS are the sets that they stand for.
//! - GROUP BY DISTINCT is the list of sets of which each is another one.
//! - Sets that name an expression twice, or several at once (`ROLLUP ((a, b), c)`), are written out: `ROLLUP (a, a)` is
//!   `GROUPING SETS ((a), (a), ())`.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use sql::ast::{
    Distinct, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Select, SelectItem,
    Statement, Value, VisitMut, VisitorMut,
};
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

/// As many sets as PostgreSQL makes of one GROUP BY.
const MOST_SETS: usize = 4096;

/// As many elements as PostgreSQL takes in one CUBE.
const MOST_OF_CUBE: usize = 12;

/// Brings the groups of all queries into these forms.
///
/// # Errors
/// 54001 for too many sets, 54011 for a CUBE of too many elements.
pub(super) fn resolve_places(statement: &mut Statement) -> QueryResult<()> {
    match statement.visit(&mut Resolver) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Resolver;

impl VisitorMut for Resolver {
    type Break = QueryError;

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<QueryError> {
        let Select { group_by, projection, distinct, .. } = select;
        if let Some(Distinct::On(exprs)) = distinct {
            exprs.iter_mut().for_each(|expr| resolve(expr, projection));
        }
        let GroupByExpr::Expressions(groups, _) = group_by else { return ControlFlow::Continue(()) };
        if let Err(error) = check_sets(groups) {
            return ControlFlow::Break(error);
        }
        let distinct_sets = matches!(groups.first(), Some(Expr::Function(call)) if is_marker(call));
        if distinct_sets {
            groups.remove(0);
        }
        let sets = groups.iter_mut().filter_map(|group| match group {
            Expr::Rollup(sets) | Expr::Cube(sets) | Expr::GroupingSets(sets) => Some(sets),
            _ => None,
        });
        sets.flatten().flatten().for_each(|expr| resolve(expr, projection));
        for group in groups.iter_mut() {
            if let Expr::GroupingSets(sets) = group
                && let Some(flat) = flattened(sets)
            {
                *sets = flat;
            }
        }
        if needs_writing_out(groups) || distinct_sets && groups.iter().any(is_of_sets) {
            match written_out(groups) {
                Some(sets) if distinct_sets => *groups = vec![Expr::GroupingSets(each_once(sets))],
                Some(sets) => *groups = vec![Expr::GroupingSets(sets)],
                None => return ControlFlow::Break(too_many_sets()),
            }
        }
        ControlFlow::Continue(())
    }
}

fn too_many_sets() -> QueryError {
    Refusal::Complexity.because(format!("too many grouping sets present (maximum {MOST_SETS})"))
}

/// Counts the sets before any is written out: there may be more of them than memory holds.
fn check_sets(groups: &[Expr]) -> QueryResult<()> {
    let mut count = 1_usize;
    for group in groups {
        let own = match group {
            Expr::Rollup(parts) => parts.len() + 1,
            Expr::Cube(parts) => sets_of_cube(parts.len())?,
            Expr::GroupingSets(sets) => {
                let own = |set: &Vec<Expr>| match set.as_slice() {
                    [expr] => match several(expr) {
                        Some((true, parts)) => Ok(parts.len() + 1),
                        Some((false, parts)) => sets_of_cube(parts.len()),
                        None => Ok(1),
                    },
                    _ => Ok(1),
                };
                sets.iter().map(own).sum::<QueryResult<usize>>()?
            }
            _ => 1,
        };
        count = count.saturating_mul(own);
    }
    if count > MOST_SETS { Err(too_many_sets()) } else { Ok(()) }
}

fn sets_of_cube(parts: usize) -> QueryResult<usize> {
    match parts {
        0..=MOST_OF_CUBE => Ok(1 << parts),
        _ => Err(Refusal::Columns.because(format!("CUBE is limited to {MOST_OF_CUBE} elements"))),
    }
}

/// `GROUP BY DISTINCT`.
fn is_marker(call: &Function) -> bool {
    matches!(call.name.0.as_slice(), [name] if name.as_ident().is_some_and(|name| name.value == sql::DISTINCT_GROUPS))
}

fn is_of_sets(group: &Expr) -> bool {
    matches!(group, Expr::Rollup(_) | Expr::Cube(_) | Expr::GroupingSets(_))
}

/// Sets of the same expressions are one, in whatever order they name them.
fn each_once(sets: Vec<Vec<Expr>>) -> Vec<Vec<Expr>> {
    let mut seen: HashSet<BTreeSet<Expr>> = HashSet::new();
    sets.into_iter().filter(|set| seen.insert(set.iter().cloned().collect())).collect()
}

/// Sets of which some are ROLLUP or CUBE, which stand for several; `None` if there are none, or too many.
fn flattened(sets: &[Vec<Expr>]) -> Option<Vec<Vec<Expr>>> {
    if !sets.iter().any(|set| matches!(set.as_slice(), [expr] if several(expr).is_some())) {
        return None;
    }
    let mut flat = Vec::with_capacity(sets.len());
    for set in sets {
        match set.as_slice() {
            [expr] if let Some((rollup, parts)) = several(expr) => {
                flat.extend(if rollup { prefixes(&parts) } else { subsets(&parts)? });
            }
            _ => flat.push(set.clone()),
        }
    }
    Some(flat)
}

/// The parts of `ROLLUP (…)`, or of `CUBE (…)`, which reads as a function within GROUPING SETS.
fn several(expr: &Expr) -> Option<(bool, Vec<Vec<Expr>>)> {
    let Expr::Function(call) = expr else { return None };
    let name = call.name.to_string().to_lowercase();
    let FunctionArguments::List(list) = &call.args else { return None };
    let part = |arg: &FunctionArg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Tuple(parts))) => Some(parts.clone()),
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(vec![expr.clone()]),
        _ => None,
    };
    let parts = list.args.iter().map(part).collect::<Option<Vec<_>>>()?;
    matches!(name.as_str(), "rollup" | "cube").then(|| (name == "rollup", parts))
}

/// All parts, all but the last, and so on.
fn prefixes(parts: &[Vec<Expr>]) -> Vec<Vec<Expr>> {
    (0..=parts.len()).rev().map(|count| parts.iter().take(count).flatten().cloned().collect()).collect()
}

/// A place beyond the list stays for the planner, which says so.
fn resolve(expr: &mut Expr, projection: &[SelectItem]) {
    let Expr::Value(value) = expr else { return };
    let Value::Number(place, _) = &value.value else { return };
    let item = place.parse::<usize>().ok().and_then(|place| projection.get(place.checked_sub(1)?));
    if let Some(SelectItem::UnnamedExpr(found) | SelectItem::ExprWithAlias { expr: found, .. }) = item {
        *expr = found.clone();
    }
}

fn needs_writing_out(groups: &[Expr]) -> bool {
    let repeats = |sets: &[Vec<Expr>]| {
        let mut seen = HashSet::new();
        sets.iter().any(|set| set.len() > 1) || !sets.iter().flatten().all(|expr| seen.insert(expr))
    };
    groups.iter().any(|group| match group {
        Expr::Rollup(sets) | Expr::Cube(sets) => repeats(sets),
        Expr::GroupingSets(sets) => sets.iter().any(|set| without_repeats(set.clone()).len() < set.len()),
        _ => false,
    })
}

/// All of GROUP BY as one list of sets; `None` if it is too long.
fn written_out(groups: &[Expr]) -> Option<Vec<Vec<Expr>>> {
    let mut all: Vec<Vec<Expr>> = vec![Vec::new()];
    for group in groups {
        let own = match group {
            Expr::Rollup(parts) => prefixes(parts),
            Expr::Cube(parts) => subsets(parts)?,
            Expr::GroupingSets(sets) => sets.clone(),
            expr => vec![vec![expr.clone()]],
        };
        if all.len().checked_mul(own.len())? > MOST_SETS {
            return None;
        }
        let joined = |before: &Vec<Expr>| own.iter().map(|set| [before.as_slice(), set].concat()).collect::<Vec<_>>();
        all = all.iter().flat_map(joined).collect();
    }
    Some(all.into_iter().map(without_repeats).collect())
}

/// With all of its parts first, as CUBE lists them.
fn subsets(parts: &[Vec<Expr>]) -> Option<Vec<Vec<Expr>>> {
    let count = 1_usize.checked_shl(u32::try_from(parts.len()).ok()?).filter(|count| *count <= MOST_SETS)?;
    let subset = |mask: usize| {
        let chosen = parts.iter().enumerate().filter(|(at, _)| (mask >> at) & 1 == 1);
        chosen.flat_map(|(_, part)| part.clone()).collect()
    };
    Some((0..count).rev().map(subset).collect())
}

fn without_repeats(set: Vec<Expr>) -> Vec<Expr> {
    let mut kept: Vec<Expr> = Vec::with_capacity(set.len());
    for expr in set {
        if !kept.contains(&expr) {
            kept.push(expr);
        }
    }
    kept
}
