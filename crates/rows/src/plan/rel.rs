//! Compiles the nodes of the bound tree.

use super::{Compiler, Limit, MOST_NODES, Node, NodeKind, SortKey};
use crate::WhyNot;
use crate::expr::{RowExpr, Scope, columns};
use bind::tree::{ColId, CteBody, CteId, Key, Kind, Rel, Rows, Scalar, SetOpKind};
use builtins::Ty;
use std::collections::BTreeSet;
use types::Datum;

/// The requirements on a node besides its rows.
#[derive(Clone, Default)]
pub(crate) struct Ask<'t> {
    /// Conditions that its rows must satisfy.
    pub(crate) conditions: Vec<&'t Scalar>,
    /// An order that would save a sort.
    pub(crate) order: Vec<Key>,
    /// Columns of that order that are computed above, and their expressions: an index may have their order.
    pub(crate) computed: Vec<(ColId, &'t Scalar)>,
    /// Are only the first rows in that order needed?
    pub(crate) limited: bool,
}

impl<'t> Ask<'t> {
    /// The requirements on the outer side of a join, which gives the order: the pairs of one outer row have no order.
    pub(crate) fn of_side(conditions: Vec<&'t Scalar>, order: &[Key], limited: bool, made: &BTreeSet<ColId>) -> Self {
        match order.iter().all(|key| made.contains(&key.col)) {
            true => Self { conditions, order: order.to_vec(), limited, ..Self::default() },
            false => Self { conditions, ..Self::default() },
        }
    }
}

/// A node, and whether its rows have the required order.
pub(crate) struct Planned {
    pub(crate) node: Node,
    pub(crate) ordered: bool,
}

pub(crate) type PlanResult = Result<Planned, WhyNot>;

