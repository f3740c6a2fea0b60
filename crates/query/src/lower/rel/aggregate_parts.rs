//! Builds aggregates from simpler ones: averages and variances from sums, and sums in the types that PostgreSQL uses.

use crate::convert::NUMERIC_PRECISION;
use crate::functions::{Spread, average_of, labelled, postgres_cast, postgres_sum, square};
use crate::lower::error::LowerResult;
use crate::lower::scalar::comparable::Side;
use crate::lower::scalar::one_type::needs_type_label;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::DFSchema;
use datafusion::functions_aggregate::array_agg::array_agg_udaf;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::{AggregateUDF, Cast, Expr, ExprSchemable};
use std::sync::Arc;
use types::{DataType, ElementType};

/// A call of an aggregate, over groups or over a window.
pub(in crate::lower) struct Call<'a> {
    pub(in crate::lower) function: Arc<AggregateUDF>,
    pub(in crate::lower) args: Vec<Expr>,
    /// The type of the first argument.
    pub(in crate::lower) ty: Option<DataType>,
    pub(in crate::lower) distinct: bool,
    pub(in crate::lower) schema: &'a DFSchema,
}

/// Functions that return one of the values of their argument.
const PICKS: [&str; 7] = ["min", "max", "first_value", "last_value", "nth_value", "lag", "lead"];

/// The value of a function that returns or collects values of its argument, labelled with the SQL type: DataFusion
/// drops the metadata that tells `char(n)`, `oid` and JSON apart.
pub(in crate::lower) fn picked_from(name: &str, arg: Option<&Expr>, value: Expr, schema: &DFSchema) -> Expr {
    let Some(Side::Known(own)) = arg.map(|arg| Side::of(arg, schema)) else { return value };
    let ty = match name {
        "array_agg" => ElementType::of(&own).map(DataType::Array),
        name => PICKS.contains(&name).then_some(own),
    };
    match ty.filter(needs_type_label) {
        Some(ty) => labelled(value, ty),
        None => value,
    }
}

/// Builds a call of another aggregate with the same window, filter and order.
type Part<'p> = &'p dyn Fn(Arc<AggregateUDF>, Vec<Expr>) -> Expr;

impl Call<'_> {
    /// The value of the call, combined from the aggregates that `part` builds.
    pub(in crate::lower) fn value(self, part: Part<'_>) -> LowerResult<Expr> {
        let [arg] = self.args.as_slice() else { return Ok(part(self.function, self.args)) };
        let spread = match self.function.name() {
            "sum" => return Ok(self.sum(arg.clone(), part)),
            "avg" => {
                let sum = self.sum(self.summand(arg), part);
                return Ok(average_of(sum, part(count_udaf(), self.args)));
            }
            name => Spread::named(name),
        };
        let Some(spread) = spread else {
            let value = part(Arc::clone(&self.function), self.args.clone());
            return Ok(picked_from(self.function.name(), Some(arg), value, self.schema));
        };
        if self.distinct {
            // Different values may have equal squares, so DISTINCT collects the values themselves.
            let array = self.ty.and_then(|ty| ElementType::of(&ty)).map(DataType::Array);
            return spread.of_values(part(array_agg_udaf(), self.args), array.unwrap_or(DataType::Text));
        }
        let sum = self.sum(self.summand(arg), part);
        let squares = self.sum(square(arg.clone()), part);
        let count = part(count_udaf(), self.args.clone());
        let float = part(Arc::clone(&self.function), vec![self.double(arg)?]);
        Ok(spread.of(sum, squares, count, float))
    }

    /// Casts a numeric to the nearest double: Arrow divides the unscaled value, which may not fit into a double, by a
    /// power of ten.
    fn double(&self, value: &Expr) -> LowerResult<Expr> {
        let (_, from) = value.to_field(self.schema)?;
        let cast = from.data_type().is_decimal().then(|| postgres_cast(value, &from, &DataType::Double)).flatten();
        Ok(cast.unwrap_or_else(|| value.clone()))
    }

    /// The sum of bigints is numeric, because it may overflow a bigint. Sums of floats and of long numerics are our own
    /// aggregates.
    fn sum(&self, arg: Expr, part: Part<'_>) -> Expr {
        let cast = |arg: Expr, to| Expr::Cast(Cast::new(Box::new(arg), to));
        let Ok(ty) = arg.get_type(self.schema) else { return part(sum_udaf(), vec![arg]) };
        match (&ty, postgres_sum(&ty)) {
            (ArrowType::Int64, _) => part(sum_udaf(), vec![cast(arg, ArrowType::Decimal128(19, 0))]),
            (ArrowType::Decimal128(_, scale), Some(_)) if self.distinct => {
                part(sum_udaf(), vec![cast(arg, ArrowType::Decimal256(NUMERIC_PRECISION, *scale))])
            }
            (_, Some(own)) => part(own, vec![arg]),
            (_, None) => part(sum_udaf(), vec![arg]),
        }
    }

    /// The operand of the sum of an average: for reals a double, unlike the sum itself. A cast is not part of the name
    /// of an aggregate's column, so the double gets an alias.
    fn summand(&self, value: &Expr) -> Expr {
        if !matches!(value.get_type(self.schema), Ok(ArrowType::Float32)) {
            return value.clone();
        }
        let name = format!("{}::double", value.schema_name());
        Expr::Cast(Cast::new(Box::new(value.clone()), ArrowType::Float64)).alias(name)
    }
}
