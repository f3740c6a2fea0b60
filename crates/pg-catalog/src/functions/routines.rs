//! Functions about functions: names, arguments, EXECUTE privileges.
//!
//! `regproc` schema-qualifies the name of an overloaded function; `regprocedure` appends the argument types.

use super::names::{oid_of, shown};
use super::privileges::privileges;
use super::{ANY, Arguments, Function, OID, Returns, TEXT, refused, strict};
use crate::oid::{find_type, split_name};
use crate::rows::Cell;
use crate::source::Source;
use builtins::Reason;
use builtins::lists::{Routine, operators};
use datafusion::common::Result;
use std::borrow::Cow;
use types::ident;

pub(super) static FUNCTIONS: &[Function] = &[
    strict("pg_get_function_result", &[OID], Returns::Text, |source, args| told(source, args, Routine::result_text)),
    strict("pg_get_function_arguments", &[OID], Returns::Text, |source, args| {
        told(source, args, Routine::arguments_text)
    }),
    strict("pg_get_function_identity_arguments", &[OID], Returns::Text, |source, args| {
        told(source, args, Routine::identity_text)
    }),
    // All functions are in `pg_catalog`, which is always in the search path.
    strict("pg_function_is_visible", &[OID], Returns::Bool, |source, args| {
        Ok(args.oid(0).and_then(|oid| source.routine(oid)).map(|_| true).into())
    }),
    strict("pg_operator_is_visible", &[OID], Returns::Bool, |_, args| {
        Ok(operators().iter().find(|operator| Some(operator.oid) == args.oid(0)).map(|_| true).into())
    }),
    strict("regproc_oid", &[ANY], Returns::Oid, |source, args| {
        oid_of(args, |name| Ok(resolve_function_name(source, name)?.oid))
    }),
    strict("regproc_name", &[ANY], Returns::Text, |source, args| {
        let by_oid = |oid: u32| source.routine(oid);
        shown(args, by_oid, |name| resolve_function_name(source, name), |routine| name_of(source, &routine).into())
    }),
    strict("to_regproc_oid", &[TEXT], Returns::Oid, |source, args| {
        Ok(find_unambiguous(source, args).map(|routine| routine.oid).into())
    }),
    strict("regprocedure_oid", &[ANY], Returns::Oid, |source, args| {
        oid_of(args, |name| Ok(resolve_signature(source, name)?.oid))
    }),
    strict("regprocedure_name", &[ANY], Returns::Text, |source, args| {
        let by_oid = |oid: u32| source.routine(oid);
        shown(args, by_oid, |name| resolve_signature(source, name), |routine| signature_of(&routine).into())
    }),
    strict("to_regprocedure_oid", &[TEXT], Returns::Oid, |source, args| {
        let signature = args.text(0).unwrap_or_default();
        let is_one = signature.split_once('(').is_some_and(|(_, rest)| rest.trim_end().ends_with(')'));
        match resolve_signature(source, signature) {
            Err(error) if !is_one => Err(error),
            found => Ok(found.ok().map(|routine| routine.oid).into()),
        }
    }),
    // Every user may execute all functions.
    strict("has_function_privilege", &[ANY, ANY, ANY], Returns::Bool, |source, args| {
        let found = match args.cell_from_end(2) {
            Cell::Int(oid) => u32::try_from(*oid).ok().and_then(|oid| source.routine(oid)),
            Cell::Text(signature) => Some(resolve_signature(source, signature)?),
            _ => None,
        };
        match privileges(args.cell_from_end(1))?.iter().find(|one| *one != "EXECUTE") {
            Some(odd) => refused(Reason::Argument, format!("unrecognized privilege type: \"{odd}\"")),
            None => Ok(found.map(|_| true).into()),
        }
    })
    .optional(1),
];

fn told(source: &Source, args: &Arguments<'_>, tell: fn(&Routine) -> String) -> Result<Cell> {
    Ok(args.oid(0).and_then(|oid| source.routine(oid)).map(|routine| tell(&routine)).into())
}

/// The overloads of a name with or without a schema.
fn named(source: &Source, name: &str) -> Vec<Cow<'static, Routine>> {
    match split_name(name) {
        Some((schema, name)) if schema.as_deref().is_none_or(|schema| schema == "pg_catalog") => {
            source.routines_named(&name)
        }
        _ => Vec::new(),
    }
}

fn find_unambiguous(source: &Source, args: &Arguments<'_>) -> Option<Cow<'static, Routine>> {
    resolve_function_name(source, args.text(0)?).ok()
}

fn resolve_function_name(source: &Source, name: &str) -> Result<Cow<'static, Routine>> {
    let mut found = named(source, name).into_iter();
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => refused(Reason::AmbiguousFunction, format!("more than one function named \"{name}\"")),
        (None, _) => refused(Reason::NoSuchFunction, format!("function \"{name}\" does not exist")),
    }
}

/// The function with a signature such as `upper(text)`.
fn resolve_signature(source: &Source, signature: &str) -> Result<Cow<'static, Routine>> {
    let Some((name, rest)) = signature.split_once('(') else {
        return refused(Reason::Signature, "expected a left parenthesis");
    };
    let Some(types) = rest.trim_end().strip_suffix(')') else {
        return refused(Reason::Signature, "expected a right parenthesis");
    };
    let mut wanted = Vec::new();
    for ty in types.split(',').map(str::trim).filter(|ty| !ty.is_empty()) {
        match find_type(source, ty) {
            Some(oid) => wanted.push(oid),
            None => return refused(Reason::NoSuchObject, format!("type \"{ty}\" does not exist")),
        }
    }
    match named(source, name.trim()).into_iter().find(|routine| routine.arguments == wanted) {
        Some(routine) => Ok(routine),
        None => refused(Reason::NoSuchFunction, format!("function \"{signature}\" does not exist")),
    }
}

fn name_of(source: &Source, routine: &Routine) -> String {
    let name = ident::quote(&routine.name);
    match source.routines_named(&routine.name).len() {
        0 | 1 => name.into_owned(),
        _ => format!("pg_catalog.{name}"),
    }
}

fn signature_of(routine: &Routine) -> String {
    format!("{}({})", ident::quote(&routine.name), routine.types_text(","))
}
