//! Set-returning functions in the list of a SELECT: all of a list go beside each other, in one node above the grouping.

use super::window::reads_any;
use crate::binder::Binder;
use crate::error::{BindResult, Clause};
use crate::tree::{ColId, ColInfo, ColRef, Kind, Rel, Scalar, SetCall, Span};
use builtins::resolve::FunctionCall;
use builtins::{Ty, TypeId};

impl Binder<'_> {
    /// The call becomes a column that a node makes.
    pub(crate) fn set_in_list(&mut self, call: &FunctionCall, args: Vec<Scalar>, span: Span) -> BindResult<Scalar> {
        let scope = self.scope();
        if scope.clause != Clause::SelectList || scope.in_aggregate || scope.in_window {
            return Err(self.not_built("a set-returning function in this place"));
        }
        if call.defaults > 0 || call.variadic.is_some() || call.returns.id == TypeId::RECORD {
            return Err(self.not_built("this set-returning function"));
        }
        let cols = set_cols(&self.scope().sets);
        if args.iter().any(|arg| reads_any(arg, &cols)) {
            return Err(self.not_built("a set-returning function within another"));
        }
        self.note_call(call.function.id);
        let args = self.call_arguments(call, args)?;
        // An element has the form of the array's numerics.
        let digits = match (call.returns.id, args.first()) {
            (TypeId::NUMERIC, Some(array)) if array.ty.id.element().is_some() => array.ty.digits,
            _ => None,
        };
        let ty = Ty { digits, ..call.returns };
        let name = call.function.name.to_owned();
        let id = self.new_col(ColInfo { name, ty, nullable: true, origin: None })?;
        self.scope().sets.push(SetCall { func: call.function.id, args, cols: vec![id] });
        Ok(Scalar { kind: Kind::Col(ColRef { id, level: 0 }), ty, span })
    }

    /// Takes the calls of this query out. `others` must not read one, nor a choice in an output.
    pub(super) fn take_sets<'v>(
        &mut self,
        outputs: &[(String, Scalar)],
        mut others: impl Iterator<Item = &'v Scalar>,
    ) -> BindResult<Vec<SetCall>> {
        let sets = std::mem::take(&mut self.scope().sets);
        let cols = set_cols(&sets);
        if cols.is_empty() {
            return Ok(sets);
        }
        if others.any(|value| reads_any(value, &cols)) {
            return Err(self.not_built("a set-returning function in GROUP BY"));
        }
        if outputs.iter().any(|(_, value)| chooses(value, &cols)) {
            return Err(self.not_built("a set-returning function that a choice asks for"));
        }
        Ok(sets)
    }

    /// The rows with a row for each place of the sets.
    pub(super) fn with_sets(&self, rel: Rel, calls: Vec<SetCall>) -> Rel {
        match calls.is_empty() {
            true => rel,
            false => Rel::Unnest { input: Box::new(rel), calls, ordinality: None, outer: false },
        }
    }
}

/// The columns that calls make.
pub(super) fn set_cols(sets: &[SetCall]) -> Vec<ColId> {
    sets.iter().flat_map(|set| &set.cols).copied().collect()
}

/// Is one of these columns an operand of what may not ask for it?
fn chooses(value: &Scalar, cols: &[ColId]) -> bool {
    let is_choice = matches!(
        value.kind,
        Kind::Case { .. }
            | Kind::Coalesce(_)
            | Kind::Extreme { .. }
            | Kind::NullIf { .. }
            | Kind::And(_)
            | Kind::Or(_)
            | Kind::Subquery(_)
    );
    if is_choice {
        return reads_any(value, cols);
    }
    let mut found = false;
    value.each_operand(&mut |operand| found = found || chooses(operand, cols));
    found
}
