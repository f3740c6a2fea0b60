//! Aggregation.
//!
//! Keys and operands are columns here; the binder projects their expressions below. A call that DataFusion computes by
//! several aggregates, such as `avg`, is combined above.

use crate::functions::even_items;
use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal, unsupported};
use crate::lower::rel::aggregate_parts::Call;
use crate::lower::rel::joined_bytes::joins_bytes;
use crate::lower::rel::without_repetitions;
use crate::lower::scalar::comparable::by_length;
use crate::lower::scalar::constant::value_type;
use crate::plan::shows_order;
use ::bind::tree::{AggCall, ColId, ColSet, Key, Rel, Scalar};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, DFSchemaRef, ScalarValue};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::utils::COUNT_STAR_EXPANSION;
use datafusion::logical_expr::{Aggregate, Expr, Filter, LogicalPlan, Projection, SortExpr};
use std::sync::Arc;
use types::{DataType, ElementType};

/// The fields of [`Rel::Aggregate`].
pub(in crate::lower) struct Groups<'t> {
    pub(in crate::lower) input: &'t Rel,
    pub(in crate::lower) keys: &'t [ColId],
    pub(in crate::lower) sets: &'t [ColSet],
    pub(in crate::lower) calls: &'t [(ColId, AggCall)],
    pub(in crate::lower) groupings: &'t [(ColId, Vec<ColId>)],
}

