//! Aggregate calls. Each becomes a column of the grouping of the query that it belongs to: the innermost query whose
//! columns its arguments reference, which may be one around the query that contains the call.

use crate::binder::Binder;
use crate::call_error::AggregateError;
use crate::clause::Clause;
use crate::coerce::name_of;
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::same::same;
use crate::select::PendingAggregate;
use crate::tree::{CastContext, ColId, ColInfo, ColRef, Kind, Rel, Scalar, Span};
use builtins::resolve::Resolved;
use builtins::{Kind as FunctionKind, Ty, TypeId, digits};
use sql::ast;
use std::collections::BTreeMap;

/// The columns that each enclosing subquery had read before a call was bound.
pub(super) type Read = Vec<BTreeMap<ColId, u8>>;

/// Arguments, FILTER and ORDER BY of a call.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) args: Vec<Scalar>,
    pub(super) filter: Option<Scalar>,
    /// Value, descending, NULLs first.
    pub(super) order: Vec<(Scalar, bool, bool)>,
}

impl Parts {
    fn values(&self) -> impl Iterator<Item = &Scalar> {
        self.args.iter().chain(&self.filter).chain(self.order.iter().map(|(value, ..)| value))
    }

    fn values_mut(&mut self) -> impl Iterator<Item = &mut Scalar> {
        self.args.iter_mut().chain(&mut self.filter).chain(self.order.iter_mut().map(|(value, ..)| value))
    }
}

