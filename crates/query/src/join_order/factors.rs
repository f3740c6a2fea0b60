//! Estimates the rows of a set of joined leaves.
//!
//! The product of the rows of the leaves and the selectivities of the conditions among them. For equality of columns
//! the selectivity is PostgreSQL's `eqjoinsel`: most common values of both sides are matched with each other, and each
//! other value is assumed to match one value of the side that has more of them.

use super::estimate::{Estimate, Values};
use super::group::{Condition, Group, Kind, Leaf, Leaves};
use datafusion::logical_expr::Expr;
use index::UNKNOWN;
use std::collections::BTreeMap;
use types::compare::compare;

/// The smallest fraction of rows that an anti join is assumed to keep.
const LEAST_LEFT: f64 = 0.05;

/// Selectivities, each with the leaves that it applies to.
#[derive(Debug)]
pub(super) struct Factors {
    rows: Vec<f64>,
    shares: Vec<(Leaves, f64)>,
}

impl Factors {
    pub(super) fn of(group: &Group, estimates: &[Estimate<'_>]) -> Self {
        let rows =
            |(leaf, estimate): (&Leaf, &Estimate<'_>)| if leaf.kind == Kind::Inner { estimate.rows } else { 1.0 };
        let rows = group.leaves.iter().zip(estimates).map(rows).collect();
        // All keys between the same two leaves are combined.
        let mut pairs: BTreeMap<Leaves, f64> = BTreeMap::new();
        let mut shares = Vec::new();
        for condition in &group.conditions {
            match condition {
                Condition::Equal { sides: [(one, _), (other, _)] } => {
                    let share = equal(group, estimates, one, other);
                    *pairs.entry(condition.leaves()).or_insert(1.0) *= share;
                }
                Condition::Other { leaves, .. } => shares.push((*leaves, UNKNOWN)),
            }
        }
        for (leaves, share) in pairs {
            shares.push((leaves, share.max(least(group, estimates, leaves))));
        }
        for (at, leaf) in group.leaves.iter().enumerate().filter(|(_, leaf)| leaf.kind != Kind::Inner) {
            let met = estimates.get(at).map_or(1.0, |of_leaf| met(group, estimates, leaf, of_leaf));
            let share = if leaf.kind == Kind::Anti { (1.0 - met).max(LEAST_LEFT) } else { met };
            shares.push((leaf.needs | 1 << at, share));
        }
        Self { rows, shares }
    }

    /// The estimated rows of a set of leaves.
    pub(super) fn rows(&self, leaves: Leaves) -> f64 {
        let there = self.rows.iter().enumerate().filter(|(at, _)| leaves & (1 << at) != 0);
        let all: f64 = there.map(|(_, rows)| *rows).product();
        let shares = self.shares.iter().filter(|(needed, _)| needed & !leaves == 0);
        (all * shares.map(|(_, share)| *share).product::<f64>()).max(1.0)
    }
}

/// The smallest selectivity of a join: keys of several columns have no more distinct values than a table has rows.
fn least(group: &Group, estimates: &[Estimate<'_>], leaves: Leaves) -> f64 {
    let within = group.leaves.iter().zip(estimates).enumerate().filter(|(at, _)| leaves & (1 << at) != 0);
    let rows = within.map(|(_, (_, estimate))| estimate.table.map_or(estimate.rows, |table| table.judged().rows()));
    1.0 / rows.fold(f64::MAX, f64::min).max(1.0)
}

/// The number of distinct values of an expression over inner leaves, and the statistics if it is a column.
fn known<'s>(group: &Group, estimates: &[Estimate<'s>], expr: &Expr) -> (f64, Option<Values<'s>>) {
    let of_leaf = || {
        let named = expr.column_refs();
        let at = group.leaf_of(named.iter().next()?)?;
        let (leaf, estimate) = (group.leaves.get(at)?, estimates.get(at)?);
        let schema = leaf.plan.schema();
        let values = match expr {
            Expr::Column(column) => estimate.values(schema, column),
            _ => None,
        };
        Some((estimate.distinct(schema, expr), values))
    };
    of_leaf().unwrap_or((1.0, None))
}

/// The selectivity of an equality between two expressions.
fn equal(group: &Group, estimates: &[Estimate<'_>], one: &Expr, other: &Expr) -> f64 {
    let ((of_one, one), (of_other, other)) = (known(group, estimates, one), known(group, estimates, other));
    let null = |values: Option<Values<'_>>| values.map_or(0.0, |values| values.of.null_fraction);
    match (one, other) {
        (Some(a), Some(b)) if !a.of.common.is_empty() && !b.of.common.is_empty() => of_common(a, of_one, b, of_other),
        _ => (1.0 - null(one)) * (1.0 - null(other)) / of_one.max(of_other).max(1.0),
    }
}

/// The selectivity by the most common values of both sides.
fn of_common(one: Values<'_>, of_one: f64, other: Values<'_>, of_other: f64) -> f64 {
    let (a, b) = (&one.of.common, &other.of.common);
    let (mut met, mut met_a, mut met_b, mut matches) = (0.0, 0.0, 0.0, 0.0);
    for value in a {
        if let Some(partner) = b.iter().find(|partner| compare(&partner.value.0, &value.value.0).is_eq()) {
            met += value.share * partner.share;
            met_a += value.share;
            met_b += partner.share;
            matches += 1.0;
        }
    }
    let sum = |common: &[catalog::CommonValue]| common.iter().map(|value| value.share).sum::<f64>();
    let left = |all: f64, nulls: f64| (1.0 - all - nulls).max(0.0);
    let (all_a, all_b) = (sum(a), sum(b));
    let (rest_a, rest_b) = (left(all_a, one.of.null_fraction), left(all_b, other.of.null_fraction));
    // Values that are common on one side only count among the other values of the other side.
    let side = |lone: f64, rest: f64, lone_there: f64, rest_there: f64, distinct_there: f64, common_there: f64| {
        let mut share = met;
        if distinct_there > common_there {
            share += lone * rest_there / (distinct_there - common_there);
        }
        if distinct_there > matches {
            share += rest * (rest_there + lone_there) / (distinct_there - matches);
        }
        share
    };
    let (lone_a, lone_b) = ((all_a - met_a).max(0.0), (all_b - met_b).max(0.0));
    let by_b = side(lone_a, rest_a, lone_b, rest_b, of_other, b.len() as f64);
    let by_a = side(lone_b, rest_b, lone_a, rest_a, of_one, a.len() as f64);
    by_a.min(by_b).clamp(0.0, 1.0)
}

/// The fraction of rows that have a match in a semi or anti join leaf.
fn met(group: &Group, estimates: &[Estimate<'_>], leaf: &Leaf, of_leaf: &Estimate<'_>) -> f64 {
    let share = leaf.keys.iter().map(|(left, right)| {
        let (distinct, _) = known(group, estimates, left);
        (of_leaf.distinct(leaf.plan.schema(), right) / distinct.max(1.0)).min(1.0)
    });
    let keys: f64 = share.product();
    if leaf.filter.is_some() { keys * 0.5 } else { keys }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_rows_of_its_leaves_and_the_shares_of_its_conditions() {
        let factors = Factors { rows: vec![100.0, 10.0, 1.0], shares: vec![(0b011, 0.1), (0b101, 0.25)] };
        assert!((factors.rows(0b001) - 100.0).abs() < 1e-9);
        assert!((factors.rows(0b011) - 100.0).abs() < 1e-9);
        assert!((factors.rows(0b111) - 25.0).abs() < 1e-9);
        assert!((factors.rows(0b100) - 1.0).abs() < 1e-9);
    }
}
