//! Literals and parameters.

use crate::binder::{Binder, plain};
use crate::error::{BindErrorKind, BindResult};
use crate::tree::{CastContext, Kind, Scalar, Span};
use builtins::{Ty, TypeId};
use sql::ast;
use types::{DataType, Datum, IntervalFields};

impl Binder<'_> {
    pub(super) fn literal(&mut self, value: &ast::ValueWithSpan) -> BindResult<Scalar> {
        use ast::Value as V;
        let span = self.span(value.span);
        let (datum, ty) = match &value.value {
            V::Number(digits, _) => return self.number(digits, span),
            V::SingleQuotedString(text) | V::EscapedStringLiteral(text) | V::UnicodeStringLiteral(text) => {
                (Datum::Text(text.clone()), Ty::UNKNOWN)
            }
            V::NationalStringLiteral(text) => {
                let text = Scalar { kind: Kind::Const(Datum::Text(text.clone())), ty: Ty::UNKNOWN, span };
                return self.coerce(text, plain(TypeId::BPCHAR), CastContext::Explicit);
            }
            // Phoenix's binary literal.
            V::HexStringLiteral(digits) => {
                let ty = plain(TypeId::BYTEA);
                let bytes = self.input(&format!("\\x{digits}"), ty, CastContext::Implicit, span)?;
                return Ok(Scalar { kind: Kind::Const(bytes), ty, span });
            }
            V::DollarQuotedString(text) => (Datum::Text(text.value.clone()), Ty::UNKNOWN),
            V::Boolean(value) => (Datum::Bool(*value), Ty::BOOL),
            V::Null => (Datum::Null, Ty::UNKNOWN),
            V::Placeholder(name) => return self.placeholder(name, span),
            _ => return Err(self.internal("a literal that the parser refuses")),
        };
        Ok(Scalar { kind: Kind::Const(datum), ty, span })
    }

    fn placeholder(&mut self, name: &str, span: Span) -> BindResult<Scalar> {
        match name.strip_prefix('$').and_then(|number| number.parse::<u16>().ok()).filter(|number| *number > 0) {
            Some(number) => self.parameter(number, span),
            None => Err(self.internal("a parameter without a number")),
        }
    }

    /// Binds a number: the first of integer, bigint and numeric that holds it.
    pub(super) fn number(&mut self, digits: &str, span: Span) -> BindResult<Scalar> {
        if digits.contains(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'))) {
            return self.error(BindErrorKind::Syntax { message: "trailing junk after numeric literal" }, span);
        }
        let (datum, ty) = if let Ok(value) = digits.parse::<i32>() {
            (Datum::Int4(value), Ty::INT4)
        } else if let Ok(value) = digits.parse::<i64>() {
            (Datum::Int8(value), Ty::INT8)
        } else {
            let ty = Ty { digits: written_digits(digits), ..plain(TypeId::NUMERIC) };
            match self.input(digits, ty, CastContext::Implicit, span) {
                Ok(number) => (number, ty),
                // A number out of the range of numeric is a double precision.
                Err(error) if error.is_out_of_range() => {
                    let ty = plain(TypeId::FLOAT8);
                    (self.input(digits, ty, CastContext::Implicit, span)?, ty)
                }
                Err(error) => return Err(error),
            }
        };
        Ok(Scalar { kind: Kind::Const(datum), ty, span })
    }

    /// Binds `DATE '2013-01-01'`.
    pub(super) fn typed_string(&mut self, typed: &ast::TypedString) -> BindResult<Scalar> {
        let value = self.literal(&typed.value)?;
        let to = self.named_type(&typed.data_type, value.span)?;
        self.coerce(value, to, CastContext::Explicit)
    }

    /// Binds `INTERVAL '1 2' DAY TO HOUR`.
    pub(super) fn interval(&mut self, interval: &ast::Interval) -> BindResult<Scalar> {
        let ast::Interval { value, leading_field, leading_precision, last_field, fractional_seconds_precision } =
            interval;
        let value = self.scalar(value)?;
        let Kind::Const(Datum::Text(written)) = &value.kind else {
            return self.error(BindErrorKind::Syntax { message: "INTERVAL takes a string" }, value.span);
        };
        if leading_field.is_none() {
            return self.coerce(value, plain(TypeId::INTERVAL), CastContext::Explicit);
        }
        let words: Vec<String> = [leading_field, last_field].into_iter().flatten().map(ToString::to_string).collect();
        let precision = leading_precision.or(*fractional_seconds_precision).map(u8::try_from);
        let Ok(precision) = precision.transpose() else {
            return self.unsupported_at("an interval of so many digits of a second", value.span);
        };
        let fields = IntervalFields::from_words(&words.join(" to ").to_lowercase(), precision);
        let Some(fields) = fields else {
            return self.error(BindErrorKind::Syntax { message: "an interval has no such fields" }, value.span);
        };
        let ty = DataType::LimitedInterval(fields);
        match self.parse(&ty, written, value.span) {
            Ok(datum) => Ok(Scalar { kind: Kind::Const(datum), ty: Ty::of(&ty), span: value.span }),
            Err(error) => self.error(BindErrorKind::Value(error), value.span),
        }
    }
}

/// Returns precision and scale of a number as written: trailing zeros count.
fn written_digits(number: &str) -> Option<(u8, u8)> {
    if number.contains(['e', 'E']) {
        return None;
    }
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    let scale = u8::try_from(fraction.len()).ok()?;
    let integer = integer.trim_start_matches(['-', '0']).len();
    let precision = u8::try_from(integer).ok()?.checked_add(scale)?.max(1);
    Some((precision, scale))
}
