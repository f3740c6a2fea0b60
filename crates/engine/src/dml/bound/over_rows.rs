//! Expressions over rows at hand outside of a bound statement: CHECK constraints, generated columns, parts of indexes,
//! defaults, COPY's WHERE.

use super::Writing;
use crate::Session;
use crate::bound_plan::BinderMode;
use crate::dml::row_exprs::{Exprs, has_subquery};
use crate::error::{EngineError, EngineResult};
use bind::tree::{Body, ColId, Kind, Scalar};
use bind::{BindError, Environment, NamedRow, OverRows};
use catalog::Catalog;
use query::{RowInput, RowTable};
use sql::ast::Expr;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Session {
    /// Compiles expressions without parameters; `None`: they ask for the session, or have a form that is not built.
    pub(in crate::dml) async fn bound_over_rows(
        &mut self,
        catalog: &Arc<Catalog>,
        tables: &[RowTable],
        exprs: &[Expr],
    ) -> EngineResult<Option<Exprs>> {
        if self.settings.effective().binder != BinderMode::Auto || exprs.iter().any(has_subquery) {
            return Ok(None);
        }
        let rows: Vec<NamedRow<'_>> =
            tables.iter().map(|table| NamedRow { name: &table.name, columns: &table.columns }).collect();
        let OverRows { bound, cols } = match self.bind_over_rows(catalog, &rows, exprs) {
            Ok(over) => over,
            Err(error) if error.is_not_built() => return Ok(None),
            Err(error) => return Err(EngineError::of_bind_text(&error)),
        };
        // What asks for the session is told by a plan: some places refuse it.
        if bound.facts.session_bound {
            return Ok(None);
        }
        let Body::Exprs(values) = &bound.body else { return Ok(None) };
        let mut used = BTreeSet::new();
        values.iter().for_each(|value| columns_of(value, &mut used));
        let input = |(col, row, place): &(ColId, usize, usize)| {
            let (_, ty) = tables.get(*row)?.columns.get(*place)?;
            used.contains(col).then_some(RowInput { col: *col, row: *row, place: *place, ty: *ty })
        };
        let inputs: Vec<RowInput> = cols.iter().filter_map(input).collect();
        let scalars: Vec<&Scalar> = values.iter().collect();
        let writing = Writing { catalog, bound: &bound, parameters: &[] };
        self.bound_exprs(&writing, &scalars, &inputs).await
    }

    fn bind_over_rows(&self, catalog: &Catalog, rows: &[NamedRow<'_>], exprs: &[Expr]) -> Result<OverRows, BindError> {
        let (zone, path) = (self.time_zone(), self.search_path());
        let env = Environment { text: "", rules: &zone };
        bind::bind_over_rows(rows, exprs, &self.relations(catalog, &path), &env)
    }
}

fn columns_of(value: &Scalar, into: &mut BTreeSet<ColId>) {
    if let Kind::Col(col) = &value.kind {
        into.insert(col.id);
    }
    value.each_operand(&mut |operand| columns_of(operand, into));
}
