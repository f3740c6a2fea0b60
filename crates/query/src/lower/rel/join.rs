//! Joins and applies.

use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal};
use ::bind::tree::{ApplyKind, ColId, JoinKind, Rel, Scalar};
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
        match kind {
            JoinType::Left if self.has_subquery_of_both(on, &left, &right) => self.left_apply(left, right, on),
            JoinType::Right if self.has_subquery_of_both(on, &left, &right) => self.left_apply(right, left, on),
            kind => self.joined(kind, left, right, on),
        }
    }

    /// The inner side references columns of the outer one like a subquery; decorrelation turns it into a join.
    pub(in crate::lower) fn apply(
        &mut self,
        kind: ApplyKind,
        outer: &Rel,
        inner: &Rel,
        on: &[Scalar],
    ) -> LowerResult<LogicalPlan> {
        let outer = self.rel(outer)?;
        self.outer.push(Arc::clone(outer.schema()));
        let inner = self.rel(inner);
        self.outer.pop();
        let inner = inner?;
        match kind {
            ApplyKind::Left if on.iter().any(Scalar::has_subquery) => self.left_apply(outer, inner, on),
            ApplyKind::Left => self.joined(JoinType::Left, outer, inner, on),
            ApplyKind::Inner => {
                // Decorrelation joins the subqueries of a filter.
                let (above, on): (Vec<Scalar>, Vec<Scalar>) = on.iter().cloned().partition(Scalar::has_subquery);
                let joined = self.joined(JoinType::Inner, outer, inner, &on)?;
                self.filter(joined, &above)
            }
            ApplyKind::Semi | ApplyKind::Anti | ApplyKind::Mark(_) => internal("this kind of apply"),
        }
    }

    /// LEFT JOIN LATERAL of the inner rows that satisfy the conditions: a filter may have subqueries that read both
    /// sides.
    fn left_apply(&mut self, outer: LogicalPlan, inner: LogicalPlan, on: &[Scalar]) -> LowerResult<LogicalPlan> {
        self.outer.push(Arc::clone(outer.schema()));
        let inner = self.filter(inner, on);
        self.outer.pop();
        self.joined(JoinType::Left, outer, inner?, &[])
    }

    /// Do the subqueries of the conditions read columns of both sides?
    fn has_subquery_of_both(&self, on: &[Scalar], left: &LogicalPlan, right: &LogicalPlan) -> bool {
        let mut read: Vec<ColId> = Vec::new();
        for condition in on {
            condition.each_subquery(&mut |subquery| subquery.each_column(&mut |col| read.push(col)));
        }
        let reads = |side: &LogicalPlan| {
            read.iter().any(|id| self.columns.get(*id).is_ok_and(|column| side.schema().has_column(column)))
        };
        reads(left) && reads(right)
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
        // DataFusion's rules extract the join keys. `NullEqualsNothing` on all joins, because rules that flatten nested
        // joins keep only one value of it.
        let nulls = NullEquality::NullEqualsNothing;
        let join = Join::try_new(left, right, Vec::new(), filter, kind, JoinConstraint::On, nulls, false)?;
        Ok(LogicalPlan::Join(join))
    }
}
