//! Compiles joins: by lookup if conditions reach the other side's key, else as a nested loop over materialized rows.

use super::rel::{Ask, PlanResult, Planned};
use super::scan::ScanCols;
use super::{Compiler, Lookup, MOST_JOINED, Matching, Node, NodeKind};
use crate::WhyNot;
use crate::access::{AccessPath, Width, rank};
use crate::expr::{Scope, columns};
use bind::tree::{ColId, JoinKind, Rel, Scalar};
use catalog::Table;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A scan below filters and projections, which a lookup can read.
struct Chain<'a> {
    table: &'a Arc<Table>,
    cols: &'a ScanCols,
    filters: Vec<&'a Scalar>,
    /// Projected expressions, the lowest first.
    exprs: Vec<&'a (ColId, Scalar)>,
}

impl<'a> Chain<'a> {
    fn of(rel: &'a Rel) -> Option<Self> {
        match rel {
            Rel::Scan { table, cols, .. } => Some(Self { table, cols, filters: Vec::new(), exprs: Vec::new() }),
            Rel::Filter { input, all } => {
                let mut chain = Self::of(input)?;
                chain.filters.extend(all);
                Some(chain)
            }
            Rel::Project { input, exprs } => {
                let mut chain = Self::of(input)?;
                chain.exprs.extend(exprs);
                Some(chain)
            }
            _ => None,
        }
    }

    /// Can it be evaluated synchronously, row by row?
    fn is_plain(&self, on: &[&Scalar]) -> bool {
        let exprs = self.exprs.iter().map(|(_, expr)| expr);
        !self.filters.iter().chain(on).copied().chain(exprs).any(columns::has_subquery)
    }
}

