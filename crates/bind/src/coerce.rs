//! Types of literals and parameters, and casts of operands to the type that an operation expects.

use crate::binder::{Binder, plain};
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::tree::{CastContext, CastVia, Kind, Scalar, SessionValue, Span};
use builtins::resolve::{Via, coercion, common_type};
use builtins::{Ty, TypeId, Volatility, digits};
use types::{Datum, coerce, temporal, text};

impl Binder<'_> {
    /// Casts the value to type `to`. Returns `None` if there is no such cast in this context.
    pub(crate) fn try_coerce(&mut self, value: Scalar, to: Ty, context: CastContext) -> BindResult<Option<Scalar>> {
        if value.ty.id == TypeId::UNKNOWN {
            return self.coerce_unknown(value, to, context).map(Some);
        }
        if value.ty.id == to.id {
            let freed = context == CastContext::Explicit && to.typmod == -1 && value.ty.digits != to.digits;
            let value = if freed { with_digits(value, to.digits) } else { value };
            let unlimited = context == CastContext::Explicit && to.typmod == -1 && value.ty.typmod != -1;
            let value = if unlimited { without_limits(value) } else { value };
            return Ok(Some(self.fit(value, to, context)));
        }
        let Some(via) = coercion(value.ty.id, to.id, context) else { return Ok(None) };
        self.note_catalogs(to.id);
        self.note_catalogs(value.ty.id);
        let via = match via {
            Via::Function(id) => {
                self.note_call(id);
                CastVia::Function(id)
            }
            Via::Relabel => CastVia::Relabel,
            Via::Text => CastVia::Text,
            Via::Elements => CastVia::Elements,
        };
        if matches!(via, CastVia::Text | CastVia::Elements) {
            self.facts.session_bound |= is_time(to.id) || is_time(value.ty.id);
        }
        // An oid is a number of its own kind.
        let same_kind = matches!(via, CastVia::Relabel) && !to.id.is_oid() && !value.ty.id.is_oid();
        let is_null = matches!(value.kind, Kind::Const(Datum::Null));
        if is_null || same_kind && matches!(value.kind, Kind::Const(_)) {
            let relabelled = Scalar { ty: plain(to.id), ..value };
            return Ok(Some(self.fit(relabelled, to, context)));
        }
        // The result of an explicit cast has no common scale: each value keeps its own digits.
        let asked = context == CastContext::Explicit || to.id != TypeId::NUMERIC;
        let digits = if asked { None } else { digits::of_integer(value.ty.id) };
        let (span, arg) = (value.span, Box::new(value));
        let cast = Scalar { kind: Kind::Cast { via, arg, context }, ty: Ty { digits, ..plain(to.id) }, span };
        Ok(Some(self.fit(cast, to, context)))
    }

    /// As [`Self::try_coerce`], for operands that overload resolution has accepted.
    pub(crate) fn coerce(&mut self, value: Scalar, to: Ty, context: CastContext) -> BindResult<Scalar> {
        let (from, span) = (value.ty, value.span);
        match self.try_coerce(value, to, context)? {
            Some(value) => Ok(value),
            None => {
                let kind = BindErrorKind::CannotCast { from: name_of(from), to: name_of(to) };
                self.error(kind, span)
            }
        }
    }

    /// Applies the type modifier of `to`: length, precision or scale.
    fn fit(&self, value: Scalar, to: Ty, context: CastContext) -> Scalar {
        if to.typmod == -1 || value.ty.typmod == to.typmod {
            return value;
        }
        let (span, arg) = (value.span, Box::new(value));
        Scalar { kind: Kind::Cast { via: CastVia::Length, arg, context }, ty: to, span }
    }

    fn coerce_unknown(&mut self, value: Scalar, to: Ty, context: CastContext) -> BindResult<Scalar> {
        let span = value.span;
        match value.kind {
            Kind::Const(Datum::Text(text)) if to.data_type().is_none() && !is_array_of_chars(to) => {
                match self.catalog_literal(&text, to, context, span)? {
                    Some(value) => Ok(value),
                    None => self.unsupported(format!("a literal of type {}", name_of(to))),
                }
            }
            Kind::Const(Datum::Text(text)) => {
                if let Some(moment) = self.moment(&text, to, span)? {
                    return Ok(self.fit(moment, to, context));
                }
                // An explicit cast truncates array elements, so the literal is read without the type modifier.
                let cut = context == CastContext::Explicit && to.typmod != -1 && to.id.element().is_some();
                let read = if cut { plain(to.id) } else { to };
                let kind = match self.input(&text, read, context, span) {
                    // Execution reports an out-of-range numeric, because a value of another type may fail before it.
                    Err(error) if to.id == TypeId::NUMERIC && error.is_out_of_range() => {
                        let arg = Scalar { kind: Kind::Const(Datum::Text(text)), ty: Ty::TEXT, span };
                        Kind::Cast { via: CastVia::Text, arg: Box::new(arg), context: CastContext::Explicit }
                    }
                    read => Kind::Const(read?),
                };
                Ok(self.fit(Scalar { kind, ty: read, span }, to, context))
            }
            Kind::Const(_) => Ok(Scalar { kind: Kind::Const(Datum::Null), ty: to, span }),
            Kind::Param(id) => {
                let Some(param) = self.params.get_mut(usize::from(id.0)) else {
                    return Err(self.internal("a parameter without a place"));
                };
                if param.ty.id == TypeId::UNKNOWN {
                    param.ty = plain(to.id);
                } else if param.ty.id != to.id {
                    let (known, wanted) = (name_of(param.ty), name_of(plain(to.id)));
                    let kind = BindErrorKind::InconsistentParameter { number: id.0 + 1, known, wanted };
                    return self.error(kind, span);
                }
                let typed = Scalar { kind: Kind::Param(id), ty: plain(to.id), span };
                Ok(self.fit(typed, to, context))
            }
            _ => Err(self.internal("a computed value of unknown type")),
        }
    }

    /// Reads `'now'`, `'today'`, `'tomorrow'` and `'yesterday'` as dates or times of the session.
    fn moment(&mut self, text: &str, to: Ty, span: Span) -> BindResult<Option<Scalar>> {
        let days = match text.trim().to_ascii_lowercase().as_str() {
            "now" => {
                let (value, ty) = match to.id {
                    TypeId::DATE => (SessionValue::CurrentDate, TypeId::DATE),
                    TypeId::TIME => (SessionValue::LocalTime, TypeId::TIME),
                    TypeId::TIMESTAMP => (SessionValue::LocalTimestamp, TypeId::TIMESTAMP),
                    TypeId::TIMESTAMPTZ => (SessionValue::CurrentTimestamp, TypeId::TIMESTAMPTZ),
                    _ => return Ok(None),
                };
                self.note_stable();
                return Ok(Some(Scalar { kind: Kind::Session(value), ty: plain(ty), span }));
            }
            "today" => 0,
            "tomorrow" => 1,
            "yesterday" => -1,
            _ => return Ok(None),
        };
        if !matches!(to.id, TypeId::DATE | TypeId::TIMESTAMP | TypeId::TIMESTAMPTZ) {
            return Ok(None);
        }
        self.note_stable();
        let mut day = Scalar { kind: Kind::Session(SessionValue::CurrentDate), ty: plain(TypeId::DATE), span };
        if days != 0 {
            let days = Scalar { kind: Kind::Const(Datum::Int4(days)), ty: Ty::INT4, span };
            day = self.operator("+", Some(day), days, span)?;
        }
        self.coerce(day, plain(to.id), CastContext::Explicit).map(Some)
    }

    /// Marks the statement as stable and dependent on the session.
    pub(crate) fn note_stable(&mut self) {
        self.facts.session_bound = true;
        self.facts.volatility = self.facts.volatility.max(Volatility::Stable);
    }

    /// Converts a literal as the input function of the type does.
    pub(crate) fn input(&mut self, text: &str, to: Ty, context: CastContext, span: Span) -> BindResult<Datum> {
        self.note_catalogs(to.id);
        let wrong = |error| BindError::new(BindErrorKind::Value(error), span);
        if to.id == TypeId::BPCHAR && to.typmod == -1 {
            text::check_zero_byte(text).map_err(wrong)?;
            return Ok(Datum::Text(text.trim_end_matches(' ').to_owned()));
        }
        let Some(ty) = (if is_array_of_chars(to) { to.runtime_type() } else { to.data_type() }) else {
            return self.unsupported(format!("a literal of type {}", name_of(to)));
        };
        if context == CastContext::Explicit && ty.is_text() {
            return coerce::cast(&ty, Datum::Text(text.to_owned())).map_err(wrong);
        }
        if matches!(to.id.element().unwrap_or(to.id).category(), "D") && names_the_clock(text) {
            return self.unsupported(format!("a literal such as '{text}' that depends on the clock"));
        }
        match self.parse(&ty, text, span) {
            Err(error) if matches!(to.id, TypeId::DATE | TypeId::TIMESTAMP) => {
                // These types ignore the name of a time zone, but PostgreSQL checks that the zone exists.
                let Some(local) = temporal::without_zone_name(text, self.env.rules) else { return Err(wrong(error)) };
                self.parse(&ty, local, span).map_err(|_| wrong(error))
            }
            read => read.map_err(wrong),
        }
    }

    /// Casts all values to their common type, text if none has a type; `what` names the construct in messages.
    pub(crate) fn unify(&mut self, values: &mut Vec<Scalar>, what: &'static str) -> BindResult<Ty> {
        let types: Vec<Ty> = values.iter().map(|value| value.ty).collect();
        let common = match common_type(&types) {
            Ok(common) => common,
            Err(mismatch) => {
                let (left, right) = (mismatch.so_far.sql_name(), mismatch.other.sql_name());
                let span = values.get(mismatch.at).map(|value| value.span).unwrap_or_default();
                return self.error(BindErrorKind::NoCommonType { what, left, right }, span);
            }
        };
        for value in std::mem::take(values) {
            let (from, span) = (value.ty, value.span);
            let Some(value) = self.try_coerce(value, common, CastContext::Implicit)? else {
                let kind = BindErrorKind::CannotConvert { what, from: name_of(from), to: name_of(common) };
                return self.error(kind, span);
            };
            values.push(value);
        }
        Ok(common)
    }

    /// As [`Self::unify`], for values of which one becomes the result: numerics get common digits, too.
    pub(crate) fn unify_values(&mut self, values: &mut Vec<Scalar>, what: &'static str) -> BindResult<Ty> {
        let ty = self.unify(values, what)?;
        if ty.id != TypeId::NUMERIC {
            return Ok(ty);
        }
        let is_null = |value: &Scalar| matches!(value.kind, Kind::Const(Datum::Null));
        let digits = digits::common(values.iter().filter(|value| !is_null(value)).map(|value| value.ty.digits));
        for value in values {
            if value.ty.digits != digits {
                *value = with_digits(std::mem::replace(value, null_of(ty)), digits);
            }
        }
        Ok(Ty { digits, ..ty })
    }

    /// Casts an untyped literal or parameter of an output list to text.
    pub(crate) fn output_type(&mut self, value: Scalar) -> BindResult<Scalar> {
        match value.ty.id {
            TypeId::UNKNOWN => self.coerce(value, Ty::TEXT, CastContext::Implicit),
            _ => Ok(value),
        }
    }

    /// Casts to boolean; `what` names the construct in messages.
    pub(crate) fn must_be_boolean(&mut self, value: Scalar, what: &'static str) -> BindResult<Scalar> {
        self.must_be(value, Ty::BOOL, "boolean", what)
    }

    /// Casts to the type of a construct, which `what` names in messages.
    pub(crate) fn must_be(
        &mut self,
        value: Scalar,
        to: Ty,
        wanted: &'static str,
        what: &'static str,
    ) -> BindResult<Scalar> {
        let (found, span) = (value.ty, value.span);
        if self.reads_set(&value) {
            return self.error(BindErrorKind::SetReturned { what: format!("argument of {what}").into() }, span);
        }
        let context = if to.id == TypeId::BOOL { CastContext::Implicit } else { CastContext::Assignment };
        match self.try_coerce(value, to, context)? {
            Some(value) => Ok(value),
            None => {
                let kind = BindErrorKind::WrongType { what: what.into(), wanted, found: name_of(found) };
                self.error(kind, span)
            }
        }
    }

    /// Notes that values of OID alias types depend on the catalogs.
    fn note_catalogs(&mut self, id: TypeId) {
        self.facts.catalogs |= id.element().unwrap_or(id).oid_alias().is_some();
    }
}

