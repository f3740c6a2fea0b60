//! `IN` with several values or rows, and OR of equalities.

use crate::functions::{MAX_WIDTH, in_rows, item_of};
use crate::lower::Lowering;
use crate::lower::budget::{ask, copy};
use crate::lower::error::LowerResult;
use crate::lower::scalar::row_compare::join;
use ::bind::tree::{Kind, Scalar};
use arrow::datatypes::DataType as ArrowType;
use builtins::FuncId;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, DFSchemaRef};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator};
use types::CompareOp;

/// From this number of rows on, a hash set is used. For fewer rows comparisons are kept, because DataFusion can
/// optimize them.
const MANY_ROWS: usize = 64;

/// The pairs of a row comparison in the bound tree.
type Pairs = [(FuncId, FuncId, Scalar, Scalar)];

/// Constant rows that are compared with the same left side.
#[derive(Default)]
struct RowList {
    left: Vec<Expr>,
    types: Vec<ArrowType>,
    /// The values of all rows, concatenated.
    items: Vec<Expr>,
}

impl Lowering<'_> {
    /// OR. Many comparisons of one row with constant rows become a list.
    ///
    /// # Errors
    /// Errors of the operands.
    pub(in crate::lower) fn any_of(&mut self, all: &[Scalar], schema: &DFSchemaRef) -> LowerResult<Expr> {
        if !has_many_rows(all) {
            return join(Operator::Or, self.exprs(all, schema)?);
        }
        let (mut list, mut tests) = (RowList::default(), Vec::new());
        for test in all {
            ask()?;
            let is_listed = match equal_pairs(test) {
                Some(pairs) => self.list_row(pairs, &mut list, schema)?,
                None => false,
            };
            if !is_listed {
                tests.push(self.expr(test, schema)?);
            }
        }
        if !list.items.is_empty() {
            tests.push(in_rows(list.left, list.types, list.items)?);
        }
        join(Operator::Or, tests)
    }

    /// Adds a row to the list, if its left side is that of the list and its values are constants.
    fn list_row(&mut self, pairs: &Pairs, list: &mut RowList, schema: &DFSchemaRef) -> LowerResult<bool> {
        let (mut left, mut items) = (Vec::with_capacity(pairs.len()), Vec::with_capacity(pairs.len()));
        for (_, _, side, item) in pairs {
            let (mut side, mut item) = (self.expr(side, schema)?, self.expr(item, schema)?);
            self.comparable_bits((&mut side, schema), (&mut item, schema));
            left.push(side);
            items.push(item);
        }
        if list.left.is_empty() {
            let Some(types) = left_types(&left, schema) else { return Ok(false) };
            (list.left, list.types) = (left, types);
        } else if list.left != left {
            return Ok(false);
        }
        let items: Option<Vec<Expr>> = items.iter().zip(&list.types).map(|(item, ty)| item_of(item, ty)).collect();
        let is_listed = items.is_some();
        list.items.extend(items.into_iter().flatten());
        Ok(is_listed)
    }

    /// `value [NOT] IN (items)`. Lists are compared by bits.
    ///
    /// # Errors
    /// 54001 if the statement's budget is exhausted.
    pub(in crate::lower) fn in_list(
        &self,
        value: Expr,
        items: Vec<Expr>,
        negated: bool,
        schema: &DFSchema,
    ) -> LowerResult<Expr> {
        let op = if negated { Operator::NotEq } else { Operator::Eq };
        let mut pairs = Vec::with_capacity(items.len());
        for mut item in items {
            let mut left = copy(&value)?;
            self.comparable_bits((&mut left, schema), (&mut item, schema));
            pairs.push((left, item));
        }
        join(if negated { Operator::And } else { Operator::Or }, listed(pairs, op, negated))
    }
}

/// Are there enough equalities of one row with others to build a list?
fn has_many_rows(all: &[Scalar]) -> bool {
    let Some(first) = all.iter().find_map(equal_pairs).filter(|_| all.len() >= MANY_ROWS) else { return false };
    let is_like_first = |pairs: &&Pairs| {
        pairs.len() == first.len() && pairs.iter().zip(first).all(|(own, other)| ::bind::is_same(&own.2, &other.2))
    };
    all.iter().filter_map(equal_pairs).filter(is_like_first).count() >= MANY_ROWS
}

/// The pairs of a row equality without subqueries. (Subqueries must not be lowered twice.)
fn equal_pairs(test: &Scalar) -> Option<&Pairs> {
    match &test.kind {
        Kind::RowCompare { op: CompareOp::Eq, pairs } if !test.has_subquery() => Some(pairs),
        _ => None,
    }
}

/// The types of a left side that can be evaluated once for all rows of a list; `None` if it cannot. For columns of
/// several relations comparisons are kept, because DataFusion derives conditions on each relation from them.
fn left_types(left: &[Expr], schema: &DFSchema) -> Option<Vec<ArrowType>> {
    let is_computed_once = |side: &Expr| !side.is_volatile() && !side.contains_outer();
    let mut relations = left.iter().flat_map(Expr::column_refs).map(|column| &column.relation);
    let first = relations.next();
    let of_one = relations.all(|relation| Some(relation) == first);
    if left.len() > MAX_WIDTH || !of_one || !left.iter().all(is_computed_once) {
        return None;
    }
    let ty = |side: &Expr| side.get_type(schema).ok().filter(|ty| !ty.is_nested() && !ty.is_null());
    left.iter().map(ty).collect()
}

/// Groups the items by the left side that their types require. DataFusion treats some computed items as constants, so
/// these are compared one by one.
fn listed(pairs: Vec<(Expr, Expr)>, op: Operator, negated: bool) -> Vec<Expr> {
    let mut lists: Vec<(Expr, Vec<Expr>)> = Vec::new();
    let mut compared = Vec::new();
    for (left, item) in pairs {
        if !is_plain(&item) {
            compared.push(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(item))));
            continue;
        }
        match lists.iter_mut().find(|(known, _)| *known == left) {
            Some((_, items)) => items.push(item),
            None => lists.push((left, vec![item])),
        }
    }
    let lists = lists.into_iter().map(|(left, items)| Expr::InList(InList::new(Box::new(left), items, negated)));
    lists.chain(compared).collect()
}

/// Is it a column or independent of the row? Subqueries are excluded: DataFusion rewrites a list with only a subquery
/// to `IN (SELECT …)`, which is not NULL if there is no row.
fn is_plain(item: &Expr) -> bool {
    match item {
        Expr::Column(_) | Expr::Literal(..) | Expr::Placeholder(_) => true,
        Expr::OuterReferenceColumn(..) => true,
        other => {
            !other.any_column_refs()
                && !other
                    .exists(|part| {
                        Ok(matches!(part, Expr::OuterReferenceColumn(..) | Expr::ScalarSubquery(_) | Expr::Case(_)))
                    })
                    .unwrap_or(true)
        }
    }
}