impl Lowering<'_> {
    pub(in crate::lower) fn aggregate(&mut self, groups: &Groups<'_>) -> LowerResult<LogicalPlan> {
        Ok(self.counted_aggregate(groups, false)?.0)
    }

    /// HAVING without GROUP BY. A condition that reads no aggregate must filter the one group: DataFusion would push it
    /// down to the rows below, and the group would remain. Adding the row count to the condition prevents that.
    pub(in crate::lower) fn having(&mut self, groups: &Groups<'_>, all: &[Scalar]) -> LowerResult<LogicalPlan> {
        let (plan, count) = self.counted_aggregate(groups, true)?;
        let Some(count) = count else { return internal("HAVING without a group") };
        let Some(condition) = self.conjunction(all, plan.schema())? else { return Ok(plan) };
        let zero = Expr::Literal(ScalarValue::Int64(Some(0)), None);
        let of_group = Expr::Column(count).gt_eq(zero).and(condition).is_true();
        Ok(LogicalPlan::Filter(Filter::try_new(of_group, Arc::new(plan))?))
    }

    /// The aggregate, and a column with the number of rows per group if `counted`.
    fn counted_aggregate(&mut self, of: &Groups<'_>, counted: bool) -> LowerResult<(LogicalPlan, Option<Column>)> {
        let input = self.rel(of.input)?;
        let distinct = of.calls.iter().filter(|(_, call)| call.distinct).flat_map(|(_, call)| &call.args);
        let compared: Vec<ColId> = of.keys.iter().chain(distinct).copied().collect();
        let input = self.signless(input, &compared)?;
        let input = if of.sets.is_empty() { input } else { self.with_column_per_key(input, of.keys)? };
        let (input, lengths) = self.with_lengths(input, of.keys)?;
        let mut parts: Vec<Expr> = Vec::new();
        let mut shown = self.shown_keys(of, &lengths, &mut parts)?;
        for (id, call) in of.calls {
            let planned = self.aggregate_call(call, of.input, input.schema())?;
            let value = above(planned, &mut parts)?;
            let name = self.bound.col(*id).map(|info| info.name.clone()).unwrap_or_default();
            let Column { relation, name, .. } = self.columns.computed(*id, &name);
            shown.push(value.alias_qualified(relation, name));
        }
        let mut count = None;
        // An aggregate node needs a group key or an aggregate.
        if counted || of.keys.is_empty() && parts.is_empty() {
            let value = above(count_udaf().call(vec![Expr::Literal(COUNT_STAR_EXPANSION, None)]), &mut parts)?;
            if counted {
                let column = self.columns.nameless("rows");
                shown.push(value.alias_qualified(column.relation.clone(), column.name.clone()));
                count = Some(column);
            }
        }
        // The group keys of intervals are their lengths.
        let intervals = lengths.iter().map(|length| self.columns.replace(length.key, length.length.clone()));
        let intervals: Vec<Column> = intervals.collect::<LowerResult<_>>()?;
        let groups = of.keys.iter().map(|key| Ok(Expr::Column(self.columns.get(*key)?.clone())));
        let groups = without_repetitions(groups.collect::<LowerResult<_>>()?);
        let groups = self.in_sets(groups, of.sets)?;
        for (id, keys) in of.groupings {
            let value = self.grouping(keys, groups.first())?;
            let Column { relation, name, .. } = self.columns.computed(*id, "grouping");
            shown.push(value.alias_qualified(relation, name));
        }
        for (length, interval) in lengths.iter().zip(intervals) {
            self.columns.replace(length.key, interval)?;
        }
        let without_keys = groups.is_empty();
        let mut aggregate = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(input), groups, parts)?);
        if without_keys && of.sets.len() > 1 {
            aggregate = self.repeated(aggregate, of.sets.len())?;
        }
        Ok((LogicalPlan::Projection(Projection::try_new(shown, Arc::new(aggregate))?), count))
    }

    /// The expression of a call over DataFusion's aggregates.
    fn aggregate_call(&mut self, call: &AggCall, input: &Rel, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let Some(function) = builtins::function(call.func) else { return internal("an unknown aggregate") };
        if let Some(of_sorted) = over_sorted_values(function.name) {
            return self.ordered_set(of_sorted, call, input, schema);
        }
        let name = aggregate_name(function.name);
        let Some(func) = self.planner.aggregate_function(name) else {
            return unsupported(format!("function {name}()"));
        };
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            args.push(self.operand(*arg, input)?);
        }
        if call.distinct && args.len() > 1 && name != "string_agg" {
            return unsupported(format!("DISTINCT in {name}()"));
        }
        if args.is_empty() {
            args.push(Expr::Literal(COUNT_STAR_EXPANSION, None));
        }
        let filter = call.filter.map(|filter| self.columns.get(filter).cloned()).transpose()?;
        let filter = filter.map(|filter| Box::new(Expr::Column(filter)));
        let order = self.aggregate_order(name, call, schema)?;
        let of_bytes = joins_bytes(name, call.args.first().and_then(|arg| self.type_of(*arg)));
        if of_bytes {
            args = self.in_hex(args)?;
        }
        if name == "string_agg" && !matches!(args.get(1), Some(Expr::Literal(..))) {
            let joined = self.texts_joined(call, args, filter, order)?;
            return if of_bytes { self.decoded_hex(joined) } else { Ok(joined) };
        }
        if call.distinct && name == "count" {
            args = args.into_iter().map(|arg| by_length(arg, schema)).collect();
        }
        let ty = call.args.first().and_then(|arg| self.type_of(*arg));
        let parts = Call { function: func, args, ty, distinct: call.distinct, schema };
        let value = parts.value(&|function, args| {
            let (filter, order) = (filter.clone(), order.clone());
            Expr::AggregateFunction(AggregateFunction::new_udf(function, args, call.distinct, filter, order, None))
        })?;
        match name {
            _ if of_bytes => self.decoded_hex(value),
            "array_agg" if self.is_array(&call.args) => Ok(even_items(value)),
            _ => Ok(value),
        }
    }

    /// `string_agg` with a delimiter that is not a constant, which DataFusion refuses: joins the arrays of texts and
    /// delimiters.
    fn texts_joined(
        &self,
        call: &AggCall,
        args: Vec<Expr>,
        filter: Option<Box<Expr>>,
        order: Vec<SortExpr>,
    ) -> LowerResult<Expr> {
        if call.distinct {
            return unsupported("string_agg(DISTINCT …) with a delimiter that is no constant");
        }
        let (Some(func), Some(text)) = (self.planner.aggregate_function("array_agg"), args.first()) else {
            return internal("this string_agg");
        };
        let there = text.clone().is_not_null();
        let filter = Box::new(filter.map_or(there.clone(), |filter| filter.and(there)));
        let of = |arg| {
            let (func, filter, order) = (Arc::clone(&func), Some(filter.clone()), order.clone());
            Expr::AggregateFunction(AggregateFunction::new_udf(func, vec![arg], false, filter, order, None))
        };
        let texts = DataType::Array(ElementType::Text);
        self.sql_call("texts joined", &[texts, texts], args.into_iter().map(of).collect())
    }

    /// Is the first of these columns an array?
    pub(in crate::lower) fn is_array(&self, cols: &[ColId]) -> bool {
        let col = cols.first().and_then(|col| self.bound.col(*col));
        col.is_some_and(|col| col.ty.id.element().is_some())
    }

    /// An ordered-set aggregate: a function of the array of its non-NULL values. Its direct arguments read group keys.
    fn ordered_set(&mut self, function: &str, call: &AggCall, input: &Rel, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let (Some(func), [arg]) = (self.planner.aggregate_function("array_agg"), call.args.as_slice()) else {
            return internal("this aggregate of a sorted set");
        };
        let value = self.operand(*arg, input)?;
        let mut filter = Expr::Column(self.columns.get(*arg)?.clone()).is_not_null();
        if let Some(condition) = call.filter {
            filter = Expr::Column(self.columns.get(condition)?.clone()).and(filter);
        }
        let order = self.sort_keys(&call.order, schema)?;
        let values = AggregateFunction::new_udf(func, vec![value], false, Some(Box::new(filter)), order, None);
        let values = Expr::AggregateFunction(values);
        let types = call.direct.iter().map(|direct| value_type(direct.ty)).collect::<LowerResult<Vec<_>>>()?;
        let Some(array) = self.type_of(*arg).and_then(|ty| ElementType::of(&ty)) else {
            return internal("values without an array");
        };
        let types: Vec<DataType> = std::iter::once(DataType::Array(array)).chain(types).collect();
        let mut args = vec![values];
        args.extend(self.typed_exprs(&call.direct, schema)?);
        self.sql_call(function, &types, args)
    }

    /// The order of an aggregate's input. DISTINCT sorts, which is observable in arrays and strings. If the order is
    /// not observable, none is passed: DataFusion refuses aggregates with different orders, and would pass the keys to
    /// the aggregate as arguments.
    fn aggregate_order(&self, name: &str, call: &AggCall, schema: &DFSchemaRef) -> LowerResult<Vec<SortExpr>> {
        match call.args.first() {
            _ if !shows_order(name) => Ok(Vec::new()),
            Some(arg) if call.distinct && call.order.is_empty() => {
                self.column_keys(&[Key { col: *arg, desc: false, nulls_first: false }])
            }
            // Each key is an argument, apart from a cast that does not change the value and may be a column of its own.
            Some(arg) if call.distinct => {
                let of_args =
                    |key: &Key| Key { col: if call.args.contains(&key.col) { key.col } else { *arg }, ..*key };
                // DataFusion requires the keys to equal the arguments.
                self.column_keys(&call.order.iter().map(of_args).collect::<Vec<_>>())
            }
            _ => self.sort_keys(&call.order, schema),
        }
    }
}

/// The function of the sorted values that implements an aggregate with WITHIN GROUP.
fn over_sorted_values(aggregate: &str) -> Option<&'static str> {
    Some(match aggregate {
        "percentile_disc" => "value at share",
        "percentile_cont" => "value between shares",
        "mode" => "most frequent",
        _ => return None,
    })
}

/// DataFusion's name of an aggregate.
pub(in crate::lower) fn aggregate_name(name: &str) -> &str {
    match name {
        "every" => "bool_and",
        "variance" => "var_samp",
        "stddev" => "stddev_samp",
        name => name,
    }
}

/// Replaces the aggregates and window functions in the expression by columns, and adds them to `parts` without
/// duplicates.
pub(in crate::lower) fn above(planned: Expr, parts: &mut Vec<Expr>) -> LowerResult<Expr> {
    let lifted = planned.transform_down(|expr| match expr {
        Expr::AggregateFunction(_) | Expr::WindowFunction(_) => {
            let column = Column::new_unqualified(expr.schema_name().to_string());
            if !parts.contains(&expr) {
                parts.push(expr);
            }
            Ok(Transformed::yes(Expr::Column(column)))
        }
        expr => Ok(Transformed::no(expr)),
    });
    Ok(lifted.data()?)
}
