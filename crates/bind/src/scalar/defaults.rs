//! Named arguments and default arguments: `make_interval(days => 10)`.

use super::call::NO_MATCH;
use crate::binder::{Binder, plain};
use crate::coerce::name_of;
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::name::fold;
use crate::tree::{CastContext, Kind, Scalar, Span};
use builtins::lists::routine_by_oid;
use builtins::{FuncId, Function, Ty};
use sql::ast;
use types::Datum;

/// An argument as `builtins` declares it: `years integer DEFAULT 0`.
struct Declared {
    name: &'static str,
    default: Option<&'static str>,
}

/// Returns the declared arguments of a function.
fn declared(func: FuncId) -> Vec<Declared> {
    let shown = routine_by_oid(func.0).and_then(|routine| routine.shown).unwrap_or_default();
    let one = |text: &'static str| {
        let (head, default) =
            text.split_once(" DEFAULT ").map_or((text, None), |(head, default)| (head, Some(default)));
        Declared { name: head.split(' ').next().unwrap_or_default(), default }
    };
    shown.split(", ").map(one).collect()
}

/// An argument of a call, with its name if it has one.
type Given = (Option<String>, Scalar);

impl Binder<'_> {
    /// Returns the arguments of a call, in the order of the function with such names and with its defaults.
    pub(crate) fn named_arguments(&mut self, name: &str, list: &ast::FunctionArgumentList) -> BindResult<Vec<Scalar>> {
        let given = self.given_arguments(list)?;
        for function in builtins::functions_named(name) {
            let places = declared(function.id);
            if places.len() == function.args.len()
                && let Some(places) = placed(&places, &given)
            {
                return self.in_places(function, &places, &given);
            }
        }
        Err(self.no_function_of_names(name, &given))
    }

    /// Returns the error that no function of that name has such arguments.
    pub(super) fn refuse_names(&mut self, name: &str, list: &ast::FunctionArgumentList) -> BindResult<()> {
        let given = self.given_arguments(list)?;
        Err(self.no_function_of_names(name, &given))
    }

    fn no_function_of_names(&self, name: &str, given: &[Given]) -> BindError {
        let shown = |(name, value): &Given| match name {
            Some(name) => format!("{name} => {}", name_of(value.ty)),
            None => name_of(value.ty),
        };
        let kind = BindErrorKind::UndefinedFunction { name: name.to_owned(), args: given.iter().map(shown).collect() };
        let span = given.first().map(|(_, value)| value.span).unwrap_or_default();
        BindError::new(kind, span).with_hint(NO_MATCH)
    }

    fn given_arguments(&mut self, list: &ast::FunctionArgumentList) -> BindResult<Vec<Given>> {
        let mut given: Vec<Given> = Vec::with_capacity(list.args.len());
        for arg in &list.args {
            match arg {
                ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => {
                    if given.iter().any(|(name, _)| name.is_some()) {
                        let message = "positional argument cannot follow named argument";
                        return self.error(BindErrorKind::Syntax { message }, Span::default());
                    }
                    given.push((None, self.scalar(expr)?));
                }
                ast::FunctionArg::Named { name: ident, arg: ast::FunctionArgExpr::Expr(expr), .. } => {
                    let (name, span) = (fold(ident), self.span(ident.span));
                    if given.iter().any(|(other, _)| other.as_ref() == Some(&name)) {
                        return self.error(BindErrorKind::ArgumentTwice { name }, span);
                    }
                    given.push((Some(name), self.scalar(expr)?));
                }
                _ => {
                    return self
                        .error(BindErrorKind::Syntax { message: "syntax error at or near \"*\"" }, Span::default());
                }
            }
        }
        Ok(given)
    }

    fn in_places(&mut self, function: &Function, places: &[Option<usize>], given: &[Given]) -> BindResult<Vec<Scalar>> {
        let mut args = Vec::with_capacity(places.len());
        for (at, place) in places.iter().enumerate() {
            args.push(match place.and_then(|place| given.get(place)) {
                Some((_, value)) => value.clone(),
                None => self.default_argument(function, at)?,
            });
        }
        Ok(args)
    }

    /// Returns the default of an omitted argument.
    pub(super) fn default_argument(&mut self, function: &Function, at: usize) -> BindResult<Scalar> {
        let text = declared(function.id).get(at).and_then(|declared| declared.default);
        let (Some(text), Some(ty)) = (text, function.args.get(at)) else {
            return Err(self.internal("an argument without a default"));
        };
        let value = Kind::Const(Datum::Text(text.trim_matches('\'').to_owned()));
        let value = Scalar { kind: value, ty: Ty::UNKNOWN, span: Span::default() };
        self.coerce(value, plain(*ty), CastContext::Implicit)
    }
}

/// Returns the index of the given argument for each declared one; `None` if the call does not fit the function.
fn placed(declared: &[Declared], given: &[Given]) -> Option<Vec<Option<usize>>> {
    let mut places: Vec<Option<usize>> = vec![None; declared.len()];
    for (at, (name, _)) in given.iter().enumerate() {
        let place = match name {
            Some(name) => declared.iter().position(|declared| declared.name == name)?,
            None => at,
        };
        let slot = places.get_mut(place).filter(|slot| slot.is_none())?;
        *slot = Some(at);
    }
    let is_complete =
        places.iter().zip(declared).all(|(place, declared)| place.is_some() || declared.default.is_some());
    is_complete.then_some(places)
}
