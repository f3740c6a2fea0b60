//! Calls of functions and aggregates, and reserved words that look like calls.

use super::operator::with_result_digits;
use crate::binder::Binder;
use crate::call_error::{AggregateError, WindowError};
use crate::coerce::name_of;
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::name::{fold, parts};
use crate::relations::OwnFunction;
use crate::tree::{CastContext, Kind, PhoenixForm, Scalar, Span};
use builtins::resolve::{self, Failure, FunctionCall, Resolved};
use builtins::{Kind as FunctionKind, Ty, TypeId, Volatility};
use sql::ast;
use std::sync::Arc;
use types::Datum;

/// The hint for a call that no function matches.
pub(super) const NO_MATCH: &str =
    "No function matches the given name and argument types. You might need to add explicit type casts.";

impl Binder<'_> {
    pub(super) fn function(&mut self, function: &ast::Function) -> BindResult<Scalar> {
        let name = parts(&function.name);
        let ident = match name.as_deref() {
            Some([ident]) => ident,
            Some([schema, ident]) if fold(schema) == "pg_catalog" => ident,
            Some(idents) => return self.function_of_schema(idents, function),
            None => return self.unsupported("a computed name of a function"),
        };
        let span = self.span(ident.span);
        if function.null_treatment.is_some() {
            return self.unsupported("IGNORE NULLS and RESPECT NULLS");
        }
        let name = fold(ident);
        let list = match &function.args {
            ast::FunctionArguments::List(list) => list,
            ast::FunctionArguments::None => {
                return match self.session_value(&name, span)? {
                    Some(value) => Ok(value),
                    None => self.unsupported(format!("{name} without parentheses")),
                };
            }
            ast::FunctionArguments::Subquery(query) => {
                return match name.as_str() {
                    "array" => self.array_subquery(query),
                    _ => self.error(BindErrorKind::Syntax { message: "syntax error at or near \"SELECT\"" }, span),
                };
            }
        };
        self.listed_call(ident, function, list)
    }

    /// Binds a call with a list of arguments.
    fn listed_call(
        &mut self,
        ident: &ast::Ident,
        function: &ast::Function,
        list: &ast::FunctionArgumentList,
    ) -> BindResult<Scalar> {
        let (name, span) = (fold(ident), self.span(ident.span));
        if function.over.is_none()
            && ident.quote_style.is_none()
            && let Some(value) = self.reserved_call(&name, list, span)?
        {
            return Ok(value);
        }
        let has_names = list.args.iter().any(|arg| matches!(arg, ast::FunctionArg::Named { .. }));
        let is_aggregate = builtins::functions_named(&name).any(|function| function.kind == FunctionKind::Aggregate);
        if has_names && (is_aggregate || function.over.is_some() || !function.within_group.is_empty()) {
            self.refuse_names(&name, list)?;
        }
        if let Some(over) = &function.over {
            if !function.within_group.is_empty() {
                return self.error(WindowError::OrderedSet { name }.into(), span);
            }
            return self.window_call(&name, function, list, over, span);
        }
        if !function.within_group.is_empty()
            && let Some(value) = self.within_group(&name, function, list, span)?
        {
            return Ok(value);
        }
        if is_aggregate {
            return self.aggregate(&name, function, list, span);
        }
        // With arguments, these are hypothetical-set aggregates.
        let is_place = matches!(name.as_str(), "rank" | "dense_rank" | "percent_rank" | "cume_dist");
        if is_place && !list.args.is_empty() {
            return self.error(AggregateError::NoWithinGroup { name }.into(), span);
        }
        self.plain_call(&name, function, list, span)
    }

    /// Binds a call of a function that is not an aggregate or does not exist.
    fn plain_call(
        &mut self,
        name: &str,
        function: &ast::Function,
        list: &ast::FunctionArgumentList,
        span: Span,
    ) -> BindResult<Scalar> {
        let has_names = list.args.iter().any(|arg| matches!(arg, ast::FunctionArg::Named { .. }));
        let star = matches!(list.args.as_slice(), [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard)]);
        let mut args = match (has_names, star) {
            (true, _) => self.named_arguments(name, list)?,
            (_, true) => Vec::new(),
            _ => self.arguments(list)?,
        };
        for key in &function.within_group {
            args.push(self.scalar(&key.expr)?);
        }
        if let Some(word) = aggregate_only_keyword(function, list) {
            // The error of an undefined function comes first.
            self.resolve_call(name, &args, span)?;
            return self.error(AggregateError::NoAggregate { word, name: name.to_owned() }.into(), span);
        }
        self.call_named(name, args, span)
    }

    /// Binds calls of reserved words, which are not functions.
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
            "current_timestamp" | "current_time" | "localtime" | "localtimestamp" => {
                return self.session_time_with_precision(name, list, span).map(Some);
            }
            "current_schema" if list.args.is_empty() => return self.session_value(name, span),
            _ => return Ok(None),
        };
        let sets = self.sets_so_far();
        let args = self.arguments(list)?;
        if pick == "COALESCE" {
            self.refuse_sets(sets, pick)?;
        }
        if args.is_empty() {
            return self.error(BindErrorKind::Syntax { message: "syntax error at or near \")\"" }, span);
        }
        self.pick(pick, args).map(Some)
    }

    /// Binds `current_timestamp(3)`.
    fn session_time_with_precision(
        &mut self,
        name: &str,
        list: &ast::FunctionArgumentList,
        span: Span,
    ) -> BindResult<Scalar> {
        let args = self.arguments(list)?;
        let digits = match args.as_slice() {
            [Scalar { kind: Kind::Const(Datum::Int4(digits @ 0..=6)), .. }] => *digits,
            _ => return self.unsupported("a time of more than six digits of a second"),
        };
        let Some(moment) = self.session_value(name, span)? else {
            return Err(self.internal("a word of the session without a value"));
        };
        let ty = Ty { typmod: digits, ..moment.ty };
        self.coerce(moment, ty, CastContext::Explicit)
    }

    pub(crate) fn arguments(&mut self, list: &ast::FunctionArgumentList) -> BindResult<Vec<Scalar>> {
        let mut args = Vec::with_capacity(list.args.len());
        for arg in &list.args {
            let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) = arg else {
                return self.no_argument(arg);
            };
            args.push(self.scalar(expr)?);
        }
        Ok(args)
    }

    /// Returns the error for an argument that is not a value.
    fn no_argument<T>(&self, arg: &ast::FunctionArg) -> BindResult<T> {
        let message = match arg {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::QualifiedWildcard(name)) => {
                let place = name.0.first().and_then(ast::ObjectNamePart::as_ident).map(|ident| self.span(ident.span));
                return self.unsupported_at("a whole row as a value", place.unwrap_or_default());
            }
            ast::FunctionArg::Unnamed(_) => "syntax error at or near \"*\"",
            _ => "syntax error at or near \"=>\"",
        };
        self.error(BindErrorKind::Syntax { message }, Span::default())
    }

    /// Binds a call of the function of that name with bound arguments.
    pub(crate) fn call_named(&mut self, name: &str, args: Vec<Scalar>, span: Span) -> BindResult<Scalar> {
        if let Some(function) = self.relations.own_function(name) {
            return self.own_call(function, args, span);
        }
        if let Some(form) = phoenix_form(name, &args) {
            return self.phoenix_call(form, name, args, span);
        }
        let args = with_size_as_array(name, args);
        let call = match self.resolve_call(name, &args, span)? {
            Resolved::Call(call) => call,
            Resolved::Cast(to) => {
                let Some(arg) = args.into_iter().next() else { return Err(self.internal("a cast without an operand")) };
                return self.coerce(arg, to, CastContext::Explicit);
            }
        };
        match call.function.kind {
            FunctionKind::Scalar => {}
            FunctionKind::Window => return self.error(WindowError::NoOver { name: name.to_owned() }.into(), span),
            _ => return Err(self.internal("an aggregate where functions are called")),
        }
        if call.function.returns_set {
            return self.set_returning_call(&call, args, span);
        }
        self.note_call(call.function.id);
        let (func, ty) = (call.function.id, call.returns);
        let given = args.len();
        let mut args = self.call_arguments(&call, args)?;
        for at in given..given + call.defaults {
            args.push(self.default_argument(call.function, at)?);
        }
        let span = args.iter().fold(span, |all, arg| all.with(arg.span));
        let ty = with_result_digits(func, &args, ty);
        Ok(Scalar { kind: Kind::Call { func, args }, ty, span })
    }

    /// Binds a call in a form that only Phoenix has.
    fn phoenix_call(&mut self, form: PhoenixForm, name: &str, given: Vec<Scalar>, span: Span) -> BindResult<Scalar> {
        let types: Vec<Ty> = given.iter().map(|arg| arg.ty).collect();
        let (wanted, returns): (&[TypeId], TypeId) = match form {
            PhoenixForm::EncodeBase62 => (&[TypeId::INT8, TypeId::TEXT], TypeId::TEXT),
            _ => (&[TypeId::TIMESTAMP, TypeId::TEXT, TypeId::INT4], TypeId::TIMESTAMP),
        };
        let most = wanted.len();
        let mut args = Vec::with_capacity(given.len());
        for (arg, wanted) in given.into_iter().zip(wanted) {
            args.extend(self.try_coerce(arg, Ty::plain(*wanted), CastContext::Implicit)?);
        }
        if types.len() > most || args.len() < types.len() {
            let args = types.into_iter().map(name_of).collect();
            let kind = BindErrorKind::UndefinedFunction { name: name.to_owned(), args };
            return Err(BindError::new(kind, span).with_hint(NO_MATCH));
        }
        Ok(Scalar { kind: Kind::Phoenix { form, args }, ty: Ty::plain(returns), span })
    }

    /// Binds a call of a function of the embedding program, which has no overloads.
    fn own_call(&mut self, function: Arc<OwnFunction>, given: Vec<Scalar>, span: Span) -> BindResult<Scalar> {
        let undefined = |types: Vec<Ty>| {
            let (name, args) = (function.name.clone(), types.into_iter().map(name_of).collect());
            BindError::new(BindErrorKind::UndefinedFunction { name, args }, span).with_hint(NO_MATCH)
        };
        let types: Vec<Ty> = given.iter().map(|arg| arg.ty).collect();
        if types.len() != function.args.len() {
            return Err(undefined(types));
        }
        let mut args = Vec::with_capacity(given.len());
        for (arg, wanted) in given.into_iter().zip(&function.args) {
            match self.try_coerce(arg, *wanted, CastContext::Implicit)? {
                Some(arg) => args.push(arg),
                None => return Err(undefined(types)),
            }
        }
        if function.volatile {
            self.facts.volatility = Volatility::Volatile;
            self.facts.session_bound = true;
        }
        self.needs.own_functions = true;
        let (ty, span) = (function.returns, args.iter().fold(span, |all, arg| all.with(arg.span)));
        Ok(Scalar { kind: Kind::Own { function, args }, ty, span })
    }

    pub(crate) fn resolve_call(&self, name: &str, args: &[Scalar], span: Span) -> BindResult<Resolved> {
        let types: Vec<Ty> = args.iter().map(|arg| arg.ty).collect();
        let wrong = |failure| {
            let (name, args) = (name.to_owned(), types.iter().map(|ty| name_of(*ty)).collect());
            match failure {
                Failure::Ambiguous => BindError::new(BindErrorKind::AmbiguousFunction { name, args }, span).with_hint(
                    "Could not choose a best candidate function. You might need to add explicit type casts.",
                ),
                Failure::None => match self.relations.hint_for_missing(&name) {
                    Some(hint) if builtins::functions_named(&name).next().is_none() => {
                        let feature = format!("function {name}()").into();
                        BindError::new(BindErrorKind::Unsupported { feature }, span).with_hint(hint)
                    }
                    _ => BindError::new(BindErrorKind::UndefinedFunction { name, args }, span).with_hint(NO_MATCH),
                },
                Failure::Undetermined if types.iter().any(|ty| ty.id == TypeId::RECORD) => {
                    let feature = format!("a row as an argument of {name}()").into();
                    BindError::new(BindErrorKind::Unsupported { feature }, span)
                }
                Failure::Undetermined => BindError::new(BindErrorKind::UndeterminedType, span),
            }
        };
        resolve::function(name, &types, false).map_err(wrong)
    }

    /// Casts the arguments to the types of the function. An argument of type `any` takes an untyped literal as text.
    pub(crate) fn call_arguments(&mut self, call: &FunctionCall, args: Vec<Scalar>) -> BindResult<Vec<Scalar>> {
        let mut cast = Vec::with_capacity(args.len());
        for (arg, wanted) in args.into_iter().zip(&call.args) {
            cast.push(match wanted.id {
                // `pg_typeof` reports the type unknown.
                TypeId::ANY if call.function.name == "pg_typeof" => arg,
                TypeId::ANY if arg.ty.id == TypeId::RECORD => self.row_argument(call.function.name, arg)?,
                TypeId::ANY => self.output_type(arg)?,
                _ => self.coerce(arg, *wanted, CastContext::Implicit)?,
            });
        }
        Ok(cast)
    }
}

