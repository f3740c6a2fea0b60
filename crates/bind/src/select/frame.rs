//! Window frames: their bounds and offsets.

use crate::binder::{Binder, plain};
use crate::call_error::WindowError;
use crate::coerce::name_of;
use crate::error::{BindError, BindResult};
use crate::same::same;
use crate::scalar::reads_columns;
use crate::tree::{CastContext, Frame, FrameBound, FrameMode, Kind, Scalar, Span};
use builtins::{Ty, TypeId};
use sql::ast;
use types::Datum;

impl Binder<'_> {
    /// Binds the frame of a window with that ORDER BY.
    pub(super) fn frame(&mut self, frame: &ast::WindowFrame, order: &[(Scalar, bool, bool)]) -> BindResult<Frame> {
        let mode = match frame.units {
            ast::WindowFrameUnits::Rows => FrameMode::Rows,
            ast::WindowFrameUnits::Range => FrameMode::Range,
            ast::WindowFrameUnits::Groups => FrameMode::Groups,
        };
        let end = frame.end_bound.as_ref().unwrap_or(&ast::WindowFrameBound::CurrentRow);
        if let Some(message) = invalid_bounds(&frame.start_bound, end) {
            return self.error(WindowError::Frame { message }.into(), Span::default());
        }
        if mode == FrameMode::Groups && order.is_empty() {
            let message = "GROUPS mode requires an ORDER BY clause";
            return self.error(WindowError::Frame { message }.into(), Span::default());
        }
        let start = self.frame_bound(&frame.start_bound, mode, order, "starting")?;
        let end = self.frame_bound(end, mode, order, "ending")?;
        Ok(Frame { mode, start, end })
    }

    fn frame_bound(
        &mut self,
        bound: &ast::WindowFrameBound,
        mode: FrameMode,
        order: &[(Scalar, bool, bool)],
        which: &'static str,
    ) -> BindResult<FrameBound> {
        use ast::WindowFrameBound as B;
        let (offset, preceding) = match bound {
            B::CurrentRow => return Ok(FrameBound::Current),
            B::Preceding(None) | B::Following(None) => return Ok(FrameBound::Unbounded),
            B::Preceding(Some(offset)) => (offset, true),
            B::Following(Some(offset)) => (offset, false),
        };
        let (wanted, key) = match (mode, order) {
            (FrameMode::Rows | FrameMode::Groups, _) => (Ty::INT8, None),
            (FrameMode::Range, [(key, ..)]) => (self.distance_type(key.ty)?, Some(key.ty)),
            (FrameMode::Range, _) => {
                let message = "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column";
                return self.error(WindowError::Frame { message }.into(), Span::default());
            }
        };
        let value = self.scalar(offset)?;
        let value = self.frame_offset(value, wanted, (mode, key))?;
        self.check_offset(&value, mode, which)?;
        Ok(if preceding { FrameBound::Preceding(value) } else { FrameBound::Following(value) })
    }

    /// Returns the type of RANGE offsets for the type of an ORDER BY column.
    fn distance_type(&self, key: Ty) -> BindResult<Ty> {
        match key.id {
            TypeId::INT2 | TypeId::INT4 | TypeId::INT8 | TypeId::FLOAT4 | TypeId::FLOAT8 | TypeId::NUMERIC => {
                Ok(plain(key.id))
            }
            TypeId::DATE | TypeId::TIMESTAMP | TypeId::TIMESTAMPTZ | TypeId::TIME | TypeId::INTERVAL => {
                Ok(plain(TypeId::INTERVAL))
            }
            _ => self.error(WindowError::RangeColumn { column: name_of(key) }.into(), Span::default()),
        }
    }

    /// Casts an offset: to bigint for ROWS and GROUPS, to a distance between values for RANGE.
    fn frame_offset(&mut self, value: Scalar, wanted: Ty, (mode, key): (FrameMode, Option<Ty>)) -> BindResult<Scalar> {
        let (offset, span) = (value.ty, value.span);
        let what = mode_name(mode);
        let Some(key) = key else { return self.must_be(value, wanted, "bigint", what) };
        // Integer offsets fit every numeric type; other offsets depend on the type.
        let whole = |id: TypeId| matches!(id, TypeId::INT2 | TypeId::INT4 | TypeId::INT8);
        let fits = offset.is_unknown()
            || offset.id == wanted.id
            || whole(offset.id) && wanted.id.category() == "N"
            || (offset.id, wanted.id) == (TypeId::NUMERIC, TypeId::FLOAT8)
            || (offset.id, wanted.id) == (TypeId::FLOAT4, TypeId::FLOAT8)
            || wanted.id == TypeId::FLOAT4 && matches!(offset.id, TypeId::FLOAT8 | TypeId::NUMERIC);
        if !fits {
            let wrong = WindowError::RangeOffset { column: name_of(key), offset: name_of(offset) };
            let error = BindError::new(wrong.into(), span);
            return Err(error.with_hint("Cast the offset value to an appropriate type."));
        }
        // A distance between small integers may be out of their range.
        let wanted = if whole(wanted.id) && whole(offset.id) { offset } else { wanted };
        match value.ty.is_unknown() || value.ty.id != wanted.id {
            true => self.coerce(value, wanted, CastContext::Explicit),
            false => Ok(value),
        }
    }

    fn check_offset(&self, value: &Scalar, mode: FrameMode, which: &'static str) -> BindResult<()> {
        let wrong = match &value.kind {
            Kind::Const(datum) if datum.is_null() => WindowError::NullOffset { which },
            Kind::Const(datum) if is_negative(datum) && mode == FrameMode::Range => WindowError::NegativeDistance,
            Kind::Const(datum) if is_negative(datum) => WindowError::NegativeOffset { which },
            _ if reads_columns(value) => WindowError::VariableOffset { mode: mode_name(mode) },
            _ => return Ok(()),
        };
        self.error(wrong.into(), value.span)
    }
}

