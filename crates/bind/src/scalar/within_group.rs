//! WITHIN GROUP calls that are rewritten to plain aggregates.
//!
//! ```text
//!   rank(v) WITHIN GROUP (ORDER BY x)           1 + count(*) FILTER (WHERE x comes before v)
//!   dense_rank                                  1 + count(DISTINCT x) FILTER (WHERE x comes before v)
//!   percent_rank                                count(*) FILTER (WHERE x comes before v) / count(*), and 0 of no rows
//!   cume_dist                                   (1 + count(*) FILTER (WHERE x comes before v or is equal)) / (1 + count(*))
//!   first_value(x) WITHIN GROUP (ORDER BY y)    (array_agg(x ORDER BY y) FILTER (WHERE x IS NOT NULL))[1], Phoenix's
//! ```

use super::aggregate::{Parts, Read};
use crate::binder::{Binder, plain};
use crate::coerce::name_of;
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::tree::{CastContext, Kind, Scalar, Span};
use builtins::{Ty, TypeId};
use sql::ast;
use types::Datum;

/// A call whose operands are bound.
struct Call<'c> {
    name: &'c str,
    /// FILTER of the call.
    filter: Option<Scalar>,
    read: Read,
    span: Span,
}

impl Binder<'_> {
    /// Rewrites the call to other aggregates; `None` for an aggregate that is not rewritten.
    pub(super) fn within_group(
        &mut self,
        name: &str,
        function: &ast::Function,
        list: &ast::FunctionArgumentList,
        span: Span,
    ) -> BindResult<Option<Scalar>> {
        let is_place = matches!(name, "rank" | "dense_rank" | "percent_rank" | "cume_dist");
        let is_pick = matches!(name, "first_value" | "last_value" | "nth_value" | "first_values" | "last_values");
        if !is_place && !is_pick {
            return Ok(None);
        }
        let read = self.read_so_far();
        let mut parts = self.aggregate_operands(function, list, false)?;
        let direct: Vec<Scalar> = parts.args.drain(..list.args.len().min(parts.args.len())).collect();
        let call = Call { name, filter: parts.filter, read, span };
        match is_place {
            true => self.place(&call, direct, &parts.order).map(Some),
            false => self.phoenix_value_of_group(&call, direct, parts.order).map(Some),
        }
    }

    /// Binds a hypothetical-set aggregate.
    fn place(&mut self, call: &Call<'_>, direct: Vec<Scalar>, order: &[(Scalar, bool, bool)]) -> BindResult<Scalar> {
        if direct.len() != order.len() {
            let args = direct.iter().chain(order.iter().map(|(value, ..)| value)).map(|value| name_of(value.ty));
            let kind = BindErrorKind::UndefinedFunction { name: call.name.to_owned(), args: args.collect() };
            let hint = format!(
                "To use the hypothetical-set aggregate {}, the number of hypothetical direct arguments (here {}) must \
                 match the number of ordering columns (here {}).",
                call.name,
                direct.len(),
                order.len()
            );
            return Err(BindError::new(kind, call.span).with_hint(hint));
        }
        let span = call.span;
        let before = self.comes_before(order, &direct, false)?;
        self.scope().direct.extend(direct.iter().cloned());
        let one = || Scalar { kind: Kind::Const(Datum::Int8(1)), ty: Ty::INT8, span };
        match (call.name, order) {
            ("rank", _) => {
                let count = self.counted(call, Some(before))?;
                self.operator("+", Some(one()), count, span)
            }
            ("dense_rank", [(value, ..)]) => self.dense_rank(call, value.clone(), before),
            ("dense_rank", _) => {
                let feature = "dense_rank() WITHIN GROUP of several columns".into();
                self.error(BindErrorKind::Unsupported { feature }, span)
            }
            ("percent_rank", _) => {
                let (count, all) = (self.counted(call, Some(before))?, self.counted(call, None)?);
                let zero = Scalar { kind: Kind::Const(Datum::Int8(0)), ty: Ty::INT8, span };
                let none = self.operator("=", Some(all.clone()), zero, span)?;
                let share = self.share(count, all)?;
                let zero = Scalar { kind: Kind::Const(Datum::Float8(0.0)), ty: share.ty, span };
                Ok(chosen(none, zero, share))
            }
            _ => {
                let upto = self.comes_before(order, &direct, true)?;
                let (count, all) = (self.counted(call, Some(upto))?, self.counted(call, None)?);
                let count = self.operator("+", Some(one()), count, span)?;
                let all = self.operator("+", Some(one()), all, span)?;
                self.share(count, all)
            }
        }
    }

    /// NULL counts as one distinct value, which `count` ignores.
    fn dense_rank(&mut self, call: &Call<'_>, value: Scalar, before: Scalar) -> BindResult<Scalar> {
        let span = call.span;
        let number = |value| Scalar { kind: Kind::Const(Datum::Int8(value)), ty: Ty::INT8, span };
        let is_null = Scalar { kind: Kind::IsNull(Box::new(value.clone())), ty: Ty::BOOL, span };
        let nulls = self.counted(call, Some(both(before.clone(), is_null)))?;
        let any = self.operator(">", Some(nulls), number(0), span)?;
        let first = chosen(any, number(2), number(1));
        let filter = Some(self.filtered(call, before));
        let parts = Parts { args: vec![value], filter, order: Vec::new() };
        let count = self.aggregate_of("count", parts, (true, false), call.read.clone(), span)?;
        self.operator("+", Some(first), count, span)
    }

    /// Counts the rows of the group that satisfy a condition.
    fn counted(&mut self, call: &Call<'_>, condition: Option<Scalar>) -> BindResult<Scalar> {
        let filter = match condition {
            Some(condition) => Some(self.filtered(call, condition)),
            None => call.filter.clone(),
        };
        let parts = Parts { filter, ..Parts::default() };
        self.aggregate_of("count", parts, (false, false), call.read.clone(), call.span)
    }

    fn filtered(&self, call: &Call<'_>, condition: Scalar) -> Scalar {
        match &call.filter {
            Some(own) => both(own.clone(), condition),
            None => condition,
        }
    }

    fn share(&mut self, part: Scalar, all: Scalar) -> BindResult<Scalar> {
        let (span, double) = (part.span, plain(TypeId::FLOAT8));
        let part = self.coerce(part, double, CastContext::Explicit)?;
        let all = self.coerce(all, double, CastContext::Explicit)?;
        self.operator("/", Some(part), all, span)
    }

    /// Returns the condition that a row sorts before the values, or with `or_equal` that it is equal to them.
    fn comes_before(
        &mut self,
        order: &[(Scalar, bool, bool)],
        values: &[Scalar],
        or_equal: bool,
    ) -> BindResult<Scalar> {
        let mut rest: Option<Scalar> = None;
        for ((own, descending, nulls_first), value) in order.iter().zip(values).rev() {
            let span = own.span.with(value.span);
            let sign = if *descending { ">" } else { "<" };
            let less = self.operator(sign, Some(own.clone()), value.clone(), span)?;
            let less = self.must_be_boolean(less, "WITHIN GROUP")?;
            let null = |value: &Scalar| Scalar { kind: Kind::IsNull(Box::new(value.clone())), ty: Ty::BOOL, span };
            let not = |value: Scalar| Scalar { kind: Kind::Not(Box::new(value)), ty: Ty::BOOL, span };
            let value_typed = self.output_type(value.clone())?;
            let beside_null = match nulls_first {
                true => both(null(own), not(null(&value_typed))),
                false => both(not(null(own)), null(&value_typed)),
            };
            let before = either(less, beside_null);
            let equal = self.distinct_values(own.clone(), value.clone(), true)?;
            rest = Some(match rest {
                Some(rest) => either(before, both(equal, rest)),
                None if or_equal => either(before, equal),
                None => before,
            });
        }
        Ok(rest.unwrap_or(Scalar { kind: Kind::Const(Datum::Bool(or_equal)), ty: Ty::BOOL, span: Span::default() }))
    }

    /// Binds Phoenix's FIRST_VALUE and its variants: values of a group by their positions in an order, without NULLs.
    fn phoenix_value_of_group(
        &mut self,
        call: &Call<'_>,
        direct: Vec<Scalar>,
        mut order: Vec<(Scalar, bool, bool)>,
    ) -> BindResult<Scalar> {
        let span = call.span;
        let mut direct = direct.into_iter();
        let (value, place, more) = (direct.next(), direct.next(), direct.next());
        let takes_place = matches!(call.name, "nth_value" | "first_values" | "last_values");
        let (Some(value), None, true) = (value, more, place.is_some() == takes_place) else {
            let (name, args) = (call.name.to_owned(), Vec::new());
            return self.error(BindErrorKind::UndefinedFunction { name, args }, span);
        };
        if call.name.starts_with("last") {
            order.iter_mut().for_each(|(_, descending, nulls_first)| {
                (*descending, *nulls_first) = (!*descending, !*nulls_first);
            });
        }
        let value = self.output_type(value)?;
        let is_null = Scalar { kind: Kind::IsNull(Box::new(value.clone())), ty: Ty::BOOL, span };
        let known = Scalar { kind: Kind::Not(Box::new(is_null)), ty: Ty::BOOL, span };
        let parts = Parts { args: vec![value], filter: Some(self.filtered(call, known)), order };
        let array = Box::new(self.aggregate_of("array_agg", parts, (false, false), call.read.clone(), span)?);
        let one = Scalar { kind: Kind::Const(Datum::Int4(1)), ty: Ty::INT4, span };
        let place = match place {
            Some(place) => self.coerce(place, Ty::INT4, CastContext::Assignment)?,
            None => one.clone(),
        };
        let ty = array.ty;
        if call.name.ends_with("values") {
            return Ok(Scalar { kind: Kind::Slice { array, bounds: vec![(Some(one), Some(place))] }, ty, span });
        }
        let element = ty.element().unwrap_or(ty);
        Ok(Scalar { kind: Kind::Element { array, at: vec![place] }, ty: element, span })
    }
}

fn both(left: Scalar, right: Scalar) -> Scalar {
    let span = left.span.with(right.span);
    Scalar { kind: Kind::And(vec![left, right]), ty: Ty::BOOL, span }
}

fn either(left: Scalar, right: Scalar) -> Scalar {
    let span = left.span.with(right.span);
    Scalar { kind: Kind::Or(vec![left, right]), ty: Ty::BOOL, span }
}

fn chosen(condition: Scalar, value: Scalar, other: Scalar) -> Scalar {
    let (ty, span) = (other.ty, condition.span);
    Scalar { kind: Kind::Case { arms: vec![(condition, value)], other: Some(Box::new(other)) }, ty, span }
}
