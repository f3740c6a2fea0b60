//! ORDER BY, LIMIT and DISTINCT.

use crate::functions::WITH_TIES;
use crate::lower::Lowering;
use crate::lower::error::LowerResult;
use crate::lower::rel::without_repetitions;
use crate::lower::scalar::comparable::by_length;
use crate::lower::scalar::zero::without_sign;
use ::bind::tree::{ColId, Key, Rel, Scalar};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DFSchema, DFSchemaRef};
use datafusion::logical_expr::{
    Distinct, DistinctOn, Expr, ExprSchemable, Limit, LogicalPlan, Projection, Sort, SortExpr,
};
use std::sync::Arc;
use types::DataType;

impl Lowering<'_> {
    pub(in crate::lower) fn sort(&mut self, input: LogicalPlan, keys: &[Key]) -> LowerResult<LogicalPlan> {
        let expr = self.sort_keys(keys, input.schema())?;
        Ok(LogicalPlan::Sort(Sort { expr, input: Arc::new(input), fetch: None }))
    }

    /// The sort keys over rows of `schema`.
    pub(in crate::lower) fn sort_keys(&self, keys: &[Key], schema: &DFSchemaRef) -> LowerResult<Vec<SortExpr>> {
        let mut sorted = Vec::with_capacity(keys.len());
        for SortExpr { expr, asc, nulls_first } in self.column_keys(keys)? {
            let value = ordered(expr, schema);
            if asc == nulls_first && is_list(&value, schema)? {
                // In Arrow 59.3 NULLS FIRST also puts NULL elements first within arrays: PostgreSQL has them last, even
                // if NULL arrays come first.
                sorted.push(SortExpr::new(value.clone().is_null(), !nulls_first, false));
                sorted.push(SortExpr::new(value, asc, !asc));
            } else {
                sorted.push(SortExpr::new(value, asc, nulls_first));
            }
        }
        Ok(sorted)
    }

    /// The columns of an order, without duplicates.
    pub(in crate::lower) fn column_keys(&self, keys: &[Key]) -> LowerResult<Vec<SortExpr>> {
        let mut sorted: Vec<SortExpr> = Vec::with_capacity(keys.len());
        for key in keys {
            let column = Expr::Column(self.columns.get(key.col)?.clone());
            if !sorted.iter().any(|known| known.expr == column) {
                sorted.push(SortExpr::new(column, !key.desc, key.nulls_first));
            }
        }
        Ok(sorted)
    }

    pub(in crate::lower) fn limit(
        &mut self,
        input: &Rel,
        offset: Option<&Scalar>,
        count: Option<&Scalar>,
        ties: bool,
    ) -> LowerResult<LogicalPlan> {
        let input = self.rel(input)?;
        let none = Arc::new(DFSchema::empty());
        let mut bound = |value: Option<&Scalar>| -> LowerResult<Option<Expr>> {
            value.map(|value| self.count(value, &none)).transpose()
        };
        let (skip, mut fetch) = (bound(offset)?, bound(count)?);
        if let (true, Some(count)) = (ties, fetch.take_if(|_| ties)) {
            fetch = Some(self.sql_call(WITH_TIES, &[DataType::BigInt], vec![count])?);
        }
        let (skip, fetch) = (skip.map(Box::new), fetch.map(Box::new));
        Ok(LogicalPlan::Limit(Limit { skip, fetch, input: Arc::new(input) }))
    }

    pub(in crate::lower) fn distinct(
        &mut self,
        input: &Rel,
        on: &[ColId],
        order: Option<&[Key]>,
    ) -> LowerResult<LogicalPlan> {
        let input = self.rel(input)?;
        let columns = on.iter().map(|col| Ok(Expr::Column(self.columns.get(*col)?.clone())));
        let columns = columns.collect::<LowerResult<Vec<_>>>()?;
        let Some(order) = order else {
            let rows = self.signless(input, on)?;
            let rows = LogicalPlan::Projection(Projection::try_new(without_repetitions(columns), Arc::new(rows))?);
            return self.distinct_rows(rows);
        };
        let input = Arc::new(input);
        let all = input.schema().columns().into_iter().map(Expr::Column).collect();
        let sort = self.sort_keys(order, input.schema())?;
        let mut keys = Vec::with_capacity(columns.len());
        for column in without_repetitions(columns) {
            let value = ordered(column, input.schema());
            let absent = value.clone().is_null();
            keys.extend(sort.iter().any(|key| key.expr == absent).then_some(absent));
            keys.push(value);
        }
        // DataFusion requires that the keys are a prefix of the sort keys, in the same order.
        keys.sort_by_key(|on| sort.iter().position(|key| key.expr == *on).unwrap_or(sort.len()));
        let sort = (!sort.is_empty()).then_some(sort);
        Ok(LogicalPlan::Distinct(Distinct::On(DistinctOn::try_new(keys, all, sort, input)?)))
    }
}

fn is_list(value: &Expr, schema: &DFSchema) -> LowerResult<bool> {
    Ok(matches!(value.get_type(schema)?, ArrowType::List(_)))
}

/// The sort key of a value: intervals by their lengths, floats without the sign of zero.
pub(in crate::lower) fn ordered(value: Expr, schema: &DFSchema) -> Expr {
    by_length(without_sign(value, schema), schema)
}
