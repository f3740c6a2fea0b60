//! Groups of joins that may be reordered: their inputs and all their conditions.
//!
//! Semi and anti joins above inner ones belong to the group. Their right sides are leaves that only drop rows; they may
//! be joined wherever the columns that they reference are available.

use datafusion::common::{Column, JoinType, NullEquality};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, Join, LogicalPlan, Projection};
use std::collections::HashMap;

/// A set of leaves, one bit each.
pub(super) type Leaves = u64;

/// Groups with more leaves are not reordered.
const MOST_LEAVES: usize = 48;

/// The join type of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Inner,
    Semi,
    Anti,
}

/// An input of the group.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) plan: LogicalPlan,
    pub(super) kind: Kind,
    /// For a semi or anti join: keys, further conditions, and the leaves whose columns these reference.
    pub(super) keys: Vec<(Expr, Expr)>,
    pub(super) filter: Option<Expr>,
    pub(super) needs: Leaves,
}

/// A condition between inner leaves.
#[derive(Debug)]
pub(super) enum Condition {
    /// Two expressions that are equal, each with its leaves.
    Equal {
        sides: [(Expr, Leaves); 2],
    },
    Other {
        expr: Expr,
        leaves: Leaves,
    },
}

impl Condition {
    /// The leaves whose columns it references.
    pub(super) fn leaves(&self) -> Leaves {
        match self {
            Self::Equal { sides: [(_, one), (_, other)] } => one | other,
            Self::Other { leaves, .. } => *leaves,
        }
    }

    /// The condition as a filter.
    pub(super) fn expr(&self) -> Expr {
        match self {
            Self::Equal { sides: [(one, _), (other, _)] } => one.clone().eq(other.clone()),
            Self::Other { expr, .. } => expr.clone(),
        }
    }

    /// The two sides of an equality, the one over `first` before the one over `second`.
    pub(super) fn as_key(&self, first: Leaves, second: Leaves) -> Option<(&Expr, &Expr)> {
        let Self::Equal { sides: [(one, of_one), (other, of_other)] } = self else { return None };
        let within = |leaves: &Leaves, set: Leaves| *leaves != 0 && leaves & !set == 0;
        if within(of_one, first) && within(of_other, second) {
            return Some((one, other));
        }
        (within(of_one, second) && within(of_other, first)).then_some((other, one))
    }
}

/// A group of joins.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) leaves: Vec<Leaf>,
    pub(super) conditions: Vec<Condition>,
    /// The columns of the inner leaves, each with its leaf.
    columns: HashMap<Column, usize>,
}

impl Group {
    /// The group whose topmost join is `join`; `None` if there is nothing to reorder or reordering is not supported.
    pub(super) fn of(join: &LogicalPlan) -> Option<Self> {
        let mut found = Found::default();
        found.take(join)?;
        if found.leaves.len() < 3 {
            return None;
        }
        let mut group = Self::default();
        for (at, (plan, kind)) in found.leaves.iter().enumerate() {
            if *kind == Kind::Inner {
                for column in plan.schema().columns() {
                    // Columns of the same name cannot be told apart after reordering.
                    if group.columns.insert(column, at).is_some() {
                        return None;
                    }
                }
            }
        }
        for (one, other) in found.keys {
            let sides = [(one.clone(), group.leaves_of(one)?), (other.clone(), group.leaves_of(other)?)];
            group.conditions.push(Condition::Equal { sides });
        }
        for expr in found.filters {
            if expr.is_volatile() {
                return None;
            }
            group.conditions.push(Condition::Other { expr: expr.clone(), leaves: group.leaves_of(expr)? });
        }
        for (at, (plan, kind)) in found.leaves.into_iter().enumerate() {
            let plan = plan.clone();
            let mut leaf = Leaf { plan, kind, keys: Vec::new(), filter: None, needs: 0 };
            if let Some((_, join)) = found.takers.iter().find(|(leaf, _)| *leaf == at) {
                leaf.needs = group.needs(join, &leaf.plan)?;
                (leaf.keys, leaf.filter) = (join.on.clone(), join.filter.clone());
            }
            group.leaves.push(leaf);
        }
        Some(group)
    }

    /// The inner leaf of a column.
    pub(super) fn leaf_of(&self, column: &Column) -> Option<usize> {
        self.columns.get(column).copied()
    }

    /// The leaves whose columns an expression references.
    fn leaves_of(&self, expr: &Expr) -> Option<Leaves> {
        expr.column_refs().into_iter().try_fold(0, |all, column| Some(all | 1 << self.leaf_of(column)?))
    }

    /// The leaves that a semi or anti join references; `None` if a name is ambiguous between its sides.
    fn needs(&self, join: &Join, right: &LogicalPlan) -> Option<Leaves> {
        let mut needs = 0;
        for (left, _) in &join.on {
            needs |= self.leaves_of(left)?;
        }
        for column in join.filter.iter().flat_map(Expr::column_refs) {
            match (self.leaf_of(column), right.schema().has_column(column)) {
                (Some(leaf), false) => needs |= 1 << leaf,
                (None, true) => {}
                _ => return None,
            }
        }
        (needs != 0).then_some(needs)
    }
}

/// The leaves and conditions collected on the way down.
#[derive(Default)]
struct Found<'p> {
    leaves: Vec<(&'p LogicalPlan, Kind)>,
    keys: Vec<(&'p Expr, &'p Expr)>,
    filters: Vec<&'p Expr>,
    /// Semi and anti joins, by the leaf index of their right side.
    takers: Vec<(usize, &'p Join)>,
}

impl<'p> Found<'p> {
    fn take(&mut self, plan: &'p LogicalPlan) -> Option<()> {
        match plan {
            LogicalPlan::Join(join) if is_plain(join) => match join.join_type {
                JoinType::Inner => {
                    self.take(&join.left)?;
                    self.take(&join.right)?;
                    self.keys.extend(join.on.iter().map(|(left, right)| (left, right)));
                    self.filters.extend(join.filter.iter().flat_map(split_conjunction));
                }
                JoinType::LeftSemi | JoinType::LeftAnti => {
                    self.take(&join.left)?;
                    self.takers.push((self.leaves.len(), join));
                    let kind = if join.join_type == JoinType::LeftSemi { Kind::Semi } else { Kind::Anti };
                    self.add_leaf(&join.right, kind)?;
                }
                _ => self.add_leaf(plan, Kind::Inner)?,
            },
            LogicalPlan::Projection(projection) if chooses(projection) && is_join(&projection.input) => {
                self.take(&projection.input)?;
            }
            leaf => self.add_leaf(leaf, Kind::Inner)?,
        }
        Some(())
    }

    /// `None` if there are too many leaves.
    fn add_leaf(&mut self, plan: &'p LogicalPlan, kind: Kind) -> Option<()> {
        let has_room = self.leaves.len() < MOST_LEAVES;
        has_room.then(|| self.leaves.push((plan, kind)))
    }
}

/// Is it a join without null-safe or null-aware semantics?
fn is_plain(join: &Join) -> bool {
    join.null_equality == NullEquality::NullEqualsNothing && !join.null_aware
}

/// Does it only select columns?
fn chooses(projection: &Projection) -> bool {
    projection.expr.iter().all(|expr| matches!(expr, Expr::Column(_)))
}

fn is_join(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Join(_) => true,
        LogicalPlan::Projection(projection) => chooses(projection) && is_join(&projection.input),
        _ => false,
    }
}
