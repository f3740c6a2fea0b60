//! Types of a statement's parameters, gathered from where they stand.

use super::literal::{Literal, literal};
use crate::error::{EngineResult, Fault, fail};
use sql::ast::{self, Expr, Query};
use std::ops::ControlFlow;
use types::DataType;

/// What is known so far: `None` is not known yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParamTypes(Vec<Option<DataType>>);

impl ParamTypes {
    /// What the client declared.
    pub(crate) fn declared(types: &[Option<DataType>]) -> Self {
        Self(types.to_vec())
    }

    /// There are that many, if not more.
    pub(crate) fn make_room(&mut self, count: usize) {
        if self.0.len() < count {
            self.0.resize(count, None);
        }
    }

    /// What is known, for a planner.
    pub(crate) fn known(&self) -> &[Option<DataType>] {
        &self.0
    }

    /// The parameter stands where a value of that type goes. The first place decides. A value is
    /// cut and rounded where it goes, not before.
    pub(crate) fn note(&mut self, index: usize, ty: DataType) {
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        if let Some(known) = self.0.get_mut(index) {
            known.get_or_insert(ty.unlimited());
        }
    }

    /// What the plan of a query found out about the parameters that it uses: of the others it knows nothing.
    pub(crate) fn merge(&mut self, query: &Query, types: &[DataType]) {
        let own = self.0.len();
        let _ = ast::visit_expressions(query, |part| {
            self.merge_one(part, types, own);
            ControlFlow::<()>::Continue(())
        });
    }

    /// The same of expressions.
    pub(crate) fn merge_exprs(&mut self, exprs: &[Expr], types: &[DataType]) {
        let own = self.0.len();
        for expr in exprs {
            let _ = ast::visit_expressions(expr, |part| {
                self.merge_one(part, types, own);
                ControlFlow::<()>::Continue(())
            });
        }
    }

    fn merge_one(&mut self, part: &Expr, types: &[DataType], own: usize) {
        if let Some(Literal::Param(index)) = literal(part)
            && let Some(ty) = types.get(index)
            && index < own
        {
            self.note(index, *ty);
        }
    }

    /// None are allowed here.
    pub(crate) fn finish_without(self) -> EngineResult<()> {
        if self.0.is_empty() { Ok(()) } else { fail(Fault::NoSuchParameter { number: 1 }) }
    }

    /// All types.
    pub(crate) fn finish(self) -> EngineResult<Vec<DataType>> {
        match self.0.iter().position(Option::is_none) {
            Some(index) => fail(Fault::UntypedParameter { number: index + 1 }),
            None => Ok(self.0.into_iter().flatten().collect()),
        }
    }
}
