//! EXPLAIN.

use crate::dml::WriteProgram;
use crate::error::{EngineResult, Fault, fail};
use crate::statement::Source;
use crate::statement::array_parameters::with_constants;
use crate::statement::explained::{creates, explained, explained_of};
use crate::statement::plan_cache::{Compiled, Program};
use crate::statement::query::check_parameters;
use crate::statement::stream;
use crate::statement::utility::text_column;
use crate::{Answer, ColumnDesc, Session};
use catalog::Catalog;
use query::{ExplainOptions, Plan};
use rows::{Actual, ExplainedPlan, PlanNode, Planning, Property};
use sql::{Explain, ExplainFormat, Statement, ast};
use std::sync::Arc;
use std::time::{Duration, Instant};
use txn::ReadView;
use types::{DataType, Datum};

/// The options of EXPLAIN, and the snapshot that EXPLAIN ANALYZE reads.
pub(crate) struct Explained<'a> {
    pub(crate) explain: &'a Explain,
    pub(crate) view: ReadView,
    pub(crate) compiling: Duration,
    pub(crate) params: &'a [Datum],
    /// Whether the statement may read refreshed indexes, which are older than the table.
    pub(crate) stale: bool,
}

impl Session {
    pub(crate) async fn explain(
        &mut self,
        explain: &Explain,
        whole: &Source,
        prepared: bool,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        let plan = self.explained_plan(explain, whole, prepared, params).await?;
        let texts = match explain.format {
            ExplainFormat::Text => plan.lines(),
            ExplainFormat::Json => vec![plan.json()],
            ExplainFormat::Xml => vec![plan.xml()],
            ExplainFormat::Yaml => vec![plan.yaml()],
        };
        let rows = texts.into_iter().map(|text| vec![Datum::Text(text)]).collect();
        Ok(Answer::Rows(stream::uncounted(Arc::new(columns(explain.format)), rows, "EXPLAIN")))
    }

    async fn explained_plan(
        &mut self,
        explain: &Explain,
        whole: &Source,
        prepared: bool,
        params: &[Datum],
    ) -> EngineResult<ExplainedPlan> {
        let executed = match explain.statement.as_ref() {
            Statement::Execute { name, arguments } => Some(self.executed(name, arguments).await?),
            _ => None,
        };
        let (source, prepared, params) = match &executed {
            Some((source, values)) => (explained_of(&source.statement, source)?, true, values.as_slice()),
            None => (explained(explain, whole)?, prepared, params),
        };
        let began = Instant::now();
        let (view, catalog) = self.read_state().await?;
        let (compiled, source, params) = self.compile_with_values(&catalog, source, params).await?;
        let stale = matches!(source.statement, Statement::Query(_)) && !creates(&explain.statement);
        let explained = Explained { explain, view, compiling: began.elapsed(), params, stale };
        check_parameters(&compiled, prepared, params)?;
        match &compiled.program {
            Program::Key(_) => fail(Fault::Internal { detail: "a key program in EXPLAIN".to_string() }),
            Program::Rows(rows) => match self.explain_rows(rows, &explained).await? {
                Some(shown) => Ok(shown),
                None => {
                    let plan = self.plan_source(&catalog, &source).await?;
                    self.explain_plan(&plan, &explained).await
                }
            },
            Program::Query(plan) => self.explain_plan(plan, &explained).await,
            Program::Write(program) => self.explain_write(program, &source, &explained).await,
        }
    }

