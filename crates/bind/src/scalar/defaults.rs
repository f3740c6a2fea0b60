//! Arguments with names, and those that are left out: `make_interval(days => 10)`.

use crate::binder::{Binder, plain};
use crate::error::BindResult;
use crate::name::fold;
use crate::tree::{CastContext, Kind, Scalar, Span};
use builtins::lists::routine_by_oid;
use builtins::{FuncId, Function, Ty};
use sql::ast;
use types::Datum;

/// An argument as the table shows it: `years integer DEFAULT 0`.
struct Declared {
    name: &'static str,
    default: Option<&'static str>,
}

/// The arguments of a function, where the table has names for them.
fn declared(func: FuncId) -> Vec<Declared> {
    let shown = routine_by_oid(func.0).and_then(|routine| routine.shown).unwrap_or_default();
    let one = |text: &'static str| {
        let (head, default) =
            text.split_once(" DEFAULT ").map_or((text, None), |(head, default)| (head, Some(default)));
        Declared { name: head.split(' ').next().unwrap_or_default(), default }
    };
    shown.split(", ").map(one).collect()
}

impl Binder<'_> {
    /// All arguments of a call with names, in the order of the only function that it can mean.
    pub(crate) fn named_arguments(&mut self, name: &str, list: &ast::FunctionArgumentList) -> BindResult<Vec<Scalar>> {
        let mut functions = builtins::functions_named(name);
        let (Some(function), None) = (functions.next(), functions.next()) else {
            return Err(self.not_built("arguments with names of this function"));
        };
        let places = declared(function.id);
        if places.len() != function.args.len() {
            return Err(self.not_built("arguments with names of this function"));
        }
        let mut given: Vec<Option<Scalar>> = vec![None; places.len()];
        for (at, arg) in list.args.iter().enumerate() {
            let (place, expr) = match arg {
                ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => (Some(at), expr),
                ast::FunctionArg::Named { name, arg: ast::FunctionArgExpr::Expr(expr), .. } => {
                    let name = fold(name);
                    (places.iter().position(|place| place.name == name), expr)
                }
                _ => return Err(self.not_built("a star among arguments with names")),
            };
            match place.and_then(|place| given.get_mut(place)) {
                Some(slot @ None) => *slot = Some(self.scalar(expr)?),
                _ => return Err(self.not_built("this argument with a name")),
            }
        }
        let mut args = Vec::with_capacity(given.len());
        for (at, value) in given.into_iter().enumerate() {
            args.push(match value {
                Some(value) => value,
                None => self.default_argument(function, at)?,
            });
        }
        Ok(args)
    }

    /// The value of an argument that is left out.
    pub(super) fn default_argument(&mut self, function: &Function, at: usize) -> BindResult<Scalar> {
        let text = declared(function.id).get(at).and_then(|declared| declared.default);
        let (Some(text), Some(ty)) = (text, function.args.get(at)) else {
            return Err(self.not_built("this default of an argument"));
        };
        let value = Kind::Const(Datum::Text(text.trim_matches('\'').to_owned()));
        let value = Scalar { kind: value, ty: Ty::UNKNOWN, span: Span::default() };
        self.coerce(value, plain(*ty), CastContext::Implicit)
    }
}
