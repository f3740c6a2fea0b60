//! Compiles aggregation.

use super::{Aggregate, Ask, Call, Compiler, Node, NodeKind, SortKey};
use crate::WhyNot;
use crate::expr::Form;
use bind::tree::{AggCall, ColId, Key, Rel};

impl Compiler<'_> {
    pub(crate) fn aggregate(
        &mut self,
        input: &Rel,
        keys: &[ColId],
        calls: &[(ColId, AggCall)],
    ) -> Result<Node, WhyNot> {
        let input = self.rel(input, Ask::default())?.node;
        let compiled = calls.iter().map(|(_, call)| self.call_of(call, &input.cols)).collect::<Result<_, _>>()?;
        let places = keys.iter().map(|col| Self::place(&input.cols, *col)).collect::<Result<_, _>>()?;
        let cols = keys.iter().copied().chain(calls.iter().map(|(col, _)| *col)).collect();
        let aggregate = Aggregate { input, keys: places, calls: compiled };
        Ok(Node { kind: NodeKind::Aggregate(Box::new(aggregate)), cols })
    }

    /// The order in which rows are aggregated. For DISTINCT they are also sorted by their values.
    fn order_of(call: &AggCall, cols: &[ColId]) -> Result<Vec<SortKey>, WhyNot> {
        let mut keys = call.order.clone();
        if call.distinct {
            let others = call.args.iter().filter(|arg| !call.order.iter().any(|key| key.col == **arg));
            keys.extend(others.map(|arg| Key { col: *arg, desc: false, nulls_first: false }));
        }
        Self::sort_keys(cols, &keys)
    }

    fn call_of(&self, call: &AggCall, cols: &[ColId]) -> Result<Call, WhyNot> {
        let line = self.functions.function(call.func);
        let name = || line.map_or_else(|| call.func.0.to_string(), |line| line.name.to_owned());
        if !call.direct.is_empty() || self.functions.accumulator(call.func).is_none() {
            return Err(WhyNot::Function { name: name() });
        }
        Ok(Call {
            func: call.func,
            args: call.args.iter().map(|col| Self::place(cols, *col)).collect::<Result<_, _>>()?,
            distinct: call.distinct,
            filter: call.filter.map(|col| Self::place(cols, col)).transpose()?,
            order: Self::order_of(call, cols)?,
            form: Form::of(call.ty)?,
        })
    }
}
