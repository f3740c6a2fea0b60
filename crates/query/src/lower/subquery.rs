//! Subqueries in expressions. They stay expressions here: decorrelation makes joins of them.

use super::Lowering;
use super::call::operator_name;
use super::compare::operator_of;
use super::error::{LowerResult, internal};
use crate::functions::even_items;
use crate::plan::outer_references;
use crate::representation::{compare_rows, planned_operator};
use ::bind::tree::{ColId, CompareOp, Key, Rel, Scalar, Subquery, SubqueryKind};
use builtins::Ty;
use datafusion::common::{Column, DFSchemaRef, ScalarValue, Spans};
use datafusion::functions_aggregate::bool_and_or::bool_or;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::expr::{AggregateFunction, Exists, InSubquery};
use datafusion::logical_expr::utils::COUNT_STAR_EXPANSION;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, Projection, Subquery as Query, lit, when};
use std::sync::Arc;

impl Lowering<'_> {
    pub(super) fn subquery(&mut self, subquery: &Subquery, _ty: Ty, schema: &DFSchemaRef) -> LowerResult<Expr> {
        match &subquery.kind {
            SubqueryKind::Scalar => {
                let rows = self.inner(subquery, schema)?;
                Ok(Expr::ScalarSubquery(query(rows)))
            }
            SubqueryKind::Exists => self.exists(subquery, false, schema),
            SubqueryKind::Quantified { .. } => self.quantified(subquery, false, schema),
            SubqueryKind::ArrayOf => {
                let array = self.array(subquery, schema)?;
                let array = if self.is_array(&subquery.cols) { even_items(array) } else { array };
                self.named("array_or_empty", vec![array])
            }
        }
    }

    pub(super) fn negated_subquery(&mut self, subquery: &Subquery, schema: &DFSchemaRef) -> LowerResult<Expr> {
        match subquery.kind {
            SubqueryKind::Exists => self.exists(subquery, true, schema),
            _ => self.quantified(subquery, true, schema),
        }
    }

    fn exists(&mut self, subquery: &Subquery, negated: bool, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let rel = existing(&subquery.rel);
        self.outer.push(Arc::clone(schema));
        let rows = self.rel(rel);
        self.outer.pop();
        let rows = rows?;
        if is_plain(rel) {
            return Ok(Expr::Exists(Exists::new(query(rows), negated)));
        }
        // Of groups and the like decorrelation knows the number, outer row by outer row.
        let counted = count_udaf().call(vec![Expr::Literal(COUNT_STAR_EXPANSION, None)]);
        let rows = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(rows), Vec::new(), vec![counted])?);
        let count = Expr::ScalarSubquery(query(rows));
        let none = Expr::Literal(ScalarValue::Int64(Some(0)), None);
        Ok(if negated { count.eq(none) } else { count.gt(none) })
    }

    fn quantified(&mut self, subquery: &Subquery, negated: bool, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let SubqueryKind::Quantified { left, ops, all } = &subquery.kind else { return internal("this subquery") };
        let ([left], [op]) = (left.as_slice(), ops.as_slice()) else {
            let sign = ops.first().and_then(|op| operator_name(*op, 2));
            let Some(op) = sign.and_then(CompareOp::of_sign) else { return internal("ANY of this function of rows") };
            let test = self.row_quantified(subquery, (left, op), *all, schema)?;
            return Ok(if negated { Expr::Not(Box::new(test)) } else { test });
        };
        let Some(sign) = operator_name(*op, 2) else { return internal("ANY of this function") };
        let value = self.expr(left, schema)?;
        let is_in = match (sign, all) {
            ("=", false) => Some(negated),
            ("<>", true) => Some(!negated),
            _ => None,
        };
        if let Some(negated) = is_in {
            let rows = self.inner(subquery, schema)?;
            return Ok(Expr::InSubquery(InSubquery::new(Box::new(value), query(rows), negated)));
        }
        let array = self.array(subquery, schema)?;
        let array = self.named("array_or_empty", vec![array])?;
        let test = self.named(&format!("{sign} {}", if *all { "all" } else { "any" }), vec![value, array])?;
        Ok(if negated { Expr::Not(Box::new(test)) } else { test })
    }

    /// `(a, b) op ANY (SELECT …)`: decided by one row, unknown because of a NULL, or decided by no row.
    fn row_quantified(
        &mut self,
        subquery: &Subquery,
        (left, op): (&[Scalar], CompareOp),
        all: bool,
        schema: &DFSchemaRef,
    ) -> LowerResult<Expr> {
        self.outer.push(Arc::clone(schema));
        let counted = self.row_counts(subquery, (left, op), all);
        self.outer.pop();
        Ok(Expr::ScalarSubquery(query(counted?)))
    }

    fn row_counts(
        &mut self,
        subquery: &Subquery,
        (left, op): (&[Scalar], CompareOp),
        all: bool,
    ) -> LowerResult<LogicalPlan> {
        let rows = self.rel(&subquery.rel)?;
        let inner = Arc::clone(rows.schema());
        let left = left.iter().map(|value| self.expr(value, &inner)).collect::<LowerResult<Vec<_>>>()?;
        let right = subquery.cols.iter().map(|col| self.column(*col, &inner)).collect::<LowerResult<Vec<_>>>()?;
        let outer = self.outer.last().cloned();
        let one = |a, op, b| match &outer {
            Some(outer) => planned_operator(op, a, b, &Arc::new(inner.join(outer)?)),
            None => planned_operator(op, a, b, &inner),
        };
        let holds = compare_rows(&left, operator_of(op), &right, &one)?;
        let decisive = if all { Expr::Not(Box::new(holds.clone())) } else { holds.clone() };
        let (decided, unknown) = (self.columns.nameless("decided"), self.columns.nameless("unknown"));
        let named = |value: Expr, column: &Column| value.alias_qualified(column.relation.clone(), column.name.clone());
        let exprs = vec![named(decisive, &decided), named(holds.is_null(), &unknown)];
        let rows = LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(rows))?);
        let calls = [decided, unknown].map(|column| bool_or(Expr::Column(column)));
        let names: Vec<Column> =
            calls.iter().map(|call| Column::new_unqualified(call.schema_name().to_string())).collect();
        let rows = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(rows), Vec::new(), calls.to_vec())?);
        let is_true = |at: usize| names.get(at).map(|column| Expr::Column(column.clone()).is_true());
        let (Some(decided), Some(unknown)) = (is_true(0), is_true(1)) else { return internal("this subquery") };
        let value = when(decided, lit(!all)).when(unknown, lit(ScalarValue::Boolean(None))).otherwise(lit(all))?;
        let column = self.columns.nameless("test");
        let value = vec![value.alias_qualified(column.relation, column.name)];
        Ok(LogicalPlan::Projection(Projection::try_new(value, Arc::new(rows))?))
    }

    /// The values of the only column as an array, in the order of the rows; NULL of no rows.
    fn array(&mut self, subquery: &Subquery, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let [col] = subquery.cols.as_slice() else { return internal("an array of several columns") };
        let Some(func) = self.planner.aggregate_function("array_agg") else { return internal("array_agg") };
        let rows = self.inner_rows(subquery, schema)?;
        self.outer.push(Arc::clone(schema));
        let value = self.column(*col, rows.schema());
        self.outer.pop();
        // Decorrelation keeps the order that an aggregate asks for, and no other.
        let keys = order_of(&subquery.rel);
        let order = self.sort_keys(keys)?;
        let order = if order.iter().all(|by| is_column_of(&by.expr, rows.schema())) { order } else { Vec::new() };
        let call = AggregateFunction::new_udf(func, vec![value?], false, None, order, None);
        let collected = vec![Expr::AggregateFunction(call)];
        let rows = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(rows), Vec::new(), collected)?);
        Ok(Expr::ScalarSubquery(query(rows)))
    }

    /// The subquery's output columns.
    fn inner(&mut self, subquery: &Subquery, schema: &DFSchemaRef) -> LowerResult<LogicalPlan> {
        self.outer.push(Arc::clone(schema));
        let rows = self.rel(&subquery.rel).and_then(|rows| self.only(rows, &subquery.cols));
        self.outer.pop();
        rows
    }

    /// The subquery's rows, whatever columns they have.
    fn inner_rows(&mut self, subquery: &Subquery, schema: &DFSchemaRef) -> LowerResult<LogicalPlan> {
        self.outer.push(Arc::clone(schema));
        let rows = self.rel(&subquery.rel);
        self.outer.pop();
        rows
    }

    fn only(&mut self, rows: LogicalPlan, cols: &[ColId]) -> LowerResult<LogicalPlan> {
        let mut exprs: Vec<Expr> = Vec::with_capacity(cols.len());
        for col in cols {
            let value = self.column(*col, rows.schema())?;
            if exprs.contains(&value) || matches!(value, Expr::OuterReferenceColumn(..)) {
                let column = self.columns.nameless("item");
                exprs.push(value.alias_qualified(column.relation, column.name));
            } else {
                exprs.push(value);
            }
        }
        Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(rows))?))
    }
}

