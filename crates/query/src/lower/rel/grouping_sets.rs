//! Grouping sets.

use crate::error::QueryError;
use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal};
use ::bind::tree::{ColId, ColSet};
use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::common::{Column, DFSchema, JoinType, ScalarValue};
use datafusion::logical_expr::{
    Aggregate, Cast, Expr, GroupingSet, LogicalPlan, Operator, Projection, Values, binary_expr,
};
use std::sync::Arc;

impl Lowering<'_> {
    /// Gives each key a column of its own. Keys that are two names of one column are in different sets.
    pub(super) fn with_column_per_key(&mut self, rows: LogicalPlan, keys: &[ColId]) -> LowerResult<LogicalPlan> {
        let mut taken: Vec<Column> = Vec::with_capacity(keys.len());
        let mut copies = Vec::new();
        for key in keys {
            let column = self.columns.get(*key)?.clone();
            if taken.contains(&column) {
                let Column { relation, name, .. } = self.columns.computed(*key, &column.name);
                copies.push(Expr::Column(column).alias_qualified(relation, name));
            } else {
                taken.push(column);
            }
        }
        if copies.is_empty() {
            return Ok(rows);
        }
        let columns = rows.schema().columns().into_iter().map(Expr::Column);
        Ok(LogicalPlan::Projection(Projection::try_new(columns.chain(copies).collect(), Arc::new(rows))?))
    }

    /// Repeats the single group for each of several empty grouping sets.
    pub(super) fn repeated(&mut self, group: LogicalPlan, times: usize) -> LowerResult<LogicalPlan> {
        let column = self.columns.nameless("set");
        let number = Arc::new(Field::new(column.name, ArrowType::Boolean, true));
        let schema = DFSchema::new_with_metadata(vec![(column.relation, number)], Default::default())?;
        let one = vec![Expr::Literal(ScalarValue::Boolean(None), None)];
        let sets = LogicalPlan::Values(Values { schema: Arc::new(schema), values: vec![one; times] });
        self.joined(JoinType::Inner, group, sets, &[])
    }

    /// The keys, or their grouping sets: the columns of a set are in the order of the keys.
    pub(super) fn in_sets(&self, keys: Vec<Expr>, sets: &[ColSet]) -> LowerResult<Vec<Expr>> {
        if sets.is_empty() {
            return Ok(keys);
        }
        if keys.is_empty() {
            // Each set is one group of all rows: see [`Self::repeated`].
            return Ok(keys);
        }
        let mut all: Vec<Vec<Expr>> = Vec::with_capacity(sets.len());
        for set in sets {
            let cols = set.iter().map(|col| Ok(Expr::Column(self.columns.get(*col)?.clone())));
            let cols = cols.collect::<LowerResult<Vec<Expr>>>()?;
            all.push(keys.iter().filter(|key| cols.contains(key)).cloned().collect());
        }
        Ok(vec![Expr::GroupingSet(GroupingSet::GroupingSets(all))])
    }

    /// GROUPING of some keys, from the bits of the keys that the grouping set lacks: the last key's bit is the lowest.
    pub(super) fn grouping(&self, of: &[ColId], groups: Option<&Expr>) -> LowerResult<Expr> {
        let number = |value: i64| Expr::Literal(ScalarValue::Int64(Some(value)), None);
        let Some(Expr::GroupingSet(sets)) = groups else {
            return Ok(Expr::Literal(ScalarValue::Int32(Some(0)), None));
        };
        let keys = sets.distinct_expr();
        let id = Expr::Column(Column::new_unqualified(Aggregate::INTERNAL_GROUPING_ID));
        let id = Expr::Cast(Cast::new(Box::new(id), ArrowType::Int64));
        let mut bits = number(0);
        for col in of {
            let column = Expr::Column(self.columns.get(*col)?.clone());
            let Some(at) = keys.iter().rev().position(|key| **key == column) else {
                return internal("GROUPING of no key");
            };
            let shift = i64::try_from(at).map_err(|_| QueryError::internal("so many keys"))?;
            let bit = binary_expr(id.clone(), Operator::BitwiseShiftRight, number(shift));
            let bit = binary_expr(bit, Operator::BitwiseAnd, number(1));
            bits = binary_expr(binary_expr(bits, Operator::Multiply, number(2)), Operator::Plus, bit);
        }
        Ok(Expr::Cast(Cast::new(Box::new(bits), ArrowType::Int32)))
    }
}