impl Binder<'_> {
    /// Binds `sum(x)`, `percentile_disc(0.5) WITHIN GROUP (ORDER BY x)`.
    pub(super) fn aggregate(
        &mut self,
        name: &str,
        function: &ast::Function,
        list: &ast::FunctionArgumentList,
        span: Span,
    ) -> BindResult<Scalar> {
        let star = matches!(list.args.as_slice(), [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard)]);
        let within_group = !function.within_group.is_empty();
        let distinct = matches!(list.duplicate_treatment, Some(ast::DuplicateTreatment::Distinct));
        if star && list.duplicate_treatment.is_some() {
            return self.error(BindErrorKind::Syntax { message: "syntax error at or near \"*\"" }, span);
        }
        if name == "count" && list.args.is_empty() && !within_group {
            return self.error(AggregateError::NoStar { name: name.to_owned() }.into(), span);
        }
        let read = self.read_so_far();
        let parts = self.aggregate_operands(function, list, star)?;
        // Phoenix's names of aggregates with DISTINCT.
        let (name, distinct) = match name {
            "distinct_count" | "approx_count_distinct" => ("count", true),
            "collectdistinct" => ("array_agg", true),
            name => (name, distinct),
        };
        self.aggregate_of(name, parts, (distinct, within_group), read, span)
    }

    /// Binds arguments, FILTER and ORDER BY of a call.
    pub(super) fn aggregate_operands(
        &mut self,
        function: &ast::Function,
        list: &ast::FunctionArgumentList,
        star: bool,
    ) -> BindResult<Parts> {
        let before = std::mem::replace(&mut self.scope().in_aggregate, true);
        let bound = self.aggregate_parts(function, list, star);
        self.scope().in_aggregate = before;
        bound
    }

    /// Resolves the aggregate for bound operands; `read` is what subqueries had read before these were bound.
    pub(super) fn aggregate_of(
        &mut self,
        name: &str,
        mut parts: Parts,
        (distinct, within_group): (bool, bool),
        read: Read,
        span: Span,
    ) -> BindResult<Scalar> {
        let Resolved::Call(call) = self.resolve_call(name, &parts.args, span)? else {
            return self.error(AggregateError::NoStar { name: name.to_owned() }.into(), span);
        };
        let direct = call.function.direct;
        if direct.is_some() != within_group {
            let name = name.to_owned();
            let wrong = match within_group {
                true => AggregateError::NoOrderedSet { name },
                false => AggregateError::NoWithinGroup { name },
            };
            return self.error(wrong.into(), span);
        }
        if let Some(wanted) = direct {
            self.check_direct(name, &parts, wanted, span)?;
        }
        if call.function.kind != FunctionKind::Aggregate || call.defaults > 0 || call.variadic.is_some() {
            return Err(self.internal("an aggregate with defaults or variadic arguments"));
        }
        self.note_call(call.function.id);
        parts.args = self.call_arguments(&call, parts.args)?;
        if distinct {
            for arg in &parts.args {
                let fields = match &arg.kind {
                    Kind::Row(fields) => fields.as_slice(),
                    _ => std::slice::from_ref(arg),
                };
                for field in fields {
                    self.equality(field.ty, field.span)?;
                }
            }
        }
        let in_list = |value: &Scalar| parts.args.iter().any(|arg| same(stripped(arg), value));
        if distinct && !parts.order.iter().all(|(value, ..)| in_list(value)) {
            return self.error(AggregateError::DistinctOrder.into(), span);
        }
        let level = self.level_of_aggregate(&parts)?;
        self.check_place(level, span)?;
        self.refuse_nested(level, &parts)?;
        if level > 0 {
            self.move_to_outer_query(level, &mut parts, read)?;
        }
        let direct = self.direct_arguments(direct, &mut parts)?;
        let digits = match (call.returns.id, within_group) {
            (TypeId::NUMERIC, true) => parts.args.first().and_then(|arg| arg.ty.digits),
            (TypeId::NUMERIC, false) => {
                digits::of_aggregate(call.function.name, parts.args.first().map(|arg| &arg.ty), distinct)
            }
            _ => None,
        };
        let (func, ty) = (call.function.id, Ty { digits, ..call.returns });
        let Parts { args, filter, order } = parts;
        let pending = PendingAggregate { col: None, func, args, direct, distinct, filter, order, ty };
        self.column_of_aggregate(name, pending, level, span)
    }

    /// Checks the number of direct arguments in front of WITHIN GROUP.
    fn check_direct(&self, name: &str, parts: &Parts, wanted: usize, span: Span) -> BindResult<()> {
        let given = parts.args.len().saturating_sub(parts.order.len());
        if given == wanted {
            return Ok(());
        }
        let args = parts.args.iter().map(|arg| name_of(arg.ty)).collect();
        let kind = BindErrorKind::UndefinedFunction { name: name.to_owned(), args };
        let plural = if wanted == 1 { "" } else { "s" };
        let hint = format!(
            "There is an ordered-set aggregate {name}, but it requires {wanted} direct argument{plural}, not {given}."
        );
        Err(BindError::new(kind, span).with_hint(hint))
    }

    fn aggregate_parts(
        &mut self,
        function: &ast::Function,
        list: &ast::FunctionArgumentList,
        star: bool,
    ) -> BindResult<Parts> {
        let mut args = if star { Vec::new() } else { self.arguments(list)? };
        let condition =
            |binder: &mut Self, filter| binder.in_clause(Clause::Filter, |binder| binder.boolean(filter, "FILTER"));
        let filter = function.filter.as_ref().map(|filter| condition(self, filter)).transpose()?;
        let mut order = Vec::new();
        for clause in &list.clauses {
            let ast::FunctionArgumentClause::OrderBy(keys) = clause else {
                return self.unsupported(format!("{clause} in a call of an aggregate"));
            };
            order.extend(self.aggregate_order(keys)?);
        }
        if !function.within_group.is_empty() {
            if !order.is_empty() {
                return self.error(AggregateError::TwoOrders.into(), Span::default());
            }
            order = self.aggregate_order(&function.within_group)?;
            args.extend(order.iter().map(|(value, ..)| value.clone()));
        }
        Ok(Parts { args, filter, order })
    }

    fn aggregate_order(&mut self, keys: &[ast::OrderByExpr]) -> BindResult<Vec<(Scalar, bool, bool)>> {
        let mut order = Vec::with_capacity(keys.len());
        for key in keys {
            let value = self.scalar(&key.expr)?;
            let value = self.output_type(value)?;
            self.ordering(value.ty, value.span)?;
            let descending = key.options.asc == Some(false);
            order.push((value, descending, key.options.nulls_first.unwrap_or(descending)));
        }
        Ok(order)
    }

    /// Splits the direct arguments from those of WITHIN GROUP, by which rows are sorted.
    fn direct_arguments(&self, direct: Option<usize>, parts: &mut Parts) -> BindResult<Vec<Scalar>> {
        let Some(count) = direct else { return Ok(Vec::new()) };
        let sorted = parts.args.split_off(count.min(parts.args.len()));
        let direct = std::mem::replace(&mut parts.args, sorted);
        let ([arg], [(by, ..)]) = (parts.args.as_slice(), parts.order.as_mut_slice()) else {
            return Err(self.internal("an aggregate over several sorted columns"));
        };
        // Rows are sorted by the value cast to the aggregate's argument type.
        *by = arg.clone();
        Ok(direct)
    }

    /// Returns how many levels out the query is that the aggregate belongs to.
    fn level_of_aggregate(&self, parts: &Parts) -> BindResult<u8> {
        let mut lowest = None;
        parts.values().for_each(|value| lowest_level(value, &mut lowest));
        Ok(lowest.unwrap_or(0))
    }

    /// Checks that the clause with the call, in the query that the aggregate belongs to, allows an aggregate.
    fn check_place(&self, level: u8, span: Span) -> BindResult<()> {
        let at = self.scopes.len().checked_sub(usize::from(level) + 1);
        let Some(scope) = at.and_then(|at| self.scopes.get(at)) else {
            return Err(self.internal("an aggregate of no query"));
        };
        match scope.clause {
            Clause::SelectList | Clause::Having | Clause::OrderBy | Clause::DistinctOn | Clause::WindowDefinition
                if scope.in_aggregate =>
            {
                self.error(BindErrorKind::NestedAggregate, span)
            }
            Clause::SelectList | Clause::Having | Clause::OrderBy | Clause::DistinctOn | Clause::WindowDefinition => {
                Ok(())
            }
            clause => self.error(BindErrorKind::AggregateNotAllowed { clause }, span),
        }
    }

    /// Refuses operands that read an aggregate of the query that the call belongs to.
    fn refuse_nested(&self, level: u8, parts: &Parts) -> BindResult<()> {
        let owner = self.scopes.len().checked_sub(usize::from(level) + 1).and_then(|at| self.scopes.get(at));
        let own = owner.map_or(&[][..], |scope| &scope.aggregates);
        let is_own = |id: ColId| own.iter().any(|aggregate| aggregate.col == Some(id));
        match parts.values().find_map(|value| reading(value, &is_own)) {
            Some(span) => self.error(BindErrorKind::NestedAggregate, span),
            None => Ok(()),
        }
    }

    pub(super) fn read_so_far(&self) -> Read {
        self.boundaries.iter().map(|boundary| boundary.free.clone()).collect()
    }

    /// Moves the operands to a query further out: subqueries below that query do not read columns that only the
    /// operands reference.
    fn move_to_outer_query(&mut self, level: u8, parts: &mut Parts, read: Read) -> BindResult<()> {
        parts.values_mut().for_each(|value| nearer(value, level));
        let owner = self.scopes.len() - 1 - usize::from(level);
        for (boundary, before) in self.boundaries.iter_mut().zip(read) {
            if boundary.depth > owner {
                boundary.free = before;
            }
        }
        Ok(())
    }

    /// Returns the column of the aggregate in the grouping of its query.
    fn column_of_aggregate(
        &mut self,
        name: &str,
        mut pending: PendingAggregate,
        level: u8,
        span: Span,
    ) -> BindResult<Scalar> {
        let ty = pending.ty;
        let owner = self.scopes.len().saturating_sub(usize::from(level) + 1);
        let known = self.scopes.get(owner).map_or(&[][..], |scope| &scope.aggregates);
        let alike = known.iter().find(|other| other.same_as(&pending)).and_then(|other| other.col);
        let id = match alike {
            Some(id) => id,
            None => {
                let id = self.new_col(ColInfo { name: name.to_owned(), ty, nullable: true, origin: None })?;
                pending.col = Some(id);
                if let Some(scope) = self.scopes.get_mut(owner) {
                    scope.aggregates.push(pending);
                }
                id
            }
        };
        self.note_read(owner, id);
        Ok(Scalar { kind: Kind::Col(ColRef { id, level }), ty, span })
    }
}

