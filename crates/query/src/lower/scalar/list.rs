//! `IN` of several values, and of several rows.

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

/// So many rows are looked up in a set. Fewer are comparisons, of which DataFusion knows more than of a function.
const MANY_ROWS: usize = 64;

/// Two rows that are compared, as the bound tree has them.
type Pairs = [(FuncId, FuncId, Scalar, Scalar)];

/// Rows of constants with one left side.
#[derive(Default)]
struct RowList {
    left: Vec<Expr>,
    types: Vec<ArrowType>,
    /// The values of all rows, one behind the other.
    items: Vec<Expr>,
}

impl Lowering<'_> {
    /// OR. Of many rows of constants that one and the same row is compared with a list is made.
    ///
    /// # Errors
    /// Those of the operands.
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

    /// Takes a row into the list, if its left side is that of the list and its values are constants.
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

    /// `value [NOT] IN (items)`. Lists are looked up by bits.
    ///
    /// # Errors
    /// 54001 when the statement's budget is spent.
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

/// Are these equalities with so many rows that a list of them is worth while?
fn has_many_rows(all: &[Scalar]) -> bool {
    let Some(first) = all.iter().find_map(equal_pairs).filter(|_| all.len() >= MANY_ROWS) else { return false };
    let is_like_first = |pairs: &&Pairs| {
        pairs.len() == first.len() && pairs.iter().zip(first).all(|(own, other)| ::bind::is_same(&own.2, &other.2))
    };
    all.iter().filter_map(equal_pairs).filter(is_like_first).count() >= MANY_ROWS
}

/// The two rows of an equality without subqueries, which must not be lowered twice.
fn equal_pairs(test: &Scalar) -> Option<&Pairs> {
    match &test.kind {
        Kind::RowCompare { op: CompareOp::Eq, pairs } if !test.has_subquery() => Some(pairs),
        _ => None,
    }
}

/// The types of a left side that is computed once for all rows of a list; `None` if it cannot be. Of comparisons with columns of
/// several relations DataFusion makes conditions on each of them.
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

/// Items that each want the value in the same type stay a list; of those that are computed DataFusion would take
/// some for constants, so each is compared by itself.
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

/// A column or what no row changes. Not a subquery: of a list that has nothing else DataFusion makes `IN (SELECT …)`,
/// for which no row is not NULL.
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
