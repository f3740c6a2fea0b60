//! Calls of functions and aggregates, and what only looks like a call.

use super::operator::with_form;
use crate::binder::Binder;
use crate::coerce::name_of;
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::name::{fold, parts};
use crate::tree::{CastContext, Kind, Scalar, Span};
use builtins::resolve::{self, Failure, FunctionCall, Resolved};
use builtins::{Kind as FunctionKind, Ty, TypeId};
use sql::ast;
use types::Datum;

impl Binder<'_> {
    pub(super) fn function(&mut self, function: &ast::Function) -> BindResult<Scalar> {
        let name = parts(&function.name);
        let ident = match name.as_deref() {
            Some([ident]) => ident,
            Some([schema, ident]) if fold(schema) == "pg_catalog" => ident,
            _ => return Err(self.not_built("a function with a schema")),
        };
        // What the parser has put in place of something else stands nowhere.
        let span = self.span(ident.span);
        let made = span.is_empty() && self.view_depth == 0;
        if made || self.view_depth > 0 && is_cast_to_alias(&fold(ident)) {
            return Err(self.not_built("a cast to a name of the catalog"));
        }
        if function.null_treatment.is_some() {
            return Err(self.not_built("IGNORE NULLS"));
        }
        let name = fold(ident);
        let list = match &function.args {
            ast::FunctionArguments::List(list) => list,
            ast::FunctionArguments::None => {
                return match self.session_value(&name, span)? {
                    Some(value) => Ok(value),
                    None => Err(self.not_built("a call without parentheses")),
                };
            }
            ast::FunctionArguments::Subquery(query) => {
                return match name.as_str() {
                    "array" => self.array_subquery(query),
                    _ => Err(self.not_built("a call of a query")),
                };
            }
        };
        if function.over.is_none()
            && ident.quote_style.is_none()
            && let Some(value) = self.reserved_call(&name, list, span)?
        {
            return Ok(value);
        }
        if let Some(over) = &function.over {
            if !function.within_group.is_empty() {
                return Err(self.not_built("WITHIN GROUP over a window"));
            }
            return self.window_call(&name, function, list, over, span);
        }
        if builtins::functions_named(&name).any(|function| function.kind == FunctionKind::Aggregate) {
            return self.aggregate(&name, function, list, span);
        }
        if builtins::functions_named(&name).any(|function| function.kind == FunctionKind::Window) {
            return Err(self.not_built("a window function without a window"));
        }
        if !function.within_group.is_empty() {
            return Err(self.not_built("WITHIN GROUP of this function"));
        }
        if list.duplicate_treatment.is_some() || function.filter.is_some() || !list.clauses.is_empty() {
            return Err(self.not_built("DISTINCT, FILTER or ORDER BY in a call of a function"));
        }
        let has_names = list.args.iter().any(|arg| matches!(arg, ast::FunctionArg::Named { .. }));
        let args = if has_names { self.named_arguments(&name, list)? } else { self.arguments(list)? };
        self.call_named(&name, args, span)
    }

    /// Calls by reserved words, which are no functions.
    fn reserved_call(
        &mut self,
        name: &str,
        list: &ast::FunctionArgumentList,
        span: Span,
    ) -> BindResult<Option<Scalar>> {
        let pick = match name {
            "coalesce" => "COALESCE",
            "greatest" => "GREATEST",
            "least" => "LEAST",
            "nullif" => {
                let args = self.arguments(list)?;
                return self.null_if(args).map(Some);
            }
            "grouping" => return self.grouping_call(list, span).map(Some),
            "row" => {
                let fields = self.arguments(list)?;
                return self.row_of(fields).map(Some);
            }
            "current_timestamp" | "localtime" | "localtimestamp" => {
                return self.moment_in_digits(name, list, span).map(Some);
            }
            "current_time" => return Err(self.not_built("a time with time zone")),
            "current_schema" if list.args.is_empty() => return self.session_value(name, span),
            _ => return Ok(None),
        };
        let args = self.arguments(list)?;
        if args.is_empty() {
            return Err(self.not_built("no arguments"));
        }
        self.pick(pick, args).map(Some)
    }

    /// `current_timestamp(3)`.
    fn moment_in_digits(&mut self, name: &str, list: &ast::FunctionArgumentList, span: Span) -> BindResult<Scalar> {
        let args = self.arguments(list)?;
        let digits = match args.as_slice() {
            [Scalar { kind: Kind::Const(Datum::Int4(digits @ 0..=6)), .. }] => *digits,
            _ => return Err(self.not_built("a time of so many digits")),
        };
        let Some(moment) = self.session_value(name, span)? else {
            return Err(self.not_built("a value of the session"));
        };
        let ty = Ty { typmod: digits, ..moment.ty };
        self.coerce(moment, ty, CastContext::Explicit)
    }

    pub(crate) fn arguments(&mut self, list: &ast::FunctionArgumentList) -> BindResult<Vec<Scalar>> {
        let mut args = Vec::with_capacity(list.args.len());
        for arg in &list.args {
            let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) = arg else {
                return Err(self.not_built("an argument with a name, or a star"));
            };
            args.push(self.scalar(expr)?);
        }
        if args.iter().any(|arg| matches!(arg.kind, Kind::Row(_))) {
            return Err(self.not_built("a row as an argument"));
        }
        Ok(args)
    }

    /// The function of that name on bound arguments.
    pub(crate) fn call_named(&mut self, name: &str, args: Vec<Scalar>, span: Span) -> BindResult<Scalar> {
        let call = match self.resolve_call(name, &args, span)? {
            Resolved::Call(call) => call,
            Resolved::Cast(to) => {
                let Some(arg) = args.into_iter().next() else { return Err(self.not_built("a cast of nothing")) };
                return self.coerce(arg, to, CastContext::Explicit);
            }
        };
        if call.function.kind != FunctionKind::Scalar {
            return Err(self.not_built("an aggregate that is no call of one"));
        }
        if call.function.returns_set {
            return self.set_in_list(&call, args, span);
        }
        self.note_call(call.function.id);
        let (func, ty) = (call.function.id, call.returns);
        let given = args.len();
        let mut args = self.call_arguments(&call, args)?;
        for at in given..given + call.defaults {
            args.push(self.default_argument(call.function, at)?);
        }
        let span = args.iter().fold(span, |all, arg| all.with(arg.span));
        let ty = with_form(func, &args, ty);
        Ok(Scalar { kind: Kind::Call { func, args }, ty, span })
    }

    pub(crate) fn resolve_call(&self, name: &str, args: &[Scalar], span: Span) -> BindResult<Resolved> {
        let types: Vec<Ty> = args.iter().map(|arg| arg.ty).collect();
        if is_of_phoenix(name, args) {
            return Err(self.not_built("Phoenix's form of this function"));
        }
        let wrong = |failure| {
            let (name, args) = (name.to_owned(), types.iter().map(|ty| name_of(*ty)).collect());
            match failure {
                Failure::Ambiguous => BindError::new(BindErrorKind::AmbiguousFunction { name, args }, span).with_hint(
                    "Could not choose a best candidate function. You might need to add explicit type casts.",
                ),
                Failure::None if self.relations.has_function(&name) => {
                    self.not_built("a function of the embedding program")
                }
                Failure::None => BindError::new(BindErrorKind::UndefinedFunction { name, args }, span).with_hint(
                    "No function matches the given name and argument types. You might need to add explicit type casts.",
                ),
                Failure::Undetermined => self.not_built("a polymorphic function of untyped arguments"),
            }
        };
        resolve::function(name, &types, false).map_err(wrong)
    }

    /// The arguments as the function wants them. What takes any type takes an untyped literal as text.
    pub(crate) fn call_arguments(&mut self, call: &FunctionCall, args: Vec<Scalar>) -> BindResult<Vec<Scalar>> {
        let mut cast = Vec::with_capacity(args.len());
        for (arg, wanted) in args.into_iter().zip(&call.args) {
            cast.push(match wanted.id {
                TypeId::ANY if call.function.name == "pg_typeof" && arg.ty.is_unknown() => {
                    return Err(self.not_built("the name of no type"));
                }
                TypeId::ANY => self.output_type(arg)?,
                _ => self.coerce(arg, *wanted, CastContext::Implicit)?,
            });
        }
        Ok(cast)
    }
}

/// Forms of calls that only Phoenix has: `round(t, 'HOUR')`, `encode(n, 'BASE62')`, `array_fill(7, 3)`.
fn is_of_phoenix(name: &str, args: &[Scalar]) -> bool {
    if let ("array_fill", [_, count]) = (name, args) {
        return matches!(count.ty.id, TypeId::INT2 | TypeId::INT4);
    }
    let Some(Kind::Const(Datum::Text(word))) = args.get(1).map(|arg| &arg.kind) else { return false };
    match name {
        "round" | "ceil" | "floor" | "trunc" => word.starts_with(|letter: char| letter.is_ascii_alphabetic()),
        "encode" => word.eq_ignore_ascii_case("base62"),
        _ => false,
    }
}

/// The calls that the parser makes of casts to `regclass` and its like; in the text of a view nothing stands anywhere.
fn is_cast_to_alias(name: &str) -> bool {
    let name = name.strip_prefix("to_").unwrap_or(name);
    let alias = name.strip_suffix("_oid").or_else(|| name.strip_suffix("_name"));
    alias.is_some_and(|alias| {
        matches!(alias, "regclass" | "regtype" | "regnamespace" | "regrole" | "regproc" | "regprocedure")
    })
}