impl Compiler<'_> {
    /// Compiles the outer side of a join or an apply, which gives the order; returns the conditions that stay above.
    pub(crate) fn outer_side<'a>(
        &mut self,
        side: &'a Rel,
        ask: &Ask<'a>,
    ) -> Result<(Planned, Vec<&'a Scalar>), WhyNot> {
        let (below, above) = self.split_conditions(&ask.conditions, side);
        let mut made = BTreeSet::new();
        columns::made_by(side, &mut made);
        let wanted = Ask::of_side(below, &ask.order, ask.limited && above.is_empty(), &made);
        let has_order = wanted.order.len() == ask.order.len();
        let Planned { node, ordered } = self.rel(side, wanted)?;
        Ok((Planned { node, ordered: ordered && has_order }, above))
    }

    /// Compiles a node for the rows of `rel` that satisfy the required conditions.
    pub(crate) fn rel<'a>(&mut self, rel: &'a Rel, ask: Ask<'a>) -> PlanResult {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return no("statement of many parts");
        }
        match rel {
            Rel::OneRow => self.filtered(Node { kind: NodeKind::OneRow, cols: Vec::new() }, &ask),
            Rel::Values { cols, rows } => {
                let node = self.values(cols, rows)?;
                self.filtered(node, &ask)
            }
            Rel::Scan { table, cols, .. } => self.scan(table, cols, ask),
            Rel::Computed { .. } => no("a computed relation"),
            Rel::CteScan { cte, cols } => {
                let node = self.cte(*cte, cols)?;
                self.filtered(node, &ask)
            }
            Rel::Filter { input, all } => {
                let conditions = ask.conditions.iter().copied().chain(all).collect();
                self.rel(input, Ask { conditions, ..ask })
            }
            Rel::Project { input, exprs } => self.project(input, exprs, ask),
            Rel::Join { kind, left, right, on } => self.join(rel, *kind, left, right, on, ask),
            Rel::Apply { kind, outer, inner, on, free } => self.apply(*kind, outer, inner, on, free, ask),
            Rel::Aggregate { input, keys, sets, calls, groupings } => {
                if !sets.is_empty() || !groupings.is_empty() {
                    return no("grouping sets");
                }
                let node = self.aggregate(input, keys, calls)?;
                self.filtered(node, &ask)
            }
            Rel::Window { .. } => no("window functions"),
            Rel::Unnest { .. } => no("set-returning functions"),
            Rel::Distinct { input, on, order } => {
                let order = order.clone().unwrap_or_default();
                let Planned { node, ordered } = self.sorted(input, &order, Ask::default())?;
                let on = on.iter().map(|col| Self::place(&node.cols, *col)).collect::<Result<_, _>>()?;
                let cols = node.cols.clone();
                let keeps_order = ordered && order.starts_with(&ask.order);
                let node = Node { kind: NodeKind::Distinct { input: Box::new(node), on }, cols };
                let planned = self.filtered(node, &ask)?;
                Ok(Planned { ordered: keeps_order, ..planned })
            }
            Rel::Sort { input, keys } => self.sorted(input, keys, ask),
            Rel::Limit { input, offset, count, ties } => {
                let node = self.limit(input, offset.as_ref(), count.as_ref(), ties)?;
                self.filtered(node, &ask)
            }
            Rel::SetOp { op, all, left, right, cols } => {
                let node = self.set_op(*op, *all, left, right, cols)?;
                self.filtered(node, &ask)
            }
        }
    }

    /// Puts the conditions above a node that cannot take them.
    pub(crate) fn filtered<'a>(&mut self, node: Node, ask: &Ask<'a>) -> PlanResult {
        let ordered = ask.order.is_empty() || matches!(node.kind, NodeKind::OneRow);
        Ok(Planned { node: self.filter(node, &ask.conditions)?, ordered })
    }

    pub(crate) fn filter(&mut self, node: Node, conditions: &[&Scalar]) -> Result<Node, WhyNot> {
        if conditions.is_empty() {
            return Ok(node);
        }
        let cols = node.cols.clone();
        let compiled = conditions.iter().map(|condition| self.expr(condition, &Scope { cols: &cols }));
        let conditions = compiled.collect::<Result<_, _>>()?;
        Ok(Node { kind: NodeKind::Filter { input: Box::new(node), conditions }, cols })
    }

    fn values(&mut self, cols: &[ColId], rows: &Rows) -> Result<Node, WhyNot> {
        let kind = match rows {
            Rows::Const(rows) => {
                let limited = |ty: Ty| ty.id.element().is_some() && ty.typmod != -1;
                if cols.iter().filter_map(|col| self.bound.col(*col)).any(|info| limited(info.ty)) {
                    return no("array of limited elements");
                }
                let nested = |value: &Datum| matches!(value, Datum::Array(items) if items.iter().any(|item| matches!(item, Datum::Array(_))));
                if rows.iter().flatten().any(nested) {
                    return no("array of arrays");
                }
                NodeKind::Rows(rows.clone())
            }
            Rows::Exprs(rows) => {
                let scope = Scope { cols: &[] };
                let row = |row: &Vec<Scalar>| row.iter().map(|item| self.expr(item, &scope)).collect();
                NodeKind::Values(rows.iter().map(row).collect::<Result<_, WhyNot>>()?)
            }
        };
        Ok(Node { kind, cols: cols.to_vec() })
    }

    fn project<'a>(&mut self, input: &'a Rel, exprs: &'a [(ColId, Scalar)], ask: Ask<'a>) -> PlanResult {
        let (below, above) = self.split_conditions(&ask.conditions, input);
        // A column that is only renamed has the same order.
        let passed_on = |key: &Key| match exprs.iter().find(|(col, _)| *col == key.col).map(|(_, expr)| &expr.kind) {
            Some(Kind::Col(col)) => Key { col: col.id, ..*key },
            _ => *key,
        };
        let order: Vec<Key> = ask.order.iter().map(passed_on).collect();
        let is_sorted_by = |col: ColId| order.iter().any(|key| key.col == col);
        let mut computed = ask.computed;
        computed.extend(exprs.iter().filter(|(col, _)| is_sorted_by(*col)).map(|(col, expr)| (*col, expr)));
        let limited = ask.limited && above.is_empty();
        let Planned { node, ordered } = self.rel(input, Ask { conditions: below, order, computed, limited })?;
        let mut cols = node.cols.clone();
        let mut compiled = Vec::with_capacity(exprs.len());
        for (col, expr) in exprs {
            // An expression may read those before it.
            compiled.push(self.expr(expr, &Scope { cols: &cols })?);
            cols.push(*col);
        }
        let node = Node { kind: NodeKind::Project { input: Box::new(node), exprs: compiled }, cols };
        Ok(Planned { node: self.filter(node, &above)?, ordered })
    }

    /// The conditions that can be checked on rows of `input`, and the others.
    pub(crate) fn split_conditions<'a>(
        &self,
        conditions: &[&'a Scalar],
        input: &Rel,
    ) -> (Vec<&'a Scalar>, Vec<&'a Scalar>) {
        let mut made = BTreeSet::new();
        columns::made_by(input, &mut made);
        conditions.iter().partition(|condition| self.is_readable(condition, &made))
    }

    /// Does it read only columns of `made` or outer columns?
    pub(crate) fn is_readable(&self, scalar: &Scalar, made: &BTreeSet<ColId>) -> bool {
        let mut read = BTreeSet::new();
        columns::read_by(scalar, &mut read);
        read.iter().all(|col| made.contains(col) || self.is_outer(*col))
    }

    /// The rows of `input` in order; adds a sort only if no key of a table gives the order.
    fn sorted<'a>(&mut self, input: &'a Rel, keys: &[Key], ask: Ask<'a>) -> PlanResult {
        let in_order = keys.starts_with(&ask.order);
        let limited = ask.limited && in_order;
        let below = Ask { conditions: ask.conditions, order: keys.to_vec(), limited, ..Ask::default() };
        let Planned { node, ordered } = self.rel(input, below)?;
        if ordered {
            return Ok(Planned { node, ordered: in_order });
        }
        let keys = Self::sort_keys(&node.cols, keys)?;
        let cols = node.cols.clone();
        Ok(Planned { node: Node { kind: NodeKind::Sort { input: Box::new(node), keys }, cols }, ordered: in_order })
    }

    pub(crate) fn sort_keys(cols: &[ColId], keys: &[Key]) -> Result<Vec<SortKey>, WhyNot> {
        let place =
            |key: &Key| Ok(SortKey { at: Self::place(cols, key.col)?, desc: key.desc, nulls_first: key.nulls_first });
        keys.iter().map(place).collect()
    }

    fn limit(
        &mut self,
        input: &Rel,
        offset: Option<&Scalar>,
        count: Option<&Scalar>,
        ties: &[Key],
    ) -> Result<Node, WhyNot> {
        let below = Ask { limited: count.is_some(), ..Ask::default() };
        let Planned { node: input, .. } = self.rel(input, below)?;
        let scope = Scope { cols: &[] };
        let mut compile = |scalar: Option<&Scalar>| scalar.map(|scalar| self.expr(scalar, &scope)).transpose();
        let (offset, count): (Option<RowExpr>, Option<RowExpr>) = (compile(offset)?, compile(count)?);
        let (cols, ties) = (input.cols.clone(), Self::sort_keys(&input.cols, ties)?);
        Ok(Node { kind: NodeKind::Limit(Box::new(Limit { input, offset, count, ties })), cols })
    }

    fn set_op<'a>(
        &mut self,
        op: SetOpKind,
        all: bool,
        left: &'a Rel,
        right: &'a Rel,
        cols: &[(ColId, ColId, ColId)],
    ) -> Result<Node, WhyNot> {
        let left = self.rel(left, Ask::default())?.node;
        let right = self.rel(right, Ask::default())?.node;
        let left = pick(left, cols.iter().map(|(_, col, _)| *col))?;
        let right = pick(right, cols.iter().map(|(_, _, col)| *col))?;
        let cols = cols.iter().map(|(col, _, _)| *col).collect();
        Ok(Node { kind: NodeKind::SetOp { op, all, left: Box::new(left), right: Box::new(right) }, cols })
    }

    fn cte(&mut self, id: CteId, cols: &[(ColId, ColId)]) -> Result<Node, WhyNot> {
        let ctes = self.ctes;
        let Some(cte) = ctes.iter().find(|cte| cte.id == id) else { return no("recursive queries") };
        let (inner, here): (Vec<ColId>, Vec<ColId>) = cols.iter().copied().unzip();
        match &cte.body {
            CteBody::Recursive { .. } => no("recursive queries"),
            CteBody::Inline(rel) | CteBody::Either(rel) => {
                let node = self.rel(rel, Ask::default())?.node;
                Ok(Node { cols: here, ..pick(node, inner.into_iter())? })
            }
            CteBody::Materialized(rel) => {
                let number = match self.once.iter().position(|once| once.id == id) {
                    Some(number) => number,
                    None => {
                        let node = self.rel(rel, Ask::default())?.node;
                        self.once.push(super::OncePlan { id, node });
                        self.once.len() - 1
                    }
                };
                let made = self.once.get(number).map(|once| once.node.cols.clone()).unwrap_or_default();
                let places = inner.iter().map(|col| Self::place(&made, *col)).collect::<Result<_, _>>()?;
                Ok(Node { kind: NodeKind::Once { number, places }, cols: here })
            }
        }
    }
}

/// Selects columns of a node, in this order.
pub(crate) fn pick(node: Node, cols: impl Iterator<Item = ColId>) -> Result<Node, WhyNot> {
    let cols: Vec<ColId> = cols.collect();
    if node.cols == cols {
        return Ok(node);
    }
    let places = cols.iter().map(|col| Compiler::place(&node.cols, *col)).collect::<Result<_, _>>()?;
    Ok(Node { kind: NodeKind::Pick { input: Box::new(node), places }, cols })
}

fn no<T>(what: &'static str) -> Result<T, WhyNot> {
    Err(WhyNot::Node { what })
}
