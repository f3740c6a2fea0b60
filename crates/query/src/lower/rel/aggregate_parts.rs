//! What an aggregate is of those that there are: averages and variances are made of sums, and sums are computed in the
//! types that PostgreSQL computes them in.

use crate::convert::NUMERIC_PRECISION;
use crate::functions::{Spread, average_of, labelled, own_sum, postgres_cast, square};
use crate::lower::error::LowerResult;
use crate::lower::scalar::comparable::Side;
use crate::lower::scalar::one_type::needs_name;
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

/// Functions whose value is one of those of their argument.
const PICKS: [&str; 7] = ["min", "max", "first_value", "last_value", "nth_value", "lag", "lead"];

/// The value of a function that picks one of its argument's values, or collects them: DataFusion forgets which text type
/// the argument is of, and what is an `oid` or JSON.
pub(in crate::lower) fn picked_from(name: &str, arg: Option<&Expr>, value: Expr, schema: &DFSchema) -> Expr {
    let Some(Side::Known(own)) = arg.map(|arg| Side::of(arg, schema)) else { return value };
    let ty = match name {
        "array_agg" => ElementType::of(&own).map(DataType::Array),
        name => PICKS.contains(&name).then_some(own),
    };
    match ty.filter(needs_name) {
        Some(ty) => labelled(value, ty),
        None => value,
    }
}

/// Makes a call like the one that is asked for, of another aggregate.
type Part<'p> = &'p dyn Fn(Arc<AggregateUDF>, Vec<Expr>) -> Expr;

impl Call<'_> {
    /// The value of the call, made of the aggregates that `part` makes.
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
            // Of two values that differ the squares may not: the values themselves are collected.
            let array = self.ty.and_then(|ty| ElementType::of(&ty)).map(DataType::Array);
            return spread.of_values(part(array_agg_udaf(), self.args), array.unwrap_or(DataType::Text));
        }
        let sum = self.sum(self.summand(arg), part);
        let squares = self.sum(square(arg.clone()), part);
        let count = part(count_udaf(), self.args.clone());
        let float = part(Arc::clone(&self.function), vec![self.double(arg)?]);
        Ok(spread.of(sum, squares, count, float))
    }

    /// A numeric as the double next to it: Arrow divides its digits, of which not all have room in a double, by a power of ten.
    fn double(&self, value: &Expr) -> LowerResult<Expr> {
        let (_, from) = value.to_field(self.schema)?;
        let cast = from.data_type().is_decimal().then(|| postgres_cast(value, &from, &DataType::Double)).flatten();
        Ok(cast.unwrap_or_else(|| value.clone()))
    }

    /// The sum of bigints is numeric: it may be larger than a bigint. Those of floats and of long numerics are our own.
    fn sum(&self, arg: Expr, part: Part<'_>) -> Expr {
        let cast = |arg: Expr, to| Expr::Cast(Cast::new(Box::new(arg), to));
        let Ok(ty) = arg.get_type(self.schema) else { return part(sum_udaf(), vec![arg]) };
        match (&ty, own_sum(&ty)) {
            (ArrowType::Int64, _) => part(sum_udaf(), vec![cast(arg, ArrowType::Decimal128(19, 0))]),
            (ArrowType::Decimal128(_, scale), Some(_)) if self.distinct => {
                part(sum_udaf(), vec![cast(arg, ArrowType::Decimal256(NUMERIC_PRECISION, *scale))])
            }
            (_, Some(own)) => part(own, vec![arg]),
            (_, None) => part(sum_udaf(), vec![arg]),
        }
    }

    /// A value whose sum is one part of an average: of reals that is a double, unlike their sum. A cast is no part of the
    /// name of an aggregate's column, so the double has a name of its own.
    fn summand(&self, value: &Expr) -> Expr {
        if !matches!(value.get_type(self.schema), Ok(ArrowType::Float32)) {
            return value.clone();
        }
        let name = format!("{}::double", value.schema_name());
        Expr::Cast(Cast::new(Box::new(value.clone()), ArrowType::Float64)).alias(name)
    }
}
