//! Grouping of intervals by length: `1 day` and `24:00:00` are one group and one row of DISTINCT.
//!
//! DataFusion compares intervals field by field. So groups are formed by length, and a group returns its first
//! interval:
//!
//! ```text
//!   Projection first AS i, sum(n)
//!     Aggregate group=[length] aggr=[sum(n), first_value(i) AS first]
//!       Projection *, span(i) AS length
//! ```

use crate::functions::interval_span;
use crate::lower::Lowering;
use crate::lower::error::LowerResult;
use crate::lower::rel::aggregate::{Groups, above};
use crate::lower::rel::without_repetitions;
use ::bind::tree::ColId;
use arrow::datatypes::DataType as ArrowType;
use builtins::TypeId;
use datafusion::common::{Column, ScalarValue};
use datafusion::functions_aggregate::expr_fn::first_value;
use datafusion::logical_expr::{Aggregate, Distinct, Expr, LogicalPlan, Projection, when};
use std::sync::Arc;

/// The column that replaces an interval among the group keys.
pub(in crate::lower) struct Length {
    pub(in crate::lower) key: ColId,
    /// The column of the length.
    pub(in crate::lower) length: Column,
}

impl Lowering<'_> {
    /// Adds a column with the length of each interval among the keys.
    pub(in crate::lower) fn with_lengths(
        &mut self,
        rows: LogicalPlan,
        keys: &[ColId],
    ) -> LowerResult<(LogicalPlan, Vec<Length>)> {
        let is_interval = |key: &&ColId| self.bound.col(**key).is_some_and(|info| info.ty.id == TypeId::INTERVAL);
        let mut intervals: Vec<ColId> = keys.iter().filter(is_interval).copied().collect();
        intervals.sort_unstable();
        intervals.dedup();
        if intervals.is_empty() {
            return Ok((rows, Vec::new()));
        }
        let mut exprs: Vec<Expr> = rows.schema().columns().into_iter().map(Expr::Column).collect();
        let mut lengths = Vec::with_capacity(intervals.len());
        for key in intervals {
            let span = interval_span(Expr::Column(self.columns.get(key)?.clone()));
            let length = self.columns.nameless("length");
            exprs.push(span.alias_qualified(length.relation.clone(), length.name.clone()));
            lengths.push(Length { key, length });
        }
        Ok((LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(rows))?), lengths))
    }

    /// The output expressions of the keys; adds `first_value` of the intervals to `parts`.
    pub(in crate::lower) fn shown_keys(
        &self,
        of: &Groups<'_>,
        lengths: &[Length],
        parts: &mut Vec<Expr>,
    ) -> LowerResult<Vec<Expr>> {
        let mut shown = Vec::with_capacity(of.keys.len());
        for key in of.keys {
            let column = self.columns.get(*key)?.clone();
            let value = Expr::Column(column.clone());
            let Some(length) = lengths.iter().find(|length| length.key == *key) else {
                shown.push(value);
                continue;
            };
            let mut first = above(first_value(value, Vec::new()), parts)?;
            if !of.sets.is_empty() {
                // In a grouping set without the interval its length is NULL, and so must be the interval.
                let none = Expr::Literal(ScalarValue::IntervalMonthDayNano(None), None);
                first = when(Expr::Column(length.length.clone()).is_not_null(), first).otherwise(none)?;
            }
            shown.push(first.alias_qualified(column.relation, column.name));
        }
        Ok(without_repetitions(shown))
    }

    /// DISTINCT.
    pub(in crate::lower) fn distinct_rows(&mut self, rows: LogicalPlan) -> LowerResult<LogicalPlan> {
        let is_interval = |ty: &ArrowType| matches!(ty, ArrowType::Interval(_));
        if !rows.schema().fields().iter().any(|field| is_interval(field.data_type())) {
            return Ok(LogicalPlan::Distinct(Distinct::All(Arc::new(rows))));
        }
        let schema = Arc::clone(rows.schema());
        let (mut below, mut groups, mut parts, mut shown) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (column, field) in schema.columns().into_iter().zip(schema.fields()) {
            let value = Expr::Column(column.clone());
            below.push(value.clone());
            if !is_interval(field.data_type()) {
                groups.push(value.clone());
                shown.push(value);
                continue;
            }
            let length = self.columns.nameless("length");
            let span = interval_span(value.clone());
            below.push(span.alias_qualified(length.relation.clone(), length.name.clone()));
            groups.push(Expr::Column(length));
            let first = above(first_value(value, Vec::new()), &mut parts)?;
            shown.push(first.alias_qualified(column.relation, column.name));
        }
        let rows = LogicalPlan::Projection(Projection::try_new(below, Arc::new(rows))?);
        let groups = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(rows), groups, parts)?);
        Ok(LogicalPlan::Projection(Projection::try_new(shown, Arc::new(groups))?))
    }
}