impl Compiler<'_> {
    pub(crate) fn join<'a>(
        &mut self,
        rel: &'a Rel,
        kind: JoinKind,
        left: &'a Rel,
        right: &'a Rel,
        on: &'a [Scalar],
        ask: Ask<'a>,
    ) -> PlanResult {
        let (matching, mark, left, right) = match kind {
            JoinKind::Inner => return self.inner_joins(rel, ask),
            JoinKind::Left => (Matching::Left, None, left, right),
            JoinKind::Right => (Matching::Left, None, right, left),
            JoinKind::Semi => (Matching::Semi, None, left, right),
            JoinKind::Anti => (Matching::Anti, None, left, right),
            JoinKind::Mark(mark) => (Matching::Mark, Some(mark), left, right),
            JoinKind::Full => return Err(WhyNot::Node { what: "full join" }),
        };
        let (Planned { node, ordered }, above) = self.outer_side(left, &ask)?;
        let node = self.attach(matching, mark, node, right, &on.iter().collect::<Vec<_>>())?;
        Ok(Planned { node: self.filter(node, &above)?, ordered })
    }

    /// Flattens inner joins; starts with the leaf that conditions narrow most, and continues likewise.
    fn inner_joins<'a>(&mut self, rel: &'a Rel, ask: Ask<'a>) -> PlanResult {
        let mut all = ask.conditions;
        let mut leaves = Vec::new();
        take_apart(rel, &mut leaves, &mut all);
        if leaves.len() > MOST_JOINED {
            return Err(WhyNot::Node { what: "join of many tables" });
        }
        // Lookups cannot run subqueries: conditions that contain some are checked last.
        let (late, mut conditions): (Vec<&Scalar>, Vec<&Scalar>) =
            all.into_iter().partition(|condition| columns::has_subquery(condition));
        let first = self.first_leaf(&leaves, &conditions, &ask.order);
        let leaf = leaves.remove(first);
        let mut made = BTreeSet::new();
        columns::made_by(leaf, &mut made);
        let own = self.take_readable(&mut conditions, &made);
        let side = match leaves.is_empty() {
            true => Ask { conditions: own, order: ask.order.clone(), limited: ask.limited, ..Ask::default() },
            false => Ask::of_side(own, &ask.order, ask.limited, &made),
        };
        let has_order = side.order.len() == ask.order.len();
        let Planned { mut node, ordered } = self.rel(leaf, side)?;
        while !leaves.is_empty() {
            let next = self.next_leaf(&leaves, &conditions, &node.cols);
            let leaf = leaves.remove(next);
            columns::made_by(leaf, &mut made);
            let on = self.take_readable(&mut conditions, &made);
            node = self.attach(Matching::Inner, None, node, leaf, &on)?;
        }
        conditions.extend(late);
        Ok(Planned { node: self.filter(node, &conditions)?, ordered: ordered && has_order })
    }

    fn take_readable<'a>(&self, conditions: &mut Vec<&'a Scalar>, made: &BTreeSet<ColId>) -> Vec<&'a Scalar> {
        let (taken, rest) = conditions.iter().partition(|condition| self.is_readable(condition, made));
        *conditions = rest;
        taken
    }

    /// The narrowest leaf; among equals one that has the columns of the required order.
    fn first_leaf<'a>(&mut self, leaves: &[&'a Rel], conditions: &[&'a Scalar], order: &[bind::tree::Key]) -> usize {
        let mut best: Option<(Width, bool, usize)> = None;
        for (at, leaf) in leaves.iter().enumerate() {
            let mut made = BTreeSet::new();
            columns::made_by(leaf, &mut made);
            let unordered = !order.first().is_some_and(|key| made.contains(&key.col));
            let rank = (self.leaf_width(leaf, conditions, &[]), unordered, at);
            best = Some(best.map_or(rank, |best| best.min(rank)));
        }
        best.map_or(0, |(_, _, at)| at)
    }

    fn next_leaf<'a>(&mut self, leaves: &[&'a Rel], conditions: &[&'a Scalar], outer: &[ColId]) -> usize {
        let widths = leaves.iter().enumerate().map(|(at, leaf)| (self.leaf_width(leaf, conditions, outer), at));
        widths.min().map_or(0, |(_, at)| at)
    }

    /// How few rows of a leaf are read per row with the columns `outer`.
    fn leaf_width<'a>(&mut self, leaf: &'a Rel, conditions: &[&'a Scalar], outer: &[ColId]) -> Width {
        let Some(chain) = Chain::of(leaf) else { return Width::Narrow };
        let all: Vec<&Scalar> = conditions.iter().copied().chain(chain.filters.iter().copied()).collect();
        let candidates = self.candidates(chain.table, chain.cols, outer, &all).unwrap_or_default();
        candidates.iter().map(AccessPath::width).min().unwrap_or(Width::Wide)
    }

    /// Joins the rows of `right` to those of `outer`.
    fn attach<'a>(
        &mut self,
        matching: Matching,
        mark: Option<ColId>,
        outer: Node,
        right: &'a Rel,
        on: &[&'a Scalar],
    ) -> Result<Node, WhyNot> {
        // A mark distinguishes false from NULL, which a lookup by key cannot.
        if let Some(chain) = Chain::of(right).filter(|_| matching != Matching::Mark)
            && chain.is_plain(on)
            && self.leaf_width(right, on, &outer.cols) <= Width::Narrow
        {
            return self.lookup(matching, mark, outer, &chain, on);
        }
        if matching != Matching::Inner {
            let inner = self.rel(right, Ask::default())?.node;
            return self.looped(matching, mark, outer, inner, on, Vec::new());
        }
        // Conditions on one side only are applied to that side.
        let (own, on) = self.split_conditions(on, right);
        let inner = self.rel(right, Ask { conditions: own, ..Ask::default() })?.node;
        self.looped(matching, mark, outer, inner, &on, Vec::new())
    }

    fn lookup<'a>(
        &mut self,
        matching: Matching,
        mark: Option<ColId>,
        outer: Node,
        chain: &Chain<'a>,
        on: &[&'a Scalar],
    ) -> Result<Node, WhyNot> {
        let scanned: Vec<ColId> = outer.cols.iter().copied().chain(chain.cols.iter().map(|(_, col)| *col)).collect();
        let made: BTreeSet<ColId> = scanned.iter().copied().collect();
        let all = chain.filters.iter().chain(on).copied();
        let (early, late): (Vec<&Scalar>, Vec<&Scalar>) = all.partition(|condition| self.is_readable(condition, &made));
        // The values differ from row to row, and one access path serves all of them.
        let candidates = self.candidates(chain.table, chain.cols, &outer.cols, &early)?;
        let best: Vec<AccessPath> = candidates.into_iter().min_by_key(rank).into_iter().collect();
        self.widest = self.widest.max(best.iter().map(AccessPath::width).max().unwrap_or(Width::Wide));
        let conditions = self.judges(&early, &scanned)?;
        let path = Self::path(chain.table, chain.cols, conditions, best)?;
        let mut cols = scanned;
        let mut exprs = Vec::with_capacity(chain.exprs.len());
        for (col, expr) in &chain.exprs {
            exprs.push(self.expr(expr, &Scope { cols: &cols })?);
            cols.push(*col);
        }
        let compiled = late.iter().map(|condition| self.expr(condition, &Scope { cols: &cols }));
        let late = compiled.collect::<Result<_, _>>()?;
        if !matching.has_inner() {
            cols.clone_from(&outer.cols);
            cols.extend(mark);
        }
        Ok(Node { kind: NodeKind::Lookup(Box::new(Lookup { matching, outer, path, exprs, late })), cols })
    }
}

/// Collects the leaves and conditions of inner joins and of filters between them.
fn take_apart<'a>(rel: &'a Rel, leaves: &mut Vec<&'a Rel>, conditions: &mut Vec<&'a Scalar>) {
    match rel {
        Rel::Join { kind: JoinKind::Inner, left, right, on } => {
            conditions.extend(on);
            take_apart(left, leaves, conditions);
            take_apart(right, leaves, conditions);
        }
        Rel::Filter { input, all } => {
            if matches!(input.as_ref(), Rel::Join { kind: JoinKind::Inner, .. }) {
                conditions.extend(all);
                take_apart(input, leaves, conditions);
            } else {
                leaves.push(rel);
            }
        }
        _ => leaves.push(rel),
    }
}
