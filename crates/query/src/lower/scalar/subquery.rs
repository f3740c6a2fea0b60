//! Subqueries in expressions. They stay expressions here; decorrelation joins them.

use crate::functions::even_items;
use crate::functions::nullable;
use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal};
use crate::lower::scalar::call::operator_name;
use crate::plan::outer_references;
use ::bind::tree::{ColId, Key, Rel, Subquery, SubqueryKind};
use builtins::Ty;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchemaRef, ScalarValue, Spans};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::expr::{AggregateFunction, Exists, InSubquery};
use datafusion::logical_expr::type_coercion::binary::comparison_coercion;
use datafusion::logical_expr::utils::COUNT_STAR_EXPANSION;
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable, LogicalPlan, Projection, Subquery as Query};
use std::sync::Arc;

impl Lowering<'_> {
    pub(in crate::lower) fn subquery(
        &mut self,
        subquery: &Subquery,
        _ty: Ty,
        schema: &DFSchemaRef,
    ) -> LowerResult<Expr> {
        match &subquery.kind {
            SubqueryKind::Scalar => {
                let subquery = query(self.inner(subquery, schema)?);
                Ok(Expr::ScalarSubquery(self.mark_nullable_if_empty(subquery)?))
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

    pub(in crate::lower) fn negated_subquery(
        &mut self,
        subquery: &Subquery,
        schema: &DFSchemaRef,
    ) -> LowerResult<Expr> {
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
        // Decorrelation counts the rows of aggregates and similar nodes per outer row.
        let counted = count_udaf().call(vec![Expr::Literal(COUNT_STAR_EXPANSION, None)]);
        let rows = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(rows), Vec::new(), vec![counted])?);
        let count = Expr::ScalarSubquery(query(rows));
        let none = Expr::Literal(ScalarValue::Int64(Some(0)), None);
        Ok(if negated { count.eq(none) } else { count.gt(none) })
    }

    fn quantified(&mut self, subquery: &Subquery, negated: bool, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let SubqueryKind::Quantified { left, ops, all } = &subquery.kind else { return internal("this subquery") };
        let ([left], [op]) = (left.as_slice(), ops.as_slice()) else {
            return self.row_quantified(subquery, negated, schema);
        };
        let Some(sign) = operator_name(*op, 2) else { return internal("ANY of this function") };
        let value = self.expr(left, schema)?;
        let is_in = match (sign, all) {
            // DataFusion's join cannot compare a value that contains an EXISTS or IN test, or a correlated subquery.
            _ if needs_subquery(&value) => None,
            ("=", false) => Some(negated),
            ("<>", true) => Some(!negated),
            _ => None,
        };
        if let Some(negated) = is_in {
            let rows = self.inner(subquery, schema)?;
            return self.within(value, rows, negated, schema);
        }
        let array = self.array(subquery, schema)?;
        let array = self.named("array_or_empty", vec![array])?;
        let element = subquery.cols.first().and_then(|col| self.bound.col(*col)).map(|info| info.ty);
        let test = self.quantified_test(sign, *all, (value, left.ty), (array, element.unwrap_or(left.ty)), schema)?;
        Ok(if negated { Expr::Not(Box::new(test)) } else { test })
    }

    /// `value [NOT] IN (SELECT …)`, with adapted operands.
    fn within(&mut self, mut value: Expr, rows: LogicalPlan, negated: bool, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let Some(column) = rows.schema().columns().into_iter().next() else { return internal("IN of no column") };
        let mut item = Expr::Column(column.clone());
        self.comparable_bits((&mut value, schema), (&mut item, rows.schema()));
        // DataFusion would cast the column under its own name, and decorrelation needs the uncast column beside it.
        let (of_value, of_item) = (value.get_type(schema)?, item.get_type(rows.schema())?);
        if let Some(common) = comparison_coercion(&of_value, &of_item).filter(|common| *common != of_item) {
            item = item.cast_to(&common, rows.schema())?;
        }
        let rows = match item {
            Expr::Column(_) => rows,
            item => {
                // In an operand of OR, DataFusion looks up the column by its name alone.
                let name = self.columns.nameless("item");
                let item = vec![item.alias_qualified(name.relation, name.name)];
                LogicalPlan::Projection(Projection::try_new(item, Arc::new(rows))?)
            }
        };
        let mut subquery = query(rows);
        // For NOT IN, DataFusion tests the value for NULL only if a compared column is nullable; of an expression it
        // looks at the columns inside, but `nullif(id, 0)` can be NULL even if `id` is NOT NULL.
        if negated && !matches!(value, Expr::Column(_)) && value.nullable(schema)? {
            subquery = mark_columns_nullable(subquery)?;
        }
        Ok(Expr::InSubquery(InSubquery::new(Box::new(value), subquery, negated)))
    }

    /// Marks the column of an uncorrelated subquery that may return no row as nullable, because DataFusion infers NOT
    /// NULL. Correlated subqueries become outer joins, which are nullable anyway.
    fn mark_nullable_if_empty(&self, subquery: Query) -> LowerResult<Query> {
        let rows = &subquery.subquery;
        let never_null = rows.schema().fields().first().is_some_and(|field| !field.is_nullable());
        if !never_null || !subquery.outer_ref_columns.is_empty() || has_a_row(rows) {
            return Ok(subquery);
        }
        mark_columns_nullable(subquery)
    }

    /// The values of the only column as an array, in the order of the rows; NULL if there are no rows.
    fn array(&mut self, subquery: &Subquery, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let [col] = subquery.cols.as_slice() else { return internal("an array of several columns") };
        let Some(func) = self.planner.aggregate_function("array_agg") else { return internal("array_agg") };
        let rows = self.inner_rows(subquery, schema)?;
        self.outer.push(Arc::clone(schema));
        let value = self.column(*col, rows.schema());
        self.outer.pop();
        // Decorrelation keeps only the order that an aggregate requires.
        let keys = order_of(&subquery.rel);
        let within = self.column_keys(keys)?.iter().all(|by| is_column_of(&by.expr, rows.schema()));
        let order = if within { self.sort_keys(keys, rows.schema())? } else { Vec::new() };
        let call = AggregateFunction::new_udf(func, vec![value?], false, None, order, None);
        let collected = vec![Expr::AggregateFunction(call)];
        let rows = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(rows), Vec::new(), collected)?);
        Ok(Expr::ScalarSubquery(query(rows)))
    }

    /// Lowers the subquery, projected to its output columns.
    fn inner(&mut self, subquery: &Subquery, schema: &DFSchemaRef) -> LowerResult<LogicalPlan> {
        self.outer.push(Arc::clone(schema));
        let rows = self.rel(&subquery.rel).and_then(|rows| self.only(rows, &subquery.cols));
        self.outer.pop();
        rows
    }

    /// Lowers the subquery with all its columns.
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

