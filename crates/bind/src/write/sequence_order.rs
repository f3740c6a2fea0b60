//! The order in which the values of a new row take values of sequences.

use crate::binder::{Binder, plain};
use crate::error::BindResult;
use crate::over_table::volatility;
use crate::tree::{InsertSource, Kind, NewValue, Scalar, Span};
use builtins::{TypeId, Volatility};
use catalog::Table;
use types::Datum;

impl Binder<'_> {
    /// Makes defaults that are the next values of sequences calls of nextval() if other values of a row read or change
    /// sequences: calls are made in the order of the columns, and other next values for all rows in advance.
    pub(super) fn order_sequences(
        &mut self,
        table: &Table,
        source: &InsertSource,
        defaults: &mut [(usize, NewValue)],
    ) -> BindResult<()> {
        let rows = match source {
            InsertSource::Rows(rows) => rows.as_slice(),
            InsertSource::Query(_) => &[],
        };
        let mut values = defaults.iter().map(|(_, value)| value).chain(rows.iter().flatten());
        if !values.any(|value| matches!(value, NewValue::Expr(value) if uses_sequence(value))) {
            return Ok(());
        }
        for (at, value) in defaults {
            if let (NewValue::NextOf(sequence), Some(column)) = (&*value, table.columns.get(*at)) {
                let kind = Kind::Const(Datum::Int8(sequence.0.into()));
                let oid = Scalar { kind, ty: plain(TypeId::OID), span: Span::default() };
                let call = self.call_named("nextval", vec![oid], Span::default())?;
                *value = NewValue::Expr(self.assigned(column, call)?);
            }
        }
        Ok(())
    }
}

/// Does the value of a sequence or its state depend on when this expression is evaluated?
fn uses_sequence(value: &Scalar) -> bool {
    const OF_SEQUENCES: [&str; 4] = ["nextval", "currval", "lastval", "setval"];
    let mut uses = match &value.kind {
        Kind::Call { func, .. } => builtins::function(*func).is_some_and(|called| OF_SEQUENCES.contains(&called.name)),
        Kind::Subquery(_) => volatility(value) == Volatility::Volatile,
        _ => false,
    };
    value.each_operand(&mut |operand| uses = uses || uses_sequence(operand));
    uses
}