/// Are the frames equal?
pub(super) fn same_frame(a: &Frame, b: &Frame) -> bool {
    let bounds = |a: &FrameBound, b: &FrameBound| match (a, b) {
        (FrameBound::Unbounded, FrameBound::Unbounded) | (FrameBound::Current, FrameBound::Current) => true,
        (FrameBound::Preceding(a), FrameBound::Preceding(b)) | (FrameBound::Following(a), FrameBound::Following(b)) => {
            same(a, b)
        }
        _ => false,
    };
    a.mode == b.mode && bounds(&a.start, &b.start) && bounds(&a.end, &b.end)
}

fn mode_name(mode: FrameMode) -> &'static str {
    match mode {
        FrameMode::Rows => "ROWS",
        FrameMode::Range => "RANGE",
        FrameMode::Groups => "GROUPS",
    }
}

/// Returns the error message for invalid bounds.
fn invalid_bounds(start: &ast::WindowFrameBound, end: &ast::WindowFrameBound) -> Option<&'static str> {
    use ast::WindowFrameBound::{CurrentRow, Following, Preceding};
    Some(match (start, end) {
        (Following(None), _) => "frame start cannot be UNBOUNDED FOLLOWING",
        (_, Preceding(None)) => "frame end cannot be UNBOUNDED PRECEDING",
        (CurrentRow, Preceding(Some(_))) => "frame starting from current row cannot have preceding rows",
        (Following(Some(_)), CurrentRow | Preceding(Some(_))) => {
            "frame starting from following row cannot have preceding rows"
        }
        _ => return None,
    })
}

fn is_negative(datum: &Datum) -> bool {
    match datum {
        Datum::Numeric(number) => number.unscaled < 0,
        Datum::Float4(number) => *number < 0.0,
        Datum::Float8(number) => *number < 0.0,
        Datum::Interval(interval) => interval.span() < 0,
        datum => datum.as_i64().is_some_and(|number| number < 0),
    }
}
