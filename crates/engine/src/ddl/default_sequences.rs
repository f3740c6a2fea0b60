//! Sequences in column defaults.
//!
//! A default that is just `nextval('s')` links the column to the sequence. In a larger expression, the sequence's name
//! is replaced by its OID, so that the default follows a rename, SET SCHEMA or DROP of the sequence.

use super::check::rewritten;
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use crate::session::sequences::{oid_in, read_name};
use bind::AssignedTo;
use catalog::{NewDefault, Sequence, sequence_reference};
use sql::WrittenExpr;
use sql::ast::{self, Expr};
use std::ops::ControlFlow;
use std::sync::Arc;

impl Session {
    /// Converts a column's default to the catalog's form.
    ///
    /// # Errors
    /// 42P01 for a sequence that does not exist.
    pub(super) fn stored_default(&self, default: &WrittenExpr, column: AssignedTo<'_>) -> EngineResult<NewDefault> {
        let WrittenExpr { expr, text } = &self.fixed_default(default, column)?;
        if let Expr::Function(function) = expr
            && let Some(name) = is_call(function, &["nextval"]).then(|| constant_argument(function)).flatten()
        {
            let sequence = Some(self.sequence_named(&name)?.oid);
            return Ok(NewDefault { text: text.clone(), sequence, sequences: Vec::new() });
        }
        if !calls(expr, &NAMING) {
            return Ok(NewDefault { text: text.clone(), ..NewDefault::default() });
        }
        let (mut sequences, mut failed) = (Vec::new(), None);
        let (text, _) = rewritten(expr.clone(), |part| match self.refer_by_oid(part) {
            Ok(Some(sequence)) if !sequences.contains(&sequence.oid) => sequences.push(sequence.oid),
            Ok(_) => {}
            Err(error) => failed = Some(error),
        })?;
        failed.map_or(Ok(NewDefault { text, sequence: None, sequences }), Err)
    }

    /// Replaces the sequence's name in a call of nextval(), currval() or setval() by its OID.
    fn refer_by_oid(&self, part: &mut Expr) -> EngineResult<Option<Arc<Sequence>>> {
        let Expr::Function(function) = part else { return Ok(None) };
        let named = is_call(function, &NAMING).then(|| constant_argument(function)).flatten();
        let Some(name) = named else { return Ok(None) };
        let sequence = self.sequence_named(&name)?;
        if let Some(argument) = argument_mut(function) {
            *argument = sql::parse_expr(&sequence_reference(sequence.oid))?;
        }
        Ok(Some(sequence))
    }

    /// The sequence of this name or OID.
    fn sequence_named(&self, text: &str) -> EngineResult<Arc<Sequence>> {
        let catalog = self.engine.catalog().current();
        let found = match oid_in(text) {
            Some(oid) => catalog.sequence_by_oid(oid).cloned().ok_or_else(|| text.to_owned()),
            None => {
                let name = read_name(text)?;
                self.find_sequence(&catalog, &name)?.ok_or_else(|| super::view::shown(&name))
            }
        };
        found.or_else(|name| fail(Fault::NoSuchObject { kind: "relation", name }))
    }
}

/// Functions whose first argument is a sequence.
const NAMING: [&str; 3] = ["nextval", "currval", "setval"];

/// Whether an expression calls nextval().
pub(super) fn takes_value(expr: &Expr) -> bool {
    calls(expr, &["nextval"])
}

fn calls(expr: &Expr, names: &[&str]) -> bool {
    ast::visit_expressions(expr, |part| match part {
        Expr::Function(function) if is_call(function, names) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })
    .is_break()
}

fn is_call(function: &ast::Function, names: &[&str]) -> bool {
    let name = function.name.to_string().to_ascii_lowercase();
    names.contains(&name.strip_prefix("pg_catalog.").unwrap_or(&name))
}

/// `s` of `nextval('s')` and `nextval('s'::regclass)`.
fn constant_argument(function: &ast::Function) -> Option<String> {
    let ast::FunctionArguments::List(list) = &function.args else { return None };
    let Some(ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(argument))) = list.args.first() else { return None };
    text_of(argument)
}

fn argument_mut(function: &mut ast::Function) -> Option<&mut Expr> {
    let ast::FunctionArguments::List(list) = &mut function.args else { return None };
    match list.args.first_mut() {
        Some(ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(argument))) => Some(argument),
        _ => None,
    }
}

fn text_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(value) => match &value.value {
            ast::Value::SingleQuotedString(text) => Some(text.clone()),
            _ => None,
        },
        Expr::Cast { expr, .. } | Expr::Nested(expr) => text_of(expr),
        _ => None,
    }
}
