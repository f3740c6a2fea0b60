//! `coalesce`, `greatest` and `least`: their arguments are of one type, which constants without a type take.
//!
//! The planner's own refuse such constants before anybody can give them a type. These stand in their place until types
//! are settled, and never run.

use super::sql::{Argument, Chosen, Definition, define_rule, widens, wrong};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use types::DataType;

pub(super) static FUNCTIONS: &[Definition] =
    &[define_rule("coalesce", rule), define_rule("greatest", rule), define_rule("least", rule)];

/// The planner's function of that name, and what PostgreSQL calls it in errors.
pub(crate) fn planners_own(name: &str) -> Option<(Arc<ScalarUDF>, &'static str)> {
    Some(match name {
        "coalesce" => (datafusion::functions::core::coalesce(), "COALESCE"),
        "greatest" => (datafusion::functions::core::greatest(), "GREATEST"),
        "least" => (datafusion::functions::core::least(), "LEAST"),
        _ => return None,
    })
}

/// Types that do not go together are refused when types are settled.
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