/// Whether texts of the type, or of its elements, may depend on the session's time zone and style.
fn is_time(id: TypeId) -> bool {
    matches!(id.element().unwrap_or(id).category(), "D" | "T")
}

/// Converts a numeric to the form with these digits (precision and scale).
pub(crate) fn with_digits(value: Scalar, digits: digits::Digits) -> Scalar {
    let (ty, span) = (Ty { digits, ..value.ty }, value.span);
    let kind = match (value.kind, digits) {
        (Kind::Const(Datum::Numeric(number)), Some((_, scale))) => {
            Kind::Const(Datum::Numeric(number.rescale(scale).unwrap_or(number)))
        }
        (Kind::Const(Datum::Numeric(number)), None) => Kind::Const(Datum::Numeric(number.normalized())),
        (kind @ Kind::Const(_), _) => kind,
        (kind, _) => {
            let arg = Box::new(Scalar { kind, ty: value.ty, span });
            Kind::Cast { via: CastVia::Relabel, arg, context: CastContext::Implicit }
        }
    };
    Scalar { kind, ty, span }
}

/// Removes the type modifier, as a cast to the bare type does.
pub(crate) fn without_limits(value: Scalar) -> Scalar {
    let (ty, span) = (Ty { typmod: -1, ..value.ty }, value.span);
    let kind = match value.kind {
        kind @ Kind::Const(_) => kind,
        kind => {
            let arg = Box::new(Scalar { kind, ty: value.ty, span });
            Kind::Cast { via: CastVia::Relabel, arg, context: CastContext::Explicit }
        }
    };
    Scalar { kind, ty, span }
}

pub(crate) fn null_of(ty: Ty) -> Scalar {
    Scalar { kind: Kind::Const(Datum::Null), ty, span: Span::default() }
}

/// Is it an array of `char(n)`? Such arrays are kept as arrays of text.
fn is_array_of_chars(ty: Ty) -> bool {
    ty.id.element() == Some(TypeId::BPCHAR)
}

/// Does the text contain a word that PostgreSQL reads as the time of the statement?
fn names_the_clock(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_ascii_alphabetic());
    words.map(str::to_ascii_lowercase).any(|word| matches!(word.as_str(), "now" | "today" | "tomorrow" | "yesterday"))
}

/// Returns the name of a type as messages show it.
pub(crate) fn name_of(ty: Ty) -> String {
    ty.id.sql_name()
}
