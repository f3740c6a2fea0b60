//! Set-returning functions in a SELECT: calls that read no other set are expanded side by side in one node, and calls
//! that read these in the next node above.
//!
//! Sets that group keys read are expanded below the grouping, those that windows read below the windows, and all others
//! above both.

use super::window::reads_any;
use crate::binder::Binder;
use crate::call_error::SetError;
use crate::clause::Clause;
use crate::error::{BindError, BindResult};
use crate::same::same;
use crate::tree::{ColId, ColInfo, ColRef, Kind, Rel, Scalar, SetCall, Span};
use builtins::resolve::FunctionCall;
use builtins::{Ty, TypeId};

/// The hint for a set-returning function in a context that does not allow one.
const INSTEAD: &str = "You might be able to move the set-returning function into a LATERAL FROM item.";

impl Binder<'_> {
    /// Binds a set-returning call as a column of an Unnest node.
    pub(crate) fn set_returning_call(
        &mut self,
        call: &FunctionCall,
        args: Vec<Scalar>,
        span: Span,
    ) -> BindResult<Scalar> {
        self.check_set_place(span)?;
        if call.defaults > 0 || call.variadic.is_some() || call.returns.id == TypeId::RECORD {
            return self.unsupported_at(format!("function {}() in a SELECT list", call.function.name), span);
        }
        self.note_call(call.function.id);
        let args = self.call_arguments(call, args)?;
        // An element has the digits of the array.
        let digits = match (call.returns.id, args.first()) {
            (TypeId::NUMERIC, Some(array)) if array.ty.id.element().is_some() => array.ty.digits,
            _ => None,
        };
        let ty = Ty { digits, ..call.returns };
        let id = match self.known_set(call, &args) {
            Some(id) => id,
            None => {
                let name = call.function.name.to_owned();
                let id = self.new_col(ColInfo { name, ty, nullable: true, origin: None })?;
                self.scope().sets.push(SetCall { func: call.function.id, args, cols: vec![id] });
                id
            }
        };
        Ok(Scalar { kind: Kind::Col(ColRef { id, level: 0 }), ty, span })
    }

    fn check_set_place(&mut self, span: Span) -> BindResult<()> {
        let scope = self.scope();
        let wrong = match scope.clause {
            Clause::FunctionInFrom => Some(SetError::WithinFrom),
            Clause::SelectList | Clause::GroupBy | Clause::OrderBy | Clause::DistinctOn | Clause::WindowDefinition => {
                scope.in_aggregate.then_some(SetError::InCall { call: "aggregate function" })
            }
            clause => Some(SetError::NotAllowed { place: clause.to_string() }),
        };
        match wrong {
            None => Ok(()),
            Some(wrong) => {
                let in_call = matches!(wrong, SetError::InCall { .. });
                let error = BindError::new(wrong.into(), span);
                Err(if in_call { error.with_hint(INSTEAD) } else { error })
            }
        }
    }

    /// Finds the call of the output list that a key repeats.
    fn known_set(&mut self, call: &FunctionCall, args: &[Scalar]) -> Option<ColId> {
        if self.scope().clause == Clause::SelectList {
            return None;
        }
        let is_same = |set: &&SetCall| {
            let equal = set.args.len() == args.len() && set.args.iter().zip(args).all(|(a, b)| same(a, b));
            set.func == call.function.id && equal
        };
        self.scope().sets.iter().find(is_same).and_then(|set| set.cols.first().copied())
    }

    /// Does it read the result of a set-returning call?
    pub(crate) fn reads_set(&self, value: &Scalar) -> bool {
        self.scopes.last().is_some_and(|scope| scope.sets.iter().any(|set| reads_any(value, &set.cols)))
    }

    /// Returns the number of set-returning calls so far in the query that is being bound.
    pub(crate) fn sets_so_far(&self) -> usize {
        self.scopes.last().map_or(0, |scope| scope.sets.len())
    }

    /// Refuses set-returning calls in `place`, where there were `before` of them at its start.
    pub(crate) fn refuse_sets(&self, before: usize, place: &str) -> BindResult<()> {
        self.refuse_sets_as(before, SetError::NotAllowed { place: place.to_owned() })
    }

    /// Refuses set-returning calls in a construct, where there were `before` of them at its start.
    pub(crate) fn refuse_sets_as(&self, before: usize, wrong: SetError) -> BindResult<()> {
        if self.sets_so_far() <= before {
            return Ok(());
        }
        Err(BindError::new(wrong.into(), Span::default()).with_hint(INSTEAD))
    }
}

/// Removes and returns the sets that these values read, directly or through other sets.
pub(super) fn read_by<'v>(sets: &mut Vec<SetCall>, values: impl Iterator<Item = &'v Scalar>) -> Vec<SetCall> {
    if sets.is_empty() {
        return Vec::new();
    }
    let values: Vec<&Scalar> = values.collect();
    let mut taken: Vec<SetCall> = Vec::new();
    // A set comes after the sets that it reads.
    for set in std::mem::take(sets).into_iter().rev() {
        let read = values.iter().any(|value| reads_any(value, &set.cols))
            || taken.iter().flat_map(|set| &set.args).any(|arg| reads_any(arg, &set.cols));
        if read { taken.push(set) } else { sets.push(set) }
    }
    sets.reverse();
    taken.reverse();
    taken
}

/// Adds nodes that expand the sets.
pub(super) fn with_sets(rel: Rel, calls: Vec<SetCall>) -> Rel {
    if calls.is_empty() {
        return rel;
    }
    let all = set_cols(&calls);
    let (mut now, mut above) = (Vec::new(), Vec::new());
    for call in calls {
        let reads = call.args.iter().any(|arg| reads_any(arg, &all));
        if reads { above.push(call) } else { now.push(call) }
    }
    // A set comes after the sets that it reads, so the first one reads none.
    let input = Box::new(rel);
    with_sets(Rel::Unnest { input, calls: now, ordinality: None, outer: false }, above)
}

/// Returns the output columns of the calls.
pub(super) fn set_cols(sets: &[SetCall]) -> Vec<ColId> {
    sets.iter().flat_map(|set| &set.cols).copied().collect()
}
