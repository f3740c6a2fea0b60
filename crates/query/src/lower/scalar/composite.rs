//! Rows and arrays.

use crate::Refusal;
use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal};
use crate::lower::scalar::constant::{plain, value_type};
use crate::lower::scalar::one_type::array as array_of;
use ::bind::tree::{Kind, Scalar};
use datafusion::common::{DFSchemaRef, ScalarValue};
use datafusion::logical_expr::Expr;
use types::{DataType, Datum};

/// The largest number of dimensions of an array.
const MOST_DIMENSIONS: usize = 6;

/// DataFusion's row constructor.
const ROW: &str = "struct";

/// The lower and upper bound of a slice.
type Bounds = (Option<Scalar>, Option<Scalar>);

impl Lowering<'_> {
    pub(in crate::lower) fn composite(&mut self, value: &Scalar, schema: &DFSchemaRef) -> LowerResult<Expr> {
        match &value.kind {
            Kind::Row(fields) => {
                let fields = self.exprs(fields, schema)?;
                self.named(ROW, fields)
            }
            Kind::Field(row, at) => match &row.kind {
                Kind::Row(fields) => match fields.get(usize::from(*at)) {
                    Some(field) => self.expr(field, schema),
                    None => internal("a field of a row"),
                },
                _ => internal("a field of a value"),
            },
            Kind::Array(_) if dimensions_written(value) > MOST_DIMENSIONS => {
                let dimensions = dimensions_written(value);
                let message = format!(
                    "number of array dimensions ({dimensions}) exceeds the maximum allowed ({MOST_DIMENSIONS})"
                );
                Err(Refusal::Size.because(message))
            }
            Kind::Array(items) => {
                let items = self.exprs(items, schema)?;
                if items.is_empty() {
                    return plain(&Datum::Array(Vec::new()), value.ty);
                }
                array_of(items, schema)
            }
            Kind::Element { array, at } => {
                let places = self.typed_exprs(at, schema)?;
                let places = places.into_iter().map(|at| crate::lower::scalar::catalog::place(at, array));
                let args: Vec<Expr> = std::iter::once(self.expr(array, schema)?).chain(places).collect();
                self.of_array("array subscript", array, args)
            }
            Kind::Slice { array, bounds } => self.slice(array, bounds, schema),
            _ => internal("this value of several parts"),
        }
    }

    /// Slices one dimension after the other. A missing bound is that of the longest array.
    fn slice(&mut self, array: &Scalar, bounds: &[Bounds], schema: &DFSchemaRef) -> LowerResult<Expr> {
        let mut value = self.expr(array, schema)?;
        for (at, (low, high)) in bounds.iter().enumerate() {
            let mut args = vec![value];
            for (bound, missing) in [(low, 1), (high, i32::MAX)] {
                let Some(bound) = bound else {
                    args.push(Expr::Literal(ScalarValue::Int32(Some(missing)), None));
                    continue;
                };
                let bound = self.expr(bound, schema)?;
                args.push(if at == 0 { crate::lower::scalar::catalog::place(bound, array) } else { bound });
            }
            value = match i32::try_from(at) {
                Ok(0) => self.of_array("array slice", array, args)?,
                Ok(inside) => {
                    args.push(Expr::Literal(ScalarValue::Int32(Some(inside)), None));
                    self.of_array("array slice inside", array, args)?
                }
                Err(_) => return internal("a slice of so many dimensions"),
            };
        }
        Ok(value)
    }

    /// Calls a function of an array and integers.
    fn of_array(&self, name: &str, array: &Scalar, args: Vec<Expr>) -> LowerResult<Expr> {
        let mut types = vec![DataType::Integer; args.len()];
        if let Some(first) = types.first_mut() {
            *first = value_type(array.ty)?.unlimited();
        }
        self.sql_call(name, &types, args)
    }
}

/// The number of nested ARRAY constructors.
fn dimensions_written(value: &Scalar) -> usize {
    match &value.kind {
        Kind::Array(items) => 1 + items.iter().map(dimensions_written).max().unwrap_or(0),
        _ => 0,
    }
}