fn query(rows: LogicalPlan) -> Query {
    let outer_ref_columns = outer_references(&rows);
    Query { subquery: Arc::new(rows), outer_ref_columns, spans: Spans::new() }
}

/// What has rows if and only if `rel` has some, and is the least to compute.
fn existing(rel: &Rel) -> &Rel {
    match rel {
        Rel::Project { input, .. } | Rel::Sort { input, .. } | Rel::Distinct { input, .. } => existing(input),
        Rel::Aggregate { input, keys, sets, .. } if !keys.is_empty() && sets.is_empty() => existing(input),
        _ => rel,
    }
}

/// Are its rows those of tables, joined and filtered?
fn is_plain(rel: &Rel) -> bool {
    match rel {
        Rel::Filter { input, .. } | Rel::Project { input, .. } => is_plain(input),
        Rel::Join { left, right, .. } => is_plain(left) && is_plain(right),
        Rel::Scan { .. } | Rel::Computed { .. } | Rel::CteScan { .. } | Rel::Values { .. } | Rel::OneRow => true,
        _ => false,
    }
}

/// The order in which rows come.
fn order_of(rel: &Rel) -> &[Key] {
    match rel {
        Rel::Sort { keys, .. } => keys,
        Rel::Project { input, .. } | Rel::Limit { input, .. } | Rel::Filter { input, .. } => order_of(input),
        _ => &[],
    }
}

fn is_column_of(expr: &Expr, schema: &DFSchemaRef) -> bool {
    matches!(expr, Expr::Column(column) if schema.has_column(column))
}
