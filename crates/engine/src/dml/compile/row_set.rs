//! The rows that UPDATE and DELETE change: one key if the conditions name a full key, else a plan.

use super::Writing;
use super::exprs::inputs_of;
use crate::Session;
use crate::dml::key_match::key_of;
use crate::dml::row_source::RowSource;
use crate::dml::target::Target;
use crate::dml::update::{OneRow, Rows};
use crate::error::{EngineResult, Fault, fail};
use crate::row_program::{RowPrograms, SqlFunctions};
use bind::tree::{Body, Bound, ColId, ColInfo, Kind, Needs, Output, Query, Rel, Scalar, Update};
use builtins::{Ty, Volatility};
use rows::Options;
use std::sync::Arc;

impl Session {
    /// Compiles the row set. Its columns: the key, `computed`, `joined`.
    pub(super) async fn bound_rows(
        &mut self,
        writing: &Writing<'_>,
        target: &Target,
        update: &Update,
        computed: &[&Scalar],
        joined: &[ColId],
    ) -> EngineResult<Rows> {
        let cols = &update.target.old.cols;
        let key = update.own.as_deref().filter(|_| self.point_programs());
        if let Some((key, beside)) = key.and_then(|own| key_of(target, cols, own.iter())) {
            let filter = all_of(&beside);
            let inputs: Vec<_> = inputs_of(target, cols, 0).collect();
            let filter = self.bound_exprs(writing, filter.as_ref().as_slice(), &inputs).await?;
            let computed = self.bound_exprs(writing, computed, &inputs).await?;
            return Ok(Rows::Point(Box::new(OneRow { key, filter, computed })));
        }
        let Some(bound) = row_set(writing.bound, update, computed, joined) else {
            return fail(Fault::TooLarge { message: "the statement computes too many columns".to_string() });
        };
        let plan = self.lowered(writing.catalog, &bound, writing.parameters.to_vec()).await?;
        let program = self.short_program(&bound);
        Ok(Rows::Query { source: RowSource::new(plan, program), own: update.own.is_some() })
    }

    /// Compiles the query as a row program, if the settings and the query allow it.
    pub(crate) fn short_program(&self, bound: &Bound) -> Option<rows::Program> {
        let mode = self.settings.effective().row_programs;
        // The hand-over to DataFusion runs the query again, and a volatile function must not be called twice.
        if mode == RowPrograms::Off || bound.facts.volatility == Volatility::Volatile {
            return None;
        }
        let hints = Arc::clone(&self.hints);
        let options = Options { full_scans: mode == RowPrograms::All, index_choice: self.index_choice(), hints };
        rows::compile(bound, &SqlFunctions(self.engine.planner()), options).ok()
    }
}

/// The conjunction of the conditions; `None` without conditions.
pub(super) fn all_of(conditions: &[&Scalar]) -> Option<Scalar> {
    match conditions {
        [] => None,
        [one] => Some((*one).clone()),
        all => {
            let span = all.first().map(|first| first.span).unwrap_or_default();
            Some(Scalar { kind: Kind::And(all.iter().map(|one| (*one).clone()).collect()), ty: Ty::BOOL, span })
        }
    }
}

/// The keys of the rows that a DELETE deletes, as a query.
pub(crate) fn keys_of(bound: &Bound) -> Option<Bound> {
    match &bound.body {
        Body::Delete(delete) => row_set(bound, delete, &[], &[]),
        _ => None,
    }
}

/// The row set as a query of its own.
fn row_set(bound: &Bound, update: &Update, computed: &[&Scalar], joined: &[ColId]) -> Option<Bound> {
    let mut cols = bound.cols.clone();
    let (mut outputs, mut exprs) = (Vec::new(), Vec::new());
    let mut output = |col: ColId| {
        let name = format!("c{}", outputs.len());
        outputs.push(Output { col, name });
    };
    update.key.iter().for_each(|col| output(*col));
    for value in computed {
        let col = ColId::at(cols.len())?;
        cols.push(ColInfo { name: "?column?".to_owned(), ty: value.ty, nullable: true, origin: None });
        exprs.push((col, (*value).clone()));
        output(col);
    }
    joined.iter().for_each(|col| output(*col));
    let mut rel = update.source.rel.clone();
    if !exprs.is_empty() {
        rel = Rel::Project { input: Box::new(rel), exprs };
    }
    let query = Query { ctes: update.source.ctes.clone(), rel, outputs };
    let (params, facts) = (bound.params.clone(), bound.facts);
    Some(Bound { body: Body::Query(query), cols, params, needs: Needs::default(), facts })
}
