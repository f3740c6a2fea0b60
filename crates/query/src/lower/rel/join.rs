//! Joins and applies.

use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal};
use ::bind::tree::{ApplyKind, JoinKind, Rel, Scalar};
use datafusion::common::{JoinType, NullEquality};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Join, JoinConstraint, LogicalPlan};
use std::sync::Arc;

impl Lowering<'_> {
    pub(in crate::lower) fn join(
        &mut self,
        kind: JoinKind,
        left: &Rel,
        right: &Rel,
        on: &[Scalar],
    ) -> LowerResult<LogicalPlan> {
        let kind = match kind {
            JoinKind::Inner => JoinType::Inner,
            JoinKind::Left => JoinType::Left,
            JoinKind::Right => JoinType::Right,
            JoinKind::Full => JoinType::Full,
            JoinKind::Semi => JoinType::LeftSemi,
            JoinKind::Anti => JoinType::LeftAnti,
            JoinKind::Mark(_) => return internal("a mark join"),
        };
        let (left, right) = (self.rel(left)?, self.rel(right)?);
        self.joined(kind, left, right, on)
    }

    /// The inner side reads columns of the outer one as a subquery does; decorrelation makes a join of it.
    pub(in crate::lower) fn apply(
        &mut self,
        kind: ApplyKind,
        outer: &Rel,
        inner: &Rel,
        on: &[Scalar],
    ) -> LowerResult<LogicalPlan> {
        let kind = match kind {
            ApplyKind::Inner => JoinType::Inner,
            ApplyKind::Left => JoinType::Left,
            ApplyKind::Semi | ApplyKind::Anti | ApplyKind::Mark(_) => return internal("this kind of apply"),
        };
        let outer = self.rel(outer)?;
        self.outer.push(Arc::clone(outer.schema()));
        let inner = self.rel(inner);
        self.outer.pop();
        // Decorrelation makes joins of the subqueries of a filter.
        let (above, on): (Vec<Scalar>, Vec<Scalar>) =
            on.iter().cloned().partition(|condition| kind == JoinType::Inner && condition.has_subquery());
        let joined = self.joined(kind, outer, inner?, &on)?;
        self.filter(joined, &above)
    }

    pub(in crate::lower) fn joined(
        &mut self,
        kind: JoinType,
        left: LogicalPlan,
        right: LogicalPlan,
        on: &[Scalar],
    ) -> LowerResult<LogicalPlan> {
        let both = merge_schema(&[&left, &right]);
        let filter = self.conjunction(on, &Arc::new(both))?;
        let (left, right) = (Arc::new(left), Arc::new(right));
        // Keys among the conditions are found by a rule. NULLs are never equal here: rules that take nested joins apart
        // keep only one answer to that.
        let nulls = NullEquality::NullEqualsNothing;
        let join = Join::try_new(left, right, Vec::new(), filter, kind, JoinConstraint::On, nulls, false)?;
        Ok(LogicalPlan::Join(join))
    }
}
