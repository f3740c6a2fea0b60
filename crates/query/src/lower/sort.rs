//! Order, limits and rows that differ.

use super::Lowering;
use super::error::LowerResult;
use crate::functions::WITH_TIES;
use ::bind::tree::{ColId, Key, Rel, Scalar};
use datafusion::common::DFSchema;
use datafusion::logical_expr::{Distinct, DistinctOn, Expr, Limit, LogicalPlan, Projection, Sort, SortExpr};
use std::sync::Arc;

impl Lowering<'_> {
    pub(super) fn sort(&mut self, input: LogicalPlan, keys: &[Key]) -> LowerResult<LogicalPlan> {
        let expr = self.sort_keys(keys)?;
        Ok(LogicalPlan::Sort(Sort { expr, input: Arc::new(input), fetch: None }))
    }

    /// Keys of an order; a column that comes a second time orders nothing.
    pub(super) fn sort_keys(&self, keys: &[Key]) -> LowerResult<Vec<SortExpr>> {
        let mut sorted: Vec<SortExpr> = Vec::with_capacity(keys.len());
        for key in keys {
            let column = Expr::Column(self.columns.get(key.col)?.clone());
            if !sorted.iter().any(|known| known.expr == column) {
                sorted.push(SortExpr::new(column, !key.desc, key.nulls_first));
            }
        }
        Ok(sorted)
    }

    pub(super) fn limit(
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
            fetch = Some(self.named(WITH_TIES, vec![count])?);
        }
        let (skip, fetch) = (skip.map(Box::new), fetch.map(Box::new));
        Ok(LogicalPlan::Limit(Limit { skip, fetch, input: Arc::new(input) }))
    }

    pub(super) fn distinct(&mut self, input: &Rel, on: &[ColId], order: Option<&[Key]>) -> LowerResult<LogicalPlan> {
        let input = self.rel(input)?;
        let input = Arc::new(self.signless(input, on)?);
        let on = on.iter().map(|col| Ok(Expr::Column(self.columns.get(*col)?.clone())));
        let on = on.collect::<LowerResult<Vec<_>>>()?;
        let Some(order) = order else {
            let mut kept: Vec<Expr> = Vec::with_capacity(on.len());
            on.into_iter().for_each(|column| {
                if !kept.contains(&column) {
                    kept.push(column)
                }
            });
            let rows = LogicalPlan::Projection(Projection::try_new(kept, input)?);
            return Ok(LogicalPlan::Distinct(Distinct::All(Arc::new(rows))));
        };
        let all = input.schema().columns().into_iter().map(Expr::Column).collect();
        let sort = self.sort_keys(order)?;
        let sort = (!sort.is_empty()).then_some(sort);
        Ok(LogicalPlan::Distinct(Distinct::On(DistinctOn::try_new(on, all, sort, input)?)))
    }
}
