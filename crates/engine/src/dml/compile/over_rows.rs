//! Expressions over a row that belong to no query and no DML statement: CHECK constraints, generated columns, index
//! expressions, defaults, COPY's WHERE, arguments of EXECUTE.

use super::Writing;
use super::value::constant_of;
use crate::Session;
use crate::dml::row_exprs::{Exprs, Scope};
use crate::error::{EngineError, EngineResult, Fault, fail};
use crate::row_program::Names;
use bind::tree::{Body, ColId, Scalar};
use bind::{AssignedTo, Clause, Environment, NamedRow, OverRows, RowExpressions};
use builtins::Volatility;
use catalog::{Catalog, Table};
use query::RowInput;
use sql::ast::Expr;
use std::collections::BTreeSet;
use std::slice::from_ref;
use std::sync::Arc;
use types::{DataType, Datum};

/// A row whose columns expressions may reference.
#[derive(Clone, Debug)]
pub(crate) struct RowTable {
    /// The qualifier of its columns.
    pub(crate) name: String,
    /// Its columns.
    pub(crate) columns: Vec<(String, DataType)>,
}

impl RowTable {
    /// The row of a table as its definitions reference it, with hidden columns.
    pub(crate) fn of(table: &Table) -> Self {
        let columns = table.columns.iter().map(|column| (column.name.clone(), column.ty)).collect();
        Self { name: table.name.clone(), columns }
    }
}

impl Session {
    /// Compiles the expressions of a clause over a row.
    ///
    /// # Errors
    /// Errors in the expressions, and constructs that the clause does not allow.
    pub(crate) async fn exprs_over(
        &mut self,
        catalog: &Arc<Catalog>,
        row: &RowTable,
        exprs: &[Expr],
        clause: Clause,
    ) -> EngineResult<Exprs> {
        let rows = [NamedRow { name: &row.name, columns: &row.columns }];
        self.compile_over(catalog, RowExpressions { rows: &rows, exprs, clause, assigned_to: &[] }).await
    }

    /// Compiles column defaults.
    pub(super) async fn defaults_over(
        &mut self,
        catalog: &Arc<Catalog>,
        exprs: &[Expr],
        columns: &[AssignedTo<'_>],
    ) -> EngineResult<Exprs> {
        let over = RowExpressions { rows: &[], exprs, clause: Clause::Default, assigned_to: columns };
        self.compile_over(catalog, over).await
    }

    /// The value of an expression without columns, before the assignment cast; `None` if it is not a constant.
    pub(crate) fn constant_now(
        &self,
        catalog: &Catalog,
        expr: &Expr,
        clause: Clause,
        target: AssignedTo<'_>,
    ) -> EngineResult<Option<Datum>> {
        let over = RowExpressions { rows: &[], exprs: from_ref(expr), clause, assigned_to: from_ref(&target) };
        match self.bind_over_rows(catalog, &over)?.bound.body {
            Body::Exprs(values) => Ok(values.first().and_then(constant_of).cloned()),
            _ => Ok(None),
        }
    }

    /// Whether an expression without columns is VOLATILE.
    ///
    /// # Errors
    /// Errors in the expression; 42804 if it cannot be assigned.
    pub(crate) fn is_volatile(&self, expr: &Expr, target: AssignedTo<'_>) -> EngineResult<bool> {
        let (exprs, assigned_to) = (from_ref(expr), from_ref(&target));
        let over = RowExpressions { rows: &[], exprs, clause: Clause::Default, assigned_to };
        let bound = self.bind_over_rows(&self.engine.catalog().current(), &over)?.bound;
        Ok(bound.facts.volatility == Volatility::Volatile)
    }

    /// Evaluates an expression without columns, and applies the assignment cast.
    ///
    /// # Errors
    /// 42804 if the value cannot be assigned; evaluation errors.
    pub(crate) async fn value_now(
        &mut self,
        expr: &Expr,
        clause: Clause,
        target: AssignedTo<'_>,
    ) -> EngineResult<Datum> {
        let (view, catalog) = self.read_state().await?;
        let over = RowExpressions { rows: &[], exprs: from_ref(expr), clause, assigned_to: from_ref(&target) };
        let exprs = self.compile_over(&catalog, over).await?;
        let context = exprs.needs_context().then(|| self.query_context(view));
        let scope = Scope { params: &[], context, env: Some(self.row_environment()), guard: self.running() };
        let value = exprs.eval(&scope, &[], None).await?.pop().unwrap_or(Datum::Null);
        Ok(self.time_zone().assign(&target.ty, value)?)
    }

    async fn compile_over(&mut self, catalog: &Arc<Catalog>, over: RowExpressions<'_>) -> EngineResult<Exprs> {
        if over.exprs.is_empty() {
            return Ok(Exprs::default());
        }
        let OverRows { bound, cols } = self.bind_over_rows(catalog, &over)?;
        let Body::Exprs(values) = &bound.body else {
            return fail(Fault::Internal { detail: "expressions that are a statement".to_string() });
        };
        let mut used = BTreeSet::new();
        values.iter().for_each(|value| value.each_column(&mut |col| _ = used.insert(col)));
        let input = |(col, row, place): &(ColId, usize, usize)| {
            let (_, ty) = over.rows.get(*row)?.columns.get(*place)?;
            used.contains(col).then_some(RowInput { col: *col, row: *row, place: *place, ty: *ty })
        };
        let inputs: Vec<RowInput> = cols.iter().filter_map(input).collect();
        let scalars: Vec<&Scalar> = values.iter().collect();
        let writing = Writing { catalog, bound: &bound, parameters: &[] };
        self.bound_exprs(&writing, &scalars, &inputs).await
    }

    fn bind_over_rows(&self, catalog: &Catalog, over: &RowExpressions<'_>) -> EngineResult<OverRows> {
        let (zone, path) = (self.time_zone(), self.search_path());
        let env = Environment { text: &self.written.text, rules: &zone };
        let bound = bind::bind_over_rows(over, &self.relations(catalog, Names::in_path(&path)), &env);
        bound.map_err(|error| EngineError::of_bind(&error, &self.written))
    }
}
