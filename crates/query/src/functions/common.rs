//! `coalesce`, `greatest`, `least` and `nullif`: their arguments are of one type, which constants without a type take.
//!
//! DataFusion's own would find another type. These stand in their place until `representation` puts DataFusion's there, and
//! never run.

use super::sql::{Argument, Body, Chosen, Definition, define_rule, widens, wrong};
use datafusion::logical_expr::ScalarUDF;
use std::cmp::Ordering;
use std::sync::Arc;
use types::{DataType, Datum};

pub(super) static FUNCTIONS: &[Definition] = &[
    define_rule("coalesce", rule),
    define_rule("greatest", rule),
    define_rule("least", rule),
    define_rule("nullif", pair),
];

/// DataFusion's function of that name.
pub(crate) fn datafusions_own(name: &str) -> Option<Arc<ScalarUDF>> {
    Some(match name {
        "coalesce" => datafusion::functions::core::coalesce(),
        "greatest" => datafusion::functions::core::greatest(),
        "least" => datafusion::functions::core::least(),
        _ => return None,
    })
}

/// `greatest` or `least` of types that DataFusion's own does not compare as PostgreSQL does.
pub(crate) fn largest_or_smallest(name: &str) -> Option<&'static Definition> {
    CHOOSERS.iter().find(|definition| definition.name.strip_prefix("chosen ") == Some(name))
}

static CHOOSERS: &[Definition] = &[
    define_rule("chosen greatest", |args| chooser(args, |args| Ok(chosen(args, Ordering::Greater)))),
    define_rule("chosen least", |args| chooser(args, |args| Ok(chosen(args, Ordering::Less)))),
];

/// Of two arguments the first is the result.
fn pair(args: &[Argument]) -> Option<Chosen> {
    rule(args).filter(|chosen| chosen.types.len() == 2)
}

fn chooser(args: &[Argument], body: Body) -> Option<Chosen> {
    rule(args).map(|chosen| Chosen { body, ..chosen })
}

/// The first of those that no other is beyond, NULLs aside.
fn chosen(args: &[Datum], beyond: Ordering) -> Datum {
    let known = args.iter().filter(|value| !value.is_null());
    let best = known.reduce(|best, value| if types::compare::compare(value, best) == beyond { value } else { best });
    best.cloned().unwrap_or(Datum::Null)
}

/// Types that do not go together are refused by the binder.
fn rule(args: &[Argument]) -> Option<Chosen> {
    let known = args.iter().filter_map(|arg| match arg {
        Argument::Known(ty) => Some(*ty),
        Argument::Unknown => None,
    });
    let returns = known.reduce(|a, b| if widens(&a, &b) { b } else { a }).unwrap_or(DataType::Text);
    let own = |arg: &Argument| match arg {
        Argument::Known(ty) => *ty,
        Argument::Unknown => returns,
    };
    let types: Vec<DataType> = args.iter().map(own).collect();
    (!types.is_empty()).then_some(Chosen { types, returns, strict: false, body: |args| Err(wrong(args)) })
}
