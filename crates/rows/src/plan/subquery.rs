//! Compiles subqueries of expressions, and applies.

use super::rel::{Ask, PlanResult, Planned, pick};
use super::{Compiler, Loop, Matching, Node, NodeKind, SubqueryPlan};
use crate::WhyNot;
use crate::expr::{RowExpr, Scope};
use bind::tree::{ApplyKind, ColId, Rel, Scalar, Subquery, SubqueryKind};
use builtins::Volatility;

impl Compiler<'_> {
    /// Adds a subquery of an expression over `scope`; returns its number.
    pub(crate) fn add_subquery(&mut self, subquery: &Subquery, scope: &Scope<'_>) -> Result<usize, WhyNot> {
        let free: Vec<ColId> = subquery.free.iter().map(|col| col.id).collect();
        let places = free.iter().map(|col| self.column(*col, scope)).collect::<Result<Vec<_>, _>>()?;
        let slots = self.enter(&free);
        let node = self.subquery_rows(subquery);
        self.leave(&free);
        let (most, one) = match subquery.kind {
            SubqueryKind::Scalar => (2, true),
            SubqueryKind::Exists => (1, false),
            SubqueryKind::Quantified { .. } | SubqueryKind::ArrayOf => (usize::MAX, false),
        };
        let free = places.into_iter().zip(slots).collect();
        self.subqueries.push(SubqueryPlan { node: node?, free, most, one, memo: self.may_memoize() });
        Ok(self.subqueries.len() - 1)
    }

    fn subquery_rows(&mut self, subquery: &Subquery) -> Result<Node, WhyNot> {
        let limited = matches!(subquery.kind, SubqueryKind::Exists);
        let node = self.rel(&subquery.rel, Ask { limited, ..Ask::default() })?.node;
        pick(node, subquery.cols.iter().copied())
    }

    /// May rows be reused for equal outer values?
    fn may_memoize(&self) -> bool {
        self.bound.facts.volatility != Volatility::Volatile
    }

    pub(crate) fn apply<'a>(
        &mut self,
        kind: ApplyKind,
        outer: &'a Rel,
        inner: &'a Rel,
        on: &'a [Scalar],
        free: &[ColId],
        ask: Ask<'a>,
    ) -> PlanResult {
        let (matching, mark) = match kind {
            ApplyKind::Inner => (Matching::Inner, None),
            ApplyKind::Left => (Matching::Left, None),
            ApplyKind::Semi => (Matching::Semi, None),
            ApplyKind::Anti => (Matching::Anti, None),
            ApplyKind::Mark(mark) => (Matching::Mark, Some(mark)),
        };
        let (Planned { node: outer, ordered }, above) = self.outer_side(outer, &ask)?;
        let slots = self.enter(free);
        let inner = self.rel(inner, Ask::default());
        self.leave(free);
        let places = free.iter().map(|col| self.column(*col, &Scope { cols: &outer.cols }));
        let free = places.collect::<Result<Vec<_>, _>>()?.into_iter().zip(slots).collect();
        let node = self.looped(matching, mark, outer, inner?.node, &on.iter().collect::<Vec<_>>(), free)?;
        Ok(Planned { node: self.filter(node, &above)?, ordered })
    }

    /// A nested loop join.
    pub(crate) fn looped(
        &mut self,
        matching: Matching,
        mark: Option<ColId>,
        outer: Node,
        inner: Node,
        on: &[&Scalar],
        free: Vec<(RowExpr, usize)>,
    ) -> Result<Node, WhyNot> {
        let both: Vec<ColId> = outer.cols.iter().chain(&inner.cols).copied().collect();
        let compiled = on.iter().map(|condition| self.expr(condition, &Scope { cols: &both }));
        let on = compiled.collect::<Result<_, _>>()?;
        let cols = match matching.has_inner() {
            true => both,
            false => outer.cols.iter().copied().chain(mark).collect(),
        };
        self.has_loop = true;
        let memo = self.may_memoize();
        Ok(Node { kind: NodeKind::Loop(Box::new(Loop { matching, outer, inner, on, free, memo })), cols })
    }
}
