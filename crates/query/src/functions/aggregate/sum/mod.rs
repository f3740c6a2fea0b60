//! `sum` of floats and of long numerics, for which DataFusion's own differs from PostgreSQL's.

mod decimals;
mod floats;

use crate::error::QueryError;
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};
use std::sync::{Arc, LazyLock};

/// Returns the function that sums values of type `ty`, if DataFusion's own differs from PostgreSQL's.
pub(crate) fn postgres_sum(ty: &ArrowType) -> Option<Arc<AggregateUDF>> {
    (floats::takes(ty) || decimals::takes(ty)).then(|| Arc::clone(&SUM))
}

static SUM: LazyLock<Arc<AggregateUDF>> = LazyLock::new(|| {
    Arc::new(AggregateUDF::new_from_impl(Sum { signature: Signature::any(1, Volatility::Immutable) }))
});

#[derive(Debug, PartialEq, Eq, Hash)]
struct Sum {
    signature: Signature,
}

impl AggregateUDFImpl for Sum {
    fn name(&self) -> &str {
        "sum"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        match args {
            [ty] if floats::takes(ty) => Ok(ty.clone()),
            [ty] => decimals::sum_type(ty).ok_or_else(|| QueryError::internal(format!("a sum of {ty}")).into()),
            _ => Err(QueryError::internal("a sum is one of one column").into()),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match args.return_field.data_type() {
            ty if floats::takes(ty) => floats::accumulator_of(ty, args.is_distinct),
            ty => decimals::accumulator_of(ty),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match args.return_field.data_type() {
            ty if floats::takes(ty) => Ok(floats::moving_accumulator(ty, args.is_distinct)),
            ty => decimals::accumulator_of(ty),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let ty = match args.return_field.data_type() {
            ty if floats::takes(ty) => floats::state_type(ty, args.is_distinct),
            ty => decimals::state_type(ty),
        };
        Ok(vec![Arc::new(Field::new(format_state_name(args.name, "sum"), ty, true))])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct && floats::takes(args.return_field.data_type())
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        floats::groups_accumulator(args.return_field.data_type())
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}
