//! Phoenix's functions that are others under another name or in another form.
//!
//! ```text
//!   distinct_count(x)                                count(DISTINCT x)
//!   first_value(x) WITHIN GROUP (ORDER BY y)         (array_agg(x ORDER BY y) FILTER (WHERE x IS NOT NULL))[1]
//!   floor(t, 'HOUR', 3)                              a function of ours
//! ```

use super::rewrite::call;
use sql::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, Ident,
    ObjectName, OrderByExpr, Value,
};

/// Such names that are no functions of their own.
pub(super) const FUNCTIONS: [&str; 9] = [
    "approx_count_distinct",
    "array_elem",
    "collectdistinct",
    "distinct_count",
    "first_values",
    "last_values",
    "rand",
    "regexp_split",
    "timeofday",
];

/// Those of them that are aggregates.
pub(super) const AGGREGATES: [&str; 5] =
    ["approx_count_distinct", "collectdistinct", "distinct_count", "first_values", "last_values"];

/// Such names that are functions of their own too, with other arguments.
const ALSO: [&str; 8] = ["ceil", "encode", "first_value", "floor", "last_value", "nth_value", "round", "trunc"];

/// The call as the planner should see it; `None` if it is none of Phoenix's.
pub(super) fn rewrite(name: &str, function: &Function) -> Option<Expr> {
    if !FUNCTIONS.contains(&name) && !ALSO.contains(&name) {
        return None;
    }
    let args = plain_arguments(function)?;
    match (name, args.as_slice()) {
        ("distinct_count" | "approx_count_distinct", [_]) => Some(distinct("count", function)),
        ("collectdistinct", [_]) => Some(distinct("array_agg", function)),
        ("rand", []) => Some(call("random", args)),
        ("regexp_split", _) => Some(call("regexp_split_to_array", args)),
        ("array_elem", [_, _]) => Some(call("array subscript", args)),
        ("timeofday", []) => {
            let format = "Dy Mon DD HH24:MI:SS.US YYYY TZ";
            Some(call("to_char", vec![call("clock_timestamp", Vec::new()), quoted(format)]))
        }
        ("encode", [_, Expr::Value(format)]) if is_base_62(&format.value) => Some(call("encode in base 62", args)),
        ("round" | "ceil" | "floor" | "trunc", [_, Expr::Value(unit), ..]) if is_quoted(&unit.value) => {
            let kind = if name == "trunc" { "floor" } else { name };
            Some(call(&format!("{kind} to unit"), args))
        }
        (name, [value, rest @ ..]) if function.over.is_none() && !function.within_group.is_empty() => {
            picked(name, rest).map(|picked| ordered_pick(function, value.clone(), picked))
        }
        _ => None,
    }
}

fn quoted(text: &str) -> Expr {
    Expr::value(Value::SingleQuotedString(text.to_owned()))
}

fn number(value: &str) -> Expr {
    Expr::value(Value::Number(value.to_owned(), false))
}

fn is_quoted(value: &Value) -> bool {
    // Digits behind the point may be quoted too.
    matches!(value, Value::SingleQuotedString(text) if text.starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn is_base_62(value: &Value) -> bool {
    matches!(value, Value::SingleQuotedString(text) if text.eq_ignore_ascii_case("base62"))
}

fn plain_arguments(function: &Function) -> Option<Vec<Expr>> {
    let FunctionArguments::List(list) = &function.args else { return None };
    let plain = list.args.iter().map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    });
    plain.collect()
}

fn distinct(name: &str, function: &Function) -> Expr {
    let mut function = Function { name: ObjectName::from(vec![Ident::new(name)]), ..function.clone() };
    if let FunctionArguments::List(list) = &mut function.args {
        list.duplicate_treatment = Some(DuplicateTreatment::Distinct);
    }
    if name == "array_agg" {
        super::rewrite::sort_distinct(&mut function);
    }
    Expr::Function(function)
}

/// What is taken of the values in their order, from which end.
enum Picked {
    One { place: Expr, backwards: bool },
    Several { count: Expr, backwards: bool },
}

fn picked(name: &str, rest: &[Expr]) -> Option<Picked> {
    Some(match (name, rest) {
        ("first_value", []) => Picked::One { place: number("1"), backwards: false },
        ("last_value", []) => Picked::One { place: number("1"), backwards: true },
        ("nth_value", [place]) => Picked::One { place: place.clone(), backwards: false },
        ("first_values", [count]) => Picked::Several { count: count.clone(), backwards: false },
        ("last_values", [count]) => Picked::Several { count: count.clone(), backwards: true },
        _ => return None,
    })
}

/// Of values in the order of WITHIN GROUP, NULLs left out.
fn ordered_pick(function: &Function, value: Expr, picked: Picked) -> Expr {
    let backwards = matches!(picked, Picked::One { backwards: true, .. } | Picked::Several { backwards: true, .. });
    let by: Vec<OrderByExpr> =
        function.within_group.iter().map(|by| if backwards { reversed(by.clone()) } else { by.clone() }).collect();
    let known = Expr::IsNotNull(Box::new(value.clone()));
    let mut values = call("array_agg", vec![value]);
    if let Expr::Function(Function { args: FunctionArguments::List(list), filter, .. }) = &mut values {
        list.clauses.push(FunctionArgumentClause::OrderBy(by));
        *filter = Some(Box::new(super::rewrite::both(function.filter.clone(), known)));
    }
    match picked {
        Picked::One { place, .. } => call("array subscript", vec![values, place]),
        Picked::Several { count, .. } => call("array slice", vec![values, number("1"), count]),
    }
}

/// NULLs come last in ascending order.
fn reversed(mut by: OrderByExpr) -> OrderByExpr {
    let descending = by.options.asc == Some(false);
    let nulls_first = by.options.nulls_first.unwrap_or(descending);
    by.options.asc = Some(descending);
    by.options.nulls_first = Some(!nulls_first);
    by
}
