//! Rows compared with those of a subquery: `(a, b) IN (SELECT x, y …)`, `(a, b) < ANY (…)`.
//!
//! ```text
//!   IN, where NULL counts as false         EXISTS (… WHERE x = a AND y = b)             a semi join by the keys
//!   NOT IN, where NULL counts as false     NOT EXISTS (the same), and for nullable x, y, a, b
//!                                          NOT EXISTS (… WHERE (x IS NULL OR …) AND (x = a AND y = b) IS NULL)
//!                                          NOT EXISTS (… WHERE (a IS NULL OR …) AND (x = a AND y = b) IS NULL)
//!   both, elsewhere                        CASE over the same
//!   other comparisons                      aggregated over all rows of the subquery
//! ```

use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal};
use crate::lower::scalar::call::operator_name;
use crate::lower::scalar::compare::operator_of;
use crate::lower::scalar::row_compare::{compare_rows, join};
use crate::lower::scalar::subquery::query;
use ::bind::tree::{Kind, Scalar, Subquery, SubqueryKind};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, DFSchemaRef, ScalarValue};
use datafusion::functions_aggregate::bool_and_or::bool_or;
use datafusion::logical_expr::expr::Exists;
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable, Filter, LogicalPlan, Operator, Projection, lit, when};
use std::sync::Arc;
use types::CompareOp;

/// A comparison of a row with the rows of a subquery.
struct RowTest<'b> {
    subquery: &'b Subquery,
    left: &'b [Scalar],
    op: CompareOp,
    all: bool,
}

impl<'b> RowTest<'b> {
    /// `None` for single values, or for another operator.
    fn of(subquery: &'b Subquery) -> Option<Self> {
        let SubqueryKind::Quantified { left, ops, all } = &subquery.kind else { return None };
        let op = CompareOp::of_sign(operator_name(*ops.first()?, 2)?)?;
        (left.len() > 1).then_some(Self { subquery, left, op, all: *all })
    }

    /// `false` for IN, `true` for NOT IN.
    fn is_in(&self) -> Option<bool> {
        match (self.op, self.all) {
            (CompareOp::Eq, false) => Some(false),
            (CompareOp::Ne, true) => Some(true),
            _ => None,
        }
    }
}

/// The rows of the subquery, and the comparison with the outer row.
struct Compared {
    rows: LogicalPlan,
    left: Vec<Expr>,
    right: Vec<Expr>,
    /// The comparison, for one row of the subquery.
    holds: Expr,
}

impl Compared {
    fn may_be_null(&self, exprs: &[Expr]) -> LowerResult<Vec<Expr>> {
        let mut found = Vec::new();
        for expr in exprs {
            // DataFusion infers NOT NULL for a subquery of a constant, which may have no row.
            let holds_subquery = expr.exists(|part| Ok(matches!(part, Expr::ScalarSubquery(_))))?;
            if holds_subquery || expr.nullable(self.rows.schema())? {
                found.push(expr.clone());
            }
        }
        Ok(found)
    }

    /// EXISTS of rows that satisfy the predicate.
    fn exists(self, predicate: Expr) -> LowerResult<Expr> {
        // A single filter: DataFusion does not decorrelate a second one below it.
        let (mut predicate, mut input) = (predicate, Arc::new(self.rows));
        while let LogicalPlan::Filter(own) = input.as_ref() {
            (predicate, input) = (own.predicate.clone().and(predicate), Arc::clone(&own.input));
        }
        let rows = LogicalPlan::Filter(Filter::try_new(predicate, input)?);
        Ok(Expr::Exists(Exists::new(query(rows), false)))
    }
}

