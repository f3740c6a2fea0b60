//! Aggregates whose results grow with their input, such as `array_agg`. A window has one result per row, so each result
//! is counted against the allowance (`allowance.rs`), as results of functions are.

use crate::error::QueryError;
use crate::functions::allowance::{made, size_of_items};
use arrow::array::ArrayRef;
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::array_agg::array_agg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature,
};
use datafusion::physical_expr::PhysicalSortExpr;
use std::sync::Arc;
use types::interrupt;

/// A result is held twice: by the operator, and in the output column.
const COPIES: usize = 2;

/// Wraps `own` so that its results are counted against the allowance.
pub(in crate::functions) fn counted(own: Box<dyn Accumulator>) -> Box<dyn Accumulator> {
    Box::new(Counted { own })
}

#[derive(Debug)]
struct Counted {
    own: Box<dyn Accumulator>,
}

impl Accumulator for Counted {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.own.update_batch(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let value = self.own.evaluate()?;
        // DataFusion's window operator evaluates all rows of a partition in one step, without a check for cancellation.
        interrupt::spend(value.size()).map_err(QueryError::from)?;
        made((value.size() + size_of_items(1)).saturating_mul(COPIES))?;
        Ok(value)
    }

    fn size(&self) -> usize {
        self.own.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.own.state()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.own.merge_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.own.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.own.supports_retract_batch()
    }
}

/// Returns the ORDER BY of a DISTINCT aggregate as a sort key of its argument. DataFusion compares the two expressions,
/// but its optimizer may have rewritten one of them, such as a constant.
pub(in crate::functions) fn by_argument(args: &AccumulatorArgs<'_>) -> Option<Vec<PhysicalSortExpr>> {
    let (value, key) = (args.exprs.first()?, args.order_bys.first()?);
    if !args.is_distinct {
        return None;
    }
    let key = args.order_bys.iter().find(|key| key.expr.eq(value)).unwrap_or(key);
    Some(vec![PhysicalSortExpr { expr: Arc::clone(value), options: key.options }])
}

/// Returns DataFusion's `array_agg` with results counted against the allowance.
pub(crate) fn array_agg() -> Arc<AggregateUDF> {
    of(array_agg_udaf(), false)
}

/// The same for windows.
pub(crate) fn array_agg_of_window() -> Arc<AggregateUDF> {
    of(array_agg_udaf(), true)
}

fn of(own: Arc<AggregateUDF>, in_window: bool) -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::new_from_impl(Lists { own, in_window }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Lists {
    own: Arc<AggregateUDF>,
    in_window: bool,
}

impl AggregateUDFImpl for Lists {
    fn name(&self) -> &str {
        self.own.name()
    }

    fn signature(&self) -> &Signature {
        self.own.signature()
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        self.own.return_type(args)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.own.state_fields(args)
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.own.order_sensitivity()
    }

    fn with_beneficial_ordering(self: Arc<Self>, ordered: bool) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        let own = Arc::clone(self.own.inner()).with_beneficial_ordering(ordered)?;
        Ok(own.map(|own| Arc::new(Self { own: Arc::new(AggregateUDF::new_from_shared_impl(own)), ..*self }) as _))
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let order = by_argument(&args);
        Ok(counted(
            self.own.accumulator(AccumulatorArgs { order_bys: order.as_deref().unwrap_or(args.order_bys), ..args })?,
        ))
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(counted(self.own.create_sliding_accumulator(args)?))
    }

    /// An aggregate with ORDER BY can be computed in the reverse order of its input. DataFusion (55.2) turns windows round
    /// in the same way, whose order is not that of the call: the elements would be reversed.
    fn reverse_expr(&self) -> ReversedUDAF {
        match self.own.reverse_udf() {
            _ if self.in_window => ReversedUDAF::NotSupported,
            ReversedUDAF::Reversed(own) => ReversedUDAF::Reversed(of(own, false)),
            other => other,
        }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.own.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        self.own.create_groups_accumulator(args)
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.own.supports_null_handling_clause()
    }
}
