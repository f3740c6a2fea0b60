//! Calls of functions and aggregates, and what only looks like a call.

use super::condition::reads_columns;
use super::operator::with_form;
use crate::binder::Binder;
use crate::coerce::name_of;
use crate::error::{BindError, BindErrorKind, BindResult, Clause};
use crate::name::{fold, parts};
use crate::select::PendingAggregate;
use crate::tree::{CastContext, ColInfo, ColRef, Kind, Scalar, Span};
use builtins::resolve::{self, Failure, FunctionCall, Resolved};
use builtins::{Kind as FunctionKind, Ty, TypeId, digits};
use sql::ast;

impl Binder<'_> {
    pub(super) fn function(&mut self, function: &ast::Function) -> BindResult<Scalar> {
        let name = parts(&function.name);
        let Some([ident]) = name.as_deref() else { return Err(self.not_built("a function with a schema")) };
        // What the parser has put in place of something else stands nowhere.
        let span = self.span(ident.span);
        if span.is_empty() && self.view_depth == 0 {
            return Err(self.not_built("a cast to a name of the catalog"));
        }
        if !function.within_group.is_empty() || function.null_treatment.is_some() {
            return Err(self.not_built("WITHIN GROUP and IGNORE NULLS"));
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
            return self.window_call(&name, function, list, over, span);
        }
        if builtins::functions_named(&name).any(|function| function.kind == FunctionKind::Aggregate) {
            return self.aggregate(&name, function, list, span);
        }
        if list.duplicate_treatment.is_some() || function.filter.is_some() || !list.clauses.is_empty() {
            return Err(self.not_built("DISTINCT, FILTER or ORDER BY in a call of a function"));
        }
        let args = self.arguments(list)?;
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
            "grouping" | "row" => return Err(self.not_built("GROUPING and ROW of one value")),
            "current_timestamp" | "localtime" | "localtimestamp" | "current_time" => {
                return Err(self.not_built("a time of fewer digits"));
            }
            "current_schema" if list.args.is_empty() => return self.session_value(name, span),
            _ => return Ok(None),
        };
        let args = self.arguments(list)?;
        if args.is_empty() {
            return Err(self.not_built("no arguments"));
        }
        self.pick(pick, args).map(Some)
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
        if call.defaults > 0 {
            return Err(self.not_built("a function with defaults of arguments"));
        }
        self.note_call(call.function.id);
        let (func, ty) = (call.function.id, call.returns);
        let args = self.call_arguments(&call, args)?;
        let span = args.iter().fold(span, |all, arg| all.with(arg.span));
        let ty = with_form(func, &args, ty);
        Ok(Scalar { kind: Kind::Call { func, args }, ty, span })
    }

    pub(crate) fn resolve_call(&self, name: &str, args: &[Scalar], span: Span) -> BindResult<Resolved> {
        let types: Vec<Ty> = args.iter().map(|arg| arg.ty).collect();
        let wrong = |failure| {
            let (name, args) = (name.to_owned(), types.iter().map(|ty| name_of(*ty)).collect());
            match failure {
                Failure::Ambiguous => BindError::new(BindErrorKind::AmbiguousFunction { name, args }, span).with_hint(
                    "Could not choose a best candidate function. You might need to add explicit type casts.",
                ),
                // The table does not have all overloads yet that the statement may mean.
                Failure::None => self.not_built("a function that the table does not have"),
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

    /// An aggregate becomes a column of its query's grouping.
    fn aggregate(
        &mut self,
        name: &str,
        function: &ast::Function,
        list: &ast::FunctionArgumentList,
        span: Span,
    ) -> BindResult<Scalar> {
        self.check_aggregate(span)?;
        let star = matches!(list.args.as_slice(), [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard)]);
        // The one is a syntax error, the other says that a star is missing.
        if star && list.duplicate_treatment.is_some() || list.args.is_empty() {
            return Err(self.not_built("this call of an aggregate"));
        }
        let before = std::mem::replace(&mut self.scope().in_aggregate, true);
        let bound = self.aggregate_parts(function, list, star);
        self.scope().in_aggregate = before;
        let (args, filter, order) = bound?;
        let Resolved::Call(call) = self.resolve_call(name, &args, span)? else {
            return Err(self.not_built("this aggregate"));
        };
        if call.function.kind != FunctionKind::Aggregate || call.function.direct.is_some() || call.defaults > 0 {
            return Err(self.not_built("this kind of aggregate"));
        }
        if call.variadic.is_some() {
            return Err(self.not_built("a variadic aggregate"));
        }
        self.note_call(call.function.id);
        let args = self.call_arguments(&call, args)?;
        let distinct = matches!(list.duplicate_treatment, Some(ast::DuplicateTreatment::Distinct));
        if distinct {
            for arg in &args {
                self.equality(arg.ty, arg.span)?;
            }
        }
        let digits = match call.returns.id {
            TypeId::NUMERIC => digits::of_aggregate(call.function.name, args.first().map(|arg| &arg.ty), distinct),
            _ => None,
        };
        let (func, ty) = (call.function.id, Ty { digits, ..call.returns });
        let pending = PendingAggregate { col: None, func, args, distinct, filter, order, ty };
        self.own_aggregate(name, pending, span)
    }

    /// May there be an aggregate here?
    fn check_aggregate(&mut self, span: Span) -> BindResult<()> {
        let scope = self.scope();
        let (clause, nested) = (scope.clause, scope.in_aggregate);
        if self.scope().in_window && self.scope().in_aggregate {
            return Err(self.not_built("an aggregate within an aggregate over a window"));
        }
        if nested {
            return self.error(BindErrorKind::NestedAggregate, span);
        }
        match clause {
            Clause::SelectList | Clause::Having | Clause::OrderBy | Clause::DistinctOn => Ok(()),
            // It could be that of a query around this one.
            _ if self.scopes.len() > 1 => Err(self.not_built("an aggregate of an outer query")),
            clause => self.error(BindErrorKind::AggregateNotAllowed { clause }, span),
        }
    }

    #[expect(clippy::type_complexity, reason = "arguments, FILTER and ORDER BY of one call")]
    fn aggregate_parts(
        &mut self,
        function: &ast::Function,
        list: &ast::FunctionArgumentList,
        star: bool,
    ) -> BindResult<(Vec<Scalar>, Option<Scalar>, Vec<(Scalar, bool, bool)>)> {
        let args = if star { Vec::new() } else { self.arguments(list)? };
        let filter = function.filter.as_ref().map(|filter| self.boolean(filter, "FILTER")).transpose()?;
        let mut order = Vec::new();
        for clause in &list.clauses {
            let ast::FunctionArgumentClause::OrderBy(keys) = clause else {
                return Err(self.not_built("this clause of an aggregate"));
            };
            for key in keys {
                let value = self.scalar(&key.expr)?;
                let value = self.output_type(value)?;
                self.ordering(value.ty, value.span)?;
                let descending = key.options.asc == Some(false);
                order.push((value, descending, key.options.nulls_first.unwrap_or(descending)));
            }
        }
        Ok((args, filter, order))
    }

    /// The aggregate belongs to the innermost query whose columns it reads; only this query's are built.
    fn own_aggregate(&mut self, name: &str, mut pending: PendingAggregate, span: Span) -> BindResult<Scalar> {
        let values = || pending.args.iter().chain(&pending.filter).chain(pending.order.iter().map(|(value, ..)| value));
        let (any, own) = (values().any(reads_columns), values().any(|value| reads_level(value, 0)));
        if any && !own {
            return Err(self.not_built("an aggregate of an outer query"));
        }
        let ty = pending.ty;
        let alike = self.scope().aggregates.iter().find(|other| other.same_as(&pending)).and_then(|other| other.col);
        let id = match alike {
            Some(id) => id,
            None => {
                let id = self.new_col(ColInfo { name: name.to_owned(), ty, nullable: true, origin: None })?;
                pending.col = Some(id);
                self.scope().aggregates.push(pending);
                id
            }
        };
        Ok(Scalar { kind: Kind::Col(ColRef { id, level: 0 }), ty, span })
    }
}

/// Does it read a column of the query that is `level` levels out?
fn reads_level(value: &Scalar, level: u8) -> bool {
    let mut found = match &value.kind {
        Kind::Col(col) => col.level == level,
        Kind::Subquery(subquery) => subquery.free.iter().any(|col| col.level == level),
        _ => false,
    };
    value.each_operand(&mut |operand| found = found || reads_level(operand, level));
    found
}