impl Lowering<'_> {
    /// Lowers a condition for which NULL counts as false.
    pub(in crate::lower) fn condition(&mut self, value: &Scalar, schema: &DFSchemaRef) -> LowerResult<Expr> {
        if let Kind::And(all) = &value.kind {
            let all = all.iter().map(|part| self.condition(part, schema)).collect::<LowerResult<_>>()?;
            return join(Operator::And, all);
        }
        let (tested, negated) = match &value.kind {
            Kind::Not(tested) => (tested.as_ref(), true),
            _ => (value, false),
        };
        let Kind::Subquery(subquery) = &tested.kind else { return self.expr(value, schema) };
        let Some(test) = RowTest::of(subquery) else { return self.expr(value, schema) };
        let Some(not_in) = test.is_in() else { return self.expr(value, schema) };
        let equal = self.row_is_found(&test, schema)?;
        if not_in == negated {
            return Ok(equal);
        }
        let unknown = self.row_is_unknown(&test, schema)?;
        Ok(unknown.into_iter().fold(not(equal), |all, unknown| all.and(not(unknown))))
    }

    pub(in crate::lower) fn row_quantified(
        &mut self,
        subquery: &Subquery,
        negated: bool,
        schema: &DFSchemaRef,
    ) -> LowerResult<Expr> {
        let Some(test) = RowTest::of(subquery) else { return internal("ANY of this function of rows") };
        let Some(not_in) = test.is_in() else {
            self.outer.push(Arc::clone(schema));
            let counted = self.row_counts(&test);
            self.outer.pop();
            let value = Expr::ScalarSubquery(query(counted?));
            return Ok(if negated { not(value) } else { value });
        };
        let equal = self.row_is_found(&test, schema)?;
        let found = not_in == negated;
        match self.row_is_unknown(&test, schema)?.into_iter().reduce(Expr::or) {
            Some(unknown) => {
                let null = lit(ScalarValue::Boolean(None));
                Ok(when(equal, lit(found)).when(unknown, null).otherwise(lit(!found))?)
            }
            None => Ok(if found { equal } else { not(equal) }),
        }
    }

    /// Is a row of the subquery equal?
    fn row_is_found(&mut self, test: &RowTest<'_>, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let compared = self.compared(test, schema)?;
        let holds = compared.holds.clone();
        compared.exists(holds)
    }

    /// Would a row of the subquery be equal but for NULLs? Separate tests for NULLs in the subquery's row and in the
    /// outer row, so that rows without NULLs, the common case, are compared with few others.
    fn row_is_unknown(&mut self, test: &RowTest<'_>, schema: &DFSchemaRef) -> LowerResult<Vec<Expr>> {
        let mut unknown = Vec::with_capacity(2);
        let compared = self.compared(test, schema)?;
        let left = compared.may_be_null(&compared.left)?;
        let right = compared.may_be_null(&compared.right)?;
        if !right.is_empty() {
            let with_null = join(Operator::Or, right.into_iter().map(Expr::is_null).collect())?;
            let holds = compared.holds.clone();
            unknown.push(compared.exists(with_null.and(holds.is_null()))?);
        }
        if !left.is_empty() {
            let compared = self.compared(test, schema)?;
            unknown.push(self.beside_null(compared, left)?);
        }
        Ok(unknown)
    }

    /// For an outer row with a NULL in `left`: would a row of the subquery be equal but for NULLs? A constant column
    /// `true` is compared with "the outer row has a NULL", which is a join key that no other outer row matches.
    fn beside_null(&mut self, compared: Compared, left: Vec<Expr>) -> LowerResult<Expr> {
        let Compared { rows, holds, .. } = compared;
        let always = self.columns.nameless("always");
        let mut columns: Vec<Expr> = rows.schema().columns().into_iter().map(Expr::Column).collect();
        columns.push(lit(true).alias_qualified(always.relation.clone(), always.name.clone()));
        let rows = LogicalPlan::Projection(Projection::try_new(columns, Arc::new(rows))?);
        let has_null = join(Operator::Or, left.into_iter().map(Expr::is_null).collect())?;
        let predicate = Expr::Column(always).eq(has_null).and(holds.is_null());
        let rows = LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(rows))?);
        Ok(Expr::Exists(Exists::new(query(rows), false)))
    }

    fn compared(&mut self, test: &RowTest<'_>, schema: &DFSchemaRef) -> LowerResult<Compared> {
        self.outer.push(Arc::clone(schema));
        let compared = self.beside_outer(test, Operator::Eq);
        self.outer.pop();
        compared
    }

    fn beside_outer(&mut self, test: &RowTest<'_>, op: Operator) -> LowerResult<Compared> {
        let rows = self.rel(&test.subquery.rel)?;
        let inner = Arc::clone(rows.schema());
        let left = test.left.iter().map(|value| self.expr(value, &inner)).collect::<LowerResult<Vec<_>>>()?;
        let right = test.subquery.cols.iter().map(|col| self.column(*col, &inner)).collect::<LowerResult<Vec<_>>>()?;
        let outer = self.outer.last().cloned();
        let one = |a, op, b| match &outer {
            Some(outer) => self.binary(op, a, b, &inner.join(outer)?),
            None => self.binary(op, a, b, &inner),
        };
        let holds = compare_rows(&left, op, &right, &one)?;
        Ok(Compared { rows, left, right, holds })
    }

    /// The three-valued result over all rows: decided by one row, unknown because of a NULL, or decided by the absence
    /// of both.
    fn row_counts(&mut self, test: &RowTest<'_>) -> LowerResult<LogicalPlan> {
        let Compared { rows, holds, .. } = self.beside_outer(test, operator_of(test.op))?;
        let decisive = if test.all { not(holds.clone()) } else { holds.clone() };
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
        let null = lit(ScalarValue::Boolean(None));
        let value = when(decided, lit(!test.all)).when(unknown, null).otherwise(lit(test.all))?;
        let column = self.columns.nameless("test");
        let value = vec![value.alias_qualified(column.relation, column.name)];
        Ok(LogicalPlan::Projection(Projection::try_new(value, Arc::new(rows))?))
    }
}

fn not(condition: Expr) -> Expr {
    match condition {
        Expr::Exists(exists) => Expr::Exists(Exists { negated: !exists.negated, ..exists }),
        other => Expr::Not(Box::new(other)),
    }
}