pub(in crate::lower) fn query(rows: LogicalPlan) -> Query {
    let outer_ref_columns = outer_references(&rows);
    Query { subquery: Arc::new(rows), outer_ref_columns, spans: Spans::new() }
}

/// Does it contain an EXISTS or IN test, or a correlated scalar subquery?
fn needs_subquery(value: &Expr) -> bool {
    let needs = |part: &Expr| match part {
        Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_) => true,
        Expr::ScalarSubquery(subquery) => !subquery.outer_ref_columns.is_empty(),
        _ => false,
    };
    value.exists(|part| Ok(needs(part))).unwrap_or(true)
}

/// Marks the columns of a subquery as nullable, also after constant folding.
fn mark_columns_nullable(subquery: Query) -> LowerResult<Query> {
    let rows = Arc::clone(&subquery.subquery);
    let columns = rows.schema().columns().into_iter();
    let columns = columns.map(|column| {
        let value = nullable(Expr::Column(column.clone()));
        value.alias_qualified(column.relation, column.name)
    });
    let rows = LogicalPlan::Projection(Projection::try_new(columns.collect(), rows)?);
    Ok(Query { subquery: Arc::new(rows), ..subquery })
}

/// Does a plan return a row for any table contents?
fn has_a_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => has_a_row(&projection.input),
        LogicalPlan::Sort(sort) => has_a_row(&sort.input),
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::EmptyRelation(relation) => relation.produce_one_row,
        _ => false,
    }
}

/// A cheaper node that has rows if and only if `rel` has.
fn existing(rel: &Rel) -> &Rel {
    match rel {
        Rel::Project { input, .. } | Rel::Sort { input, .. } | Rel::Distinct { input, .. } => existing(input),
        Rel::Aggregate { input, keys, sets, .. } if !keys.is_empty() && sets.is_empty() => existing(input),
        _ => rel,
    }
}

/// Is it built from scans, joins, filters and projections only?
fn is_plain(rel: &Rel) -> bool {
    match rel {
        Rel::Filter { input, .. } | Rel::Project { input, .. } => is_plain(input),
        Rel::Join { left, right, .. } => is_plain(left) && is_plain(right),
        Rel::Scan { .. } | Rel::Computed { .. } | Rel::CteScan { .. } | Rel::Values { .. } | Rel::OneRow => true,
        _ => false,
    }
}

/// The sort keys of the rows.
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
