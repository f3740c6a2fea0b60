//! Calls of aggregates and window functions, and of others with what only those take.

use super::find::{arguments, find, is_windowed, name_of, returns_set};
use super::{Checker, Verdict, refuse, ungrouped};
use crate::Refusal;
use crate::error::QueryError;
use crate::plan::{frames, refused_functions};
use sql::ast::{DuplicateTreatment, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments};
use std::ops::ControlFlow;

impl Checker<'_> {
    pub(super) fn check_call(&self, call: &Function) -> Verdict {
        let name = name_of(call);
        if let (false, Some(hint)) = (self.kinds.is_known(&name), refused_functions::hint_for_missing_function(&name)) {
            let feature = format!("function {name}()");
            return ControlFlow::Break(QueryError::NotBuilt { feature, hint });
        }
        let (aggregate, window) = (self.kinds.is_aggregate(&name), self.kinds.is_window(&name));
        if call.over.is_some() {
            return self.check_window(call, &name, aggregate || window);
        }
        if aggregate {
            return check_aggregate(call, &name);
        }
        if window && call.within_group.is_empty() {
            return refuse(Refusal::Window, format!("window function {name} requires an OVER clause"));
        }
        if self.kinds.is_scalar(&name) {
            return check_scalar(call, &name);
        }
        ControlFlow::Continue(())
    }

    fn check_window(&self, call: &Function, name: &str, known: bool) -> Verdict {
        if !known && self.kinds.is_scalar(name) {
            let message = format!("OVER specified, but {name} is not a window function nor an aggregate function");
            return refuse(Refusal::Window, message);
        }
        if let FunctionArguments::List(list) = &call.args
            && list.duplicate_treatment == Some(DuplicateTreatment::Distinct)
        {
            return refuse(Refusal::Set, "DISTINCT is not implemented for window functions");
        }
        let fewest = match name {
            "nth_value" => 2,
            "first_value" | "lag" | "last_value" | "lead" | "ntile" => 1,
            _ => 0,
        };
        if known && list_length(call) < fewest {
            return ControlFlow::Break(QueryError::NoSuchFunction { signature: format!("{name}()") });
        }
        if let Some(sql::ast::WindowType::WindowSpec(spec)) = &call.over {
            if let Err(error) = frames::check(spec) {
                return ControlFlow::Break(error);
            }
            let by = spec.order_by.iter().map(|by| &by.expr);
            if spec.partition_by.iter().chain(by).any(|expr| find(expr, &mut is_windowed)) {
                let message = "window functions are not allowed in window definitions";
                return refuse(Refusal::WindowDefinition, message);
            }
        }
        if arguments(call).any(|arg| find(arg, &mut is_windowed)) {
            return refuse(Refusal::WindowDefinition, "window function calls cannot be nested");
        }
        ControlFlow::Continue(())
    }
}

fn list_length(call: &Function) -> usize {
    match &call.args {
        FunctionArguments::List(list) => list.args.len(),
        _ => 0,
    }
}

fn check_aggregate(call: &Function, name: &str) -> Verdict {
    if arguments(call).any(|arg| find(arg, &mut returns_set)) {
        return refuse(Refusal::Set, "aggregate function calls cannot contain set-returning function calls");
    }
    if arguments(call).any(|arg| find(arg, &mut is_windowed)) {
        return ungrouped("aggregate function calls cannot contain window function calls".to_owned());
    }
    let FunctionArguments::List(list) = &call.args else { return ControlFlow::Continue(()) };
    let star = matches!(list.args.as_slice(), [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]);
    let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    match (name, star, list.args.is_empty()) {
        ("count", true, _) if distinct => {
            ControlFlow::Break(QueryError::Invalid { message: "syntax error at or near \"*\"".to_owned() })
        }
        ("count", _, true) => {
            let message = "count(*) must be used to call a parameterless aggregate function";
            refuse(Refusal::Window, message)
        }
        ("count", ..) => ControlFlow::Continue(()),
        (_, true, _) | (_, _, true) if call.within_group.is_empty() => {
            ControlFlow::Break(QueryError::NoSuchFunction { signature: format!("{name}()") })
        }
        _ => ControlFlow::Continue(()),
    }
}

fn check_scalar(call: &Function, name: &str) -> Verdict {
    let FunctionArguments::List(list) = &call.args else { return ControlFlow::Continue(()) };
    let ordered = list.clauses.iter().any(|clause| matches!(clause, FunctionArgumentClause::OrderBy(_)));
    let what = match (list.duplicate_treatment, ordered, call.filter.is_some(), call.within_group.is_empty()) {
        (Some(DuplicateTreatment::Distinct), ..) => "DISTINCT",
        (_, true, ..) => "ORDER BY",
        (_, _, true, _) => "FILTER",
        (_, _, _, false) => "WITHIN GROUP",
        _ if matches!(list.args.as_slice(), [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]) => {
            return ControlFlow::Break(QueryError::NoSuchFunction { signature: format!("{name}()") });
        }
        _ => return ControlFlow::Continue(()),
    };
    refuse(Refusal::Window, format!("{what} specified, but {name} is not an aggregate function"))
}