/// Returns where a value, or a subquery in it, reads one of these columns.
fn reading(value: &Scalar, is_meant: &dyn Fn(ColId) -> bool) -> Option<Span> {
    match &value.kind {
        Kind::Col(col) if is_meant(col.id) => return Some(value.span),
        Kind::Subquery(subquery) if subquery.free.iter().any(|col| is_meant(col.id)) => {
            return Some(reading_in(&subquery.rel, is_meant).unwrap_or(value.span));
        }
        _ => {}
    }
    let mut found = None;
    value.each_operand(&mut |operand| found = found.or_else(|| reading(operand, is_meant)));
    found
}

fn reading_in(rel: &Rel, is_meant: &dyn Fn(ColId) -> bool) -> Option<Span> {
    let mut found = None;
    rel.each_scalar(&mut |value| found = found.or_else(|| reading(value, is_meant)));
    rel.each_input(&mut |input| found = found.or_else(|| reading_in(input, is_meant)));
    found
}

/// Returns the argument without implicit casts.
fn stripped(value: &Scalar) -> &Scalar {
    match &value.kind {
        Kind::Cast { arg, context: CastContext::Implicit, .. } => stripped(arg),
        _ => value,
    }
}

/// Finds the innermost query whose columns a value reads, by level.
fn lowest_level(value: &Scalar, lowest: &mut Option<u8>) {
    let mut note = |level: u8| *lowest = Some(lowest.map_or(level, |known: u8| known.min(level)));
    match &value.kind {
        Kind::Col(col) => note(col.level),
        Kind::Subquery(subquery) => subquery.free.iter().for_each(|col| note(col.level)),
        _ => {}
    }
    value.each_operand(&mut |operand| lowest_level(operand, lowest));
}

