//! Aggregates over moving frames, recomputed for each row.
//!
//! DataFusion's own subtract a row that leaves the frame. For floats this changes the result: `1e20 + 1 - 1e20` is 0,
//! and a NaN is never removed. Some aggregates of DataFusion cannot retract a row at all.

use crate::error::QueryError;
use crate::functions::aggregate::counted::{by_argument, counted};
use crate::functions::aggregate::of_own::delegate_to_own;
use arrow::array::{Array, ArrayRef};
use arrow::compute::concat;
use arrow::datatypes::{FieldRef, Schema};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::all_default_aggregate_functions;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};
use std::collections::VecDeque;
use std::sync::Arc;
use types::interrupt;

/// Aggregates of floats except `sum`, and aggregates that cannot retract rows.
const NAMES: [&str; 11] = [
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "regr_count",
    "stddev",
    "stddev_pop",
    "string_agg",
    "var",
    "var_pop",
];

/// Returns DataFusion's aggregates of these names, recomputed for each row of a moving frame.
pub(crate) fn recomputed_per_row() -> Vec<Arc<AggregateUDF>> {
    let all = all_default_aggregate_functions().into_iter().filter(|own| NAMES.contains(&own.name()));
    all.map(|own| Arc::new(AggregateUDF::new_from_impl(RecomputedPerRow { own }))).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct RecomputedPerRow {
    own: Arc<AggregateUDF>,
}

impl AggregateUDFImpl for RecomputedPerRow {
    delegate_to_own!();

    /// `string_agg` sorts its input itself. DataFusion 55.2 nevertheless requires sorted input, and rejects two calls
    /// with different orders.
    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        match self.own.name() {
            "string_agg" => AggregateOrderSensitivity::SoftRequirement,
            _ => AggregateOrderSensitivity::Insensitive,
        }
    }

    fn with_beneficial_ordering(self: Arc<Self>, _: bool) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        Ok(Some(self))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        match self.own.name() {
            "string_agg" => ReversedUDAF::NotSupported,
            _ => ReversedUDAF::Identical,
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.own.state_fields(args)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        accumulator(&self.own, args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let kept = Kept::of(&args);
        let own = Arc::clone(&self.own);
        Ok(moving(move || accumulator(&own, kept.args())))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.own.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        self.own.create_groups_accumulator(args)
    }
}

fn accumulator(own: &AggregateUDF, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
    let order = by_argument(&args);
    let made = own.accumulator(AccumulatorArgs { order_bys: order.as_deref().unwrap_or(args.order_bys), ..args })?;
    Ok(if own.name() == "string_agg" { counted(made) } else { made })
}

/// Owned `AccumulatorArgs`, from which a new accumulator is made for each row.
struct Kept {
    return_field: FieldRef,
    schema: Schema,
    ignore_nulls: bool,
    order_bys: Vec<PhysicalSortExpr>,
    name: String,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    expr_fields: Vec<FieldRef>,
}

impl Kept {
    fn of(args: &AccumulatorArgs<'_>) -> Self {
        Self {
            return_field: Arc::clone(&args.return_field),
            schema: args.schema.clone(),
            ignore_nulls: args.ignore_nulls,
            order_bys: args.order_bys.to_vec(),
            name: args.name.to_owned(),
            exprs: args.exprs.to_vec(),
            expr_fields: args.expr_fields.to_vec(),
        }
    }

    fn args(&self) -> AccumulatorArgs<'_> {
        AccumulatorArgs {
            return_field: Arc::clone(&self.return_field),
            schema: &self.schema,
            ignore_nulls: self.ignore_nulls,
            order_bys: &self.order_bys,
            is_reversed: false,
            name: &self.name,
            is_distinct: false,
            exprs: &self.exprs,
            expr_fields: &self.expr_fields,
        }
    }
}

/// Returns an empty accumulator.
type Make = Box<dyn Fn() -> Result<Box<dyn Accumulator>> + Send + Sync>;

/// Returns an accumulator for moving frames that computes each result with a new accumulator from `make`.
pub(in crate::functions) fn moving(
    make: impl Fn() -> Result<Box<dyn Accumulator>> + Send + Sync + 'static,
) -> Box<dyn Accumulator> {
    Box::new(Moving { make: Box::new(make), rows: VecDeque::new() })
}

/// The number of pieces of a frame above which they are concatenated.
const PIECES: usize = 32;

struct Moving {
    make: Make,
    /// The arguments of the frame's rows, in pieces of the size in which they arrived.
    rows: VecDeque<Vec<ArrayRef>>,
}

impl std::fmt::Debug for Moving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Moving").field("pieces", &self.rows.len()).finish_non_exhaustive()
    }
}

impl Moving {
    fn join_pieces(&mut self) -> Result<()> {
        if self.rows.len() <= PIECES {
            return Ok(());
        }
        let arguments = self.rows.front().map_or(0, Vec::len);
        let joined = (0..arguments).map(|at| {
            let pieces: Vec<&dyn Array> =
                self.rows.iter().filter_map(|piece| piece.get(at)).map(AsRef::as_ref).collect();
            Ok(concat(&pieces)?)
        });
        let joined = joined.collect::<Result<Vec<_>>>()?;
        self.rows = VecDeque::from([joined]);
        Ok(())
    }

    fn filled(&mut self) -> Result<Box<dyn Accumulator>> {
        self.join_pieces()?;
        // DataFusion's window operator evaluates all rows of a partition in one step, without a check for cancellation.
        let rows = self.rows.iter().filter_map(|piece| piece.first()).map(|column| column.len());
        interrupt::spend(rows.sum()).map_err(QueryError::from)?;
        let mut fresh = (self.make)()?;
        self.rows.iter().try_for_each(|piece| fresh.update_batch(piece))?;
        Ok(fresh)
    }
}

impl Accumulator for Moving {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.rows.push_back(values.to_vec());
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let mut leaving = values.first().map_or(0, |column| column.len());
        while let Some(piece) = self.rows.front_mut().filter(|_| leaving > 0) {
            let length = piece.first().map_or(0, |column| column.len());
            if length > leaving {
                for column in piece {
                    *column = column.slice(leaving, length - leaving);
                }
                break;
            }
            leaving -= length;
            self.rows.pop_front();
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.filled()?.evaluate()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.filled()?.state()
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        Err(QueryError::internal("frames are not merged").into())
    }

    fn size(&self) -> usize {
        let columns = self.rows.iter().flatten();
        size_of_val(self) + columns.map(|column| column.get_array_memory_size()).sum::<usize>()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn datafusion_asks_for_an_order_that_is_not_needed() {
        let own = all_default_aggregate_functions().into_iter().find(|own| own.name() == "string_agg").unwrap();
        assert_eq!(own.order_sensitivity(), AggregateOrderSensitivity::HardRequirement);
    }
}