/// Returns a keyword of the call that only aggregates allow.
fn aggregate_only_keyword(function: &ast::Function, list: &ast::FunctionArgumentList) -> Option<&'static str> {
    let sorted = list.clauses.iter().any(|clause| matches!(clause, ast::FunctionArgumentClause::OrderBy(_)));
    let distinct = matches!(list.duplicate_treatment, Some(ast::DuplicateTreatment::Distinct));
    let all = [
        (distinct, "DISTINCT"),
        (!function.within_group.is_empty(), "WITHIN GROUP"),
        (sorted, "ORDER BY"),
        (function.filter.is_some(), "FILTER"),
    ];
    all.into_iter().find(|(is_there, _)| *is_there).map(|(_, word)| word)
}

/// Phoenix's `array_fill(v, 3)` is `array_fill(v, ARRAY[3])`.
fn with_size_as_array(name: &str, mut args: Vec<Scalar>) -> Vec<Scalar> {
    if name == "array_fill"
        && let [_, size] = args.as_mut_slice()
        && size.ty.id == TypeId::INT4
    {
        let none = Scalar { kind: Kind::Const(Datum::Null), ty: size.ty, span: size.span };
        let (ty, span) = (Ty::plain(TypeId::INT4_ARRAY), size.span);
        *size = Scalar { kind: Kind::Array(vec![std::mem::replace(size, none)]), ty, span };
    }
    args
}

/// Returns the form of a call that only Phoenix has: `round(t, 'HOUR')`, `encode(n, 'BASE62')`.
fn phoenix_form(name: &str, args: &[Scalar]) -> Option<PhoenixForm> {
    let Some(Kind::Const(Datum::Text(word))) = args.get(1).map(|arg| &arg.kind) else { return None };
    let is_unit = word.starts_with(|letter: char| letter.is_ascii_alphabetic());
    match name {
        "round" if is_unit => Some(PhoenixForm::RoundToUnit),
        "ceil" if is_unit => Some(PhoenixForm::CeilToUnit),
        "floor" | "trunc" if is_unit => Some(PhoenixForm::FloorToUnit),
        "encode" if word.eq_ignore_ascii_case("base62") => Some(PhoenixForm::EncodeBase62),
        _ => None,
    }
}