    /// Compiles the statement to be shown, and returns the values that it still needs. A statement whose plan depends on
    /// the values of its parameters gets them as constants.
    async fn compile_with_values<'a>(
        &mut self,
        catalog: &Arc<Catalog>,
        source: Arc<Source>,
        params: &'a [Datum],
    ) -> EngineResult<(Compiled, Arc<Source>, &'a [Datum])> {
        let compiled = self.compile_for_explain(catalog, &source).await?;
        match &compiled.program {
            Program::Query(plan) if plan.needs_values && params.len() == compiled.parameters.len() => {
                let spelled = with_constants(&source, &compiled.parameters, params)?;
                Ok((self.compile_for_explain(catalog, &spelled).await?, spelled, &[]))
            }
            _ => Ok((compiled, source, params)),
        }
    }

    async fn explain_write(
        &mut self,
        program: &WriteProgram,
        source: &Arc<Source>,
        explained: &Explained<'_>,
    ) -> EngineResult<ExplainedPlan> {
        let Explained { explain, compiling, params, .. } = explained;
        let began = Instant::now();
        let mut node = write_node(program);
        node.inputs = match (program.row_set(), program.values()) {
            (Some(plan), _) => {
                // The rows are read for the plan's counts, and again by the statement: calls are not made twice.
                let analyze = explain.analyze && !plan.is_volatile();
                let explain = &Explain { summary: Some(false), analyze, ..Explain::clone(explain) };
                self.explain_plan(plan, &Explained { explain, view: explained.view.clone(), ..*explained }).await?.roots
            }
            (None, rows) => vec![PlanNode::values(rows.unwrap_or(0))],
        };
        if explain.analyze {
            let rows = Box::pin(self.dispatch(&source.text, source, None, params)).await?.count().await?;
            node.actual = Some(Actual { rows, busy: None });
        }
        let planning = planning_time(explain, *compiling);
        let execution = shows_execution(explain).then(|| began.elapsed());
        Ok(ExplainedPlan { roots: vec![node], executor: None, planning, execution })
    }

    /// The statement that EXECUTE runs, and the values of its parameters.
    ///
    /// # Errors
    /// As EXECUTE.
    async fn executed(&mut self, name: &str, arguments: &[ast::Expr]) -> EngineResult<(Arc<Source>, Vec<Datum>)> {
        let (prepared, params) = self.prepared_with(name, arguments).await?;
        match &prepared.source {
            Some(source) => Ok((Arc::clone(source), params)),
            None => fail(Fault::Internal { detail: "PREPARE of an empty statement".to_string() }),
        }
    }

    async fn explain_plan(&mut self, plan: &Arc<Plan>, explained: &Explained<'_>) -> EngineResult<ExplainedPlan> {
        let Explained { explain, view, compiling, params, stale } = explained;
        // The rest of the compile time is binding.
        let binding = compiling.saturating_sub(plan.phases.lower + plan.phases.optimize);
        let options = ExplainOptions {
            analyze: explain.analyze,
            verbose: explain.verbose,
            timing: explain.timing,
            summary: explain.summary.unwrap_or(true),
            costs: explain.shows_costs(),
            planning: shows_planning(explain).then_some(binding),
        };
        let context = match stale {
            true => self.stale_context(view.clone()),
            false => self.query_context(view.clone()),
        };
        let (plan, params) = (Arc::clone(plan), params.to_vec());
        let (planner, guard) = (Arc::clone(self.engine.planner()), self.running());
        let host = guard.host();
        let work = async move {
            guard.stoppable(async { Ok(planner.explain(&context, &plan, &params, options).await?) }).await
        };
        self.engine.run_query(host, work).await
    }
}

/// The node that writes.
fn write_node(program: &WriteProgram) -> PlanNode {
    let table = program.target().map_or("", |target| target.table.name.as_str());
    let write = |operation: &str| {
        let node = PlanNode::of("ModifyTable").titled(format!("{operation} on {table}"));
        node.naming("Operation", operation).naming("Relation name", table)
    };
    match program {
        WriteProgram::Insert(insert) => {
            let label = insert.action.label().map(|label| Property::new("Conflict Resolution", label));
            write("Insert").with(label)
        }
        WriteProgram::Update(_) => write("Update"),
        WriteProgram::Delete(_) => write("Delete"),
        WriteProgram::Lock(_) => PlanNode::of("LockRows"),
    }
}

/// The result column.
pub(crate) fn columns(format: ExplainFormat) -> Vec<ColumnDesc> {
    let column = text_column("QUERY PLAN");
    match format {
        ExplainFormat::Json => vec![ColumnDesc { ty: DataType::Json, ..column }],
        ExplainFormat::Text | ExplainFormat::Xml | ExplainFormat::Yaml => vec![column],
    }
}

/// Whether the execution time is shown.
pub(crate) fn shows_execution(explain: &Explain) -> bool {
    explain.analyze && explain.timing && explain.summary.unwrap_or(true)
}

fn shows_planning(explain: &Explain) -> bool {
    explain.timing && explain.summary.unwrap_or(explain.analyze)
}

/// The planning time, if EXPLAIN shows it.
pub(crate) fn planning_time(explain: &Explain, took: Duration) -> Option<Planning> {
    shows_planning(explain).then(|| Planning { total: took, phases: Vec::new() })
}