/// Adjusts the levels of a value to a query `levels` further out. Within its subqueries only outer columns change.
fn nearer(value: &mut Scalar, levels: u8) {
    match &mut value.kind {
        Kind::Col(col) => col.level = col.level.saturating_sub(levels),
        Kind::Subquery(subquery) => {
            let free: Vec<ColId> = subquery.free.iter().map(|col| col.id).collect();
            subquery.free.iter_mut().for_each(|col| col.level = col.level.saturating_sub(levels));
            shift_levels_in_rel(&mut subquery.rel, &free, levels);
        }
        _ => {}
    }
    value.each_operand_mut(&mut |operand| nearer(operand, levels));
}

fn shift_levels_in_rel(rel: &mut Rel, free: &[ColId], levels: u8) {
    rel.each_scalar_mut(&mut |value| shift_levels_if_outer(value, free, levels));
    rel.each_input_mut(&mut |input| shift_levels_in_rel(input, free, levels));
}

fn shift_levels_if_outer(value: &mut Scalar, free: &[ColId], levels: u8) {
    let is_free = |col: &ColRef| free.contains(&col.id);
    match &mut value.kind {
        Kind::Col(col) if is_free(col) => col.level = col.level.saturating_sub(levels),
        Kind::Subquery(subquery) => {
            let outer = subquery.free.iter_mut().filter(|col| is_free(col));
            outer.for_each(|col| col.level = col.level.saturating_sub(levels));
            shift_levels_in_rel(&mut subquery.rel, free, levels);
        }
        _ => {}
    }
    value.each_operand_mut(&mut |operand| shift_levels_if_outer(operand, free, levels));
}
