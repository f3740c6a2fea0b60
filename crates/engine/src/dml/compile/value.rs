//! Assigned values: constants, parameters and column references are read directly, all other expressions are
//! computed.

use crate::dml::elements::{ElementChange, Source};
use crate::dml::target::Target;
use crate::dml::value::Value;
use crate::error::{EngineResult, Fault, fail};
use bind::tree::{CastContext, ColId, Kind, NewValue, Scalar};
use types::{DataType, Datum};

/// Columns of the rows that assignments may read: the existing row, and `excluded`.
#[derive(Clone, Copy, Default)]
pub(super) struct AssignableColumns<'a> {
    pub(super) own: &'a [(usize, ColId)],
    pub(super) excluded: &'a [(usize, ColId)],
}

impl AssignableColumns<'_> {
    fn value(&self, id: ColId) -> Option<Value> {
        let place = |cols: &[(usize, ColId)]| cols.iter().find(|(_, col)| *col == id).map(|(at, _)| *at);
        place(self.own).map(Value::Own).or_else(|| place(self.excluded).map(Value::Excluded))
    }
}

/// The value assigned to column `at`. Expressions to evaluate are added to `computed`.
pub(super) fn value_of<'b>(
    target: &Target,
    at: usize,
    new: &'b NewValue,
    rows: AssignableColumns<'_>,
    computed: &mut Vec<&'b Scalar>,
) -> EngineResult<Value> {
    let scalar = match new {
        NewValue::Expr(scalar) => scalar,
        NewValue::NextOf(sequence) => return Ok(Value::Next(*sequence)),
        NewValue::Elements(changes) => {
            let change = |change: &'b bind::tree::ElementChange| element(target, at, change, computed);
            return changes.iter().map(change).collect::<EngineResult<_>>().map(Value::Elements);
        }
        NewValue::Default => return fail(Fault::Internal { detail: "a default that is none".to_owned() }),
    };
    if let Some(constant) = constant_of(scalar) {
        return target.assign(at, constant.clone()).map(Value::Constant);
    }
    Ok(match &scalar.kind {
        Kind::Param(id) => Value::Param(usize::from(id.0)),
        Kind::Col(col) => rows.value(col.id).unwrap_or_else(|| computed_value(scalar, computed)),
        _ => computed_value(scalar, computed),
    })
}

fn computed_value<'b>(scalar: &'b Scalar, computed: &mut Vec<&'b Scalar>) -> Value {
    computed.push(scalar);
    Value::Computed(computed.len() - 1)
}

/// A constant, also below an assignment cast of a number, which [`Target::assign`] applies anyway.
pub(super) fn constant_of(scalar: &Scalar) -> Option<&Datum> {
    match &scalar.kind {
        Kind::Const(value) => Some(value),
        Kind::Cast { arg, context: CastContext::Assignment | CastContext::Implicit, .. } => match &arg.kind {
            Kind::Const(value @ (Datum::Int4(_) | Datum::Int8(_) | Datum::Numeric(_))) => Some(value),
            _ => None,
        },
        _ => None,
    }
}

fn element<'b>(
    target: &Target,
    at: usize,
    change: &'b bind::tree::ElementChange,
    computed: &mut Vec<&'b Scalar>,
) -> EngineResult<ElementChange> {
    let item = target.column(at).and_then(|column| column.ty.item());
    let Some(item) = item else {
        return fail(Fault::Internal { detail: "an element of what is no array".to_owned() });
    };
    let mut source = |scalar: &'b Scalar, ty: &DataType| match &scalar.kind {
        Kind::Param(id) => Ok(Source::Param(usize::from(id.0))),
        _ => match constant_of(scalar) {
            Some(constant) => target.assign_as(at, ty, constant.clone()).map(Source::Constant),
            None => {
                computed.push(scalar);
                Ok(Source::Computed(computed.len() - 1))
            }
        },
    };
    let places = change.places.iter().map(|place| source(place, &DataType::Integer)).collect::<EngineResult<_>>()?;
    Ok(ElementChange::new(places, source(&change.value, &item)?))
}
