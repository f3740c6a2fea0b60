//! Searches for the join tree with the lowest cost.
//!
//! Enumerates all trees of few leaves, set by set as in "DPsub" (Moerkotte, Neumann 2006); for many leaves it greedily
//! joins the pair of trees that gives the fewest rows. Only trees connected by a condition are joined. The unit of cost
//! is a row of a scan.

use super::estimate::Estimate;
use super::factors::Factors;
use super::group::{Group, Kind, Leaves};

/// The cost of inserting a row into a hash table.
const BUILD: f64 = 2.0;
/// The cost of probing the hash table with a row.
const PROBE: f64 = 1.0;
/// The cost of an output row.
const MAKE: f64 = 1.0;
/// The cost of reading the rows of a key.
const GET: f64 = 16.0;
/// The largest number of build-side keys that are passed down to the scan of the probe side.
const MOST_KEYS: f64 = 4_096.0;

/// A tree of joins. The left side of a join is the build side.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    Leaf(usize),
    Join(Box<Tree>, Box<Tree>),
}

/// The best tree of a set of leaves.
#[derive(Clone, Debug)]
struct Found {
    cost: f64,
    rows: f64,
    tree: Tree,
}

/// The best tree; for up to `tried` leaves all trees are tried. `None` if the conditions do not connect all leaves.
pub(super) fn best(group: &Group, estimates: &[Estimate<'_>], factors: &Factors, tried: usize) -> Option<Tree> {
    let search = Search { group, estimates, factors };
    if estimates.len() <= tried { search.all() } else { search.greedy() }
}

struct Search<'a> {
    group: &'a Group,
    estimates: &'a [Estimate<'a>],
    factors: &'a Factors,
}

impl Search<'_> {
    fn all(&self) -> Option<Tree> {
        let count = self.estimates.len();
        let mut found: Vec<Option<Found>> = vec![None; 1 << count];
        for set in 1..found.len() {
            let best = if set.is_power_of_two() {
                self.leaf(set.trailing_zeros() as usize)
            } else {
                self.best_of(set, &found)
            };
            if let Some(place) = found.get_mut(set) {
                *place = best;
            }
        }
        found.pop().flatten().map(|found| found.tree)
    }

    /// The best partition of a set into two joined trees.
    fn best_of(&self, set: usize, found: &[Option<Found>]) -> Option<Found> {
        let mut best: Option<(f64, usize)> = None;
        let rows = self.factors.rows(set as Leaves);
        let mut left = (set - 1) & set;
        while left > 0 {
            if let (Some(Some(one)), Some(Some(other))) = (found.get(left), found.get(set ^ left))
                && let Some(cost) = self.cost((left as Leaves, one), ((set ^ left) as Leaves, other), rows)
                && best.is_none_or(|(least, _)| cost < least)
            {
                best = Some((cost, left));
            }
            left = (left - 1) & set;
        }
        let (cost, left) = best?;
        let (one, other) = (found.get(left)?.as_ref()?, found.get(set ^ left)?.as_ref()?);
        let tree = Tree::Join(Box::new(one.tree.clone()), Box::new(other.tree.clone()));
        Some(Found { cost, rows, tree })
    }

    fn greedy(&self) -> Option<Tree> {
        let leaf = |at: usize| Some((1 << at, self.leaf(at)?));
        let mut trees: Vec<(Leaves, Found)> = (0..self.estimates.len()).map(leaf).collect::<Option<_>>()?;
        while trees.len() > 1 {
            let mut best: Option<(f64, f64, usize, usize)> = None;
            for (at, (set, one)) in trees.iter().enumerate() {
                for (with, (others, other)) in trees.iter().enumerate().filter(|(with, _)| *with != at) {
                    let rows = self.factors.rows(set | others);
                    let Some(cost) = self.cost((*set, one), (*others, other), rows) else { continue };
                    if best.is_none_or(|(fewest, least, ..)| (rows, cost) < (fewest, least)) {
                        best = Some((rows, cost, at, with));
                    }
                }
            }
            let (rows, cost, at, with) = best?;
            let (set, one) = trees.get(at)?.clone();
            let (others, other) = trees.get(with)?.clone();
            trees.retain(|(kept, _)| *kept != set && *kept != others);
            trees
                .push((set | others, Found { cost, rows, tree: Tree::Join(Box::new(one.tree), Box::new(other.tree)) }));
        }
        trees.pop().map(|(_, found)| found.tree)
    }

    fn leaf(&self, at: usize) -> Option<Found> {
        let estimate = self.estimates.get(at)?;
        Some(Found { cost: estimate.cost, rows: estimate.rows, tree: Tree::Leaf(at) })
    }

    /// The cost of joining two trees, the first one as the build side; `None` if no condition connects them or the join
    /// is invalid.
    fn cost(&self, (built, one): (Leaves, &Found), (probed, other): (Leaves, &Found), rows: f64) -> Option<f64> {
        // A semi or anti join leaf is always the right side; the physical plan may build either side.
        if self.taker(built).is_some() {
            return None;
        }
        let joined = match self.taker(probed) {
            Some(needs) if needs & !built != 0 => return None,
            Some(_) => BUILD * one.rows.min(other.rows) + PROBE * one.rows.max(other.rows),
            None if !self.are_connected(built, probed) => return None,
            None => BUILD * one.rows + PROBE * other.rows - self.spared(built, one.rows, probed),
        };
        Some(one.cost + other.cost + joined + MAKE * rows)
    }

    /// The leaves that a single semi or anti join leaf requires.
    fn taker(&self, set: Leaves) -> Option<Leaves> {
        if !set.is_power_of_two() {
            return None;
        }
        let leaf = self.group.leaves.get(set.trailing_zeros() as usize)?;
        (leaf.kind != Kind::Inner).then_some(leaf.needs)
    }

    fn are_connected(&self, one: Leaves, other: Leaves) -> bool {
        let spans = |leaves: Leaves| leaves & one != 0 && leaves & other != 0 && leaves & !(one | other) == 0;
        self.group.conditions.iter().any(|condition| spans(condition.leaves()))
    }

    /// The cost saved by a scan that is probed with few keys and reads only the matching rows.
    fn spared(&self, built: Leaves, keys: f64, probed: Leaves) -> f64 {
        if keys > MOST_KEYS || !probed.is_power_of_two() {
            return 0.0;
        }
        let Some(estimate) = self.estimates.get(probed.trailing_zeros() as usize) else { return 0.0 };
        let Some(table) = estimate.table else { return 0.0 };
        let leads = self.group.conditions.iter().any(|condition| {
            let key = condition.as_key(built, probed).and_then(|(_, key)| key.try_as_col());
            key.is_some_and(|column| table.is_led_by(&column.name))
        });
        let matched = self.factors.rows(built | probed);
        if leads { (estimate.cost - GET * (keys + matched)).max(0.0) } else { 0.0 }
    }
}
