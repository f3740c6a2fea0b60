//! EXPLAIN.

use crate::dml::{InsertProgram, WriteProgram};
use crate::error::{EngineResult, Fault, fail};
use crate::statement::Source;
use crate::statement::explained::{creates, explained, explained_of};
use crate::statement::plan_cache::Program;
use crate::statement::query::check_parameters;
use crate::statement::stream;
use crate::statement::utility::text_column;
use crate::{Answer, Session};
use query::{ExplainOptions, Plan};
use sql::{Explain, ExplainFormat, Statement, ast};
use std::sync::Arc;
use std::time::{Duration, Instant};
use txn::ReadView;
use types::Datum;

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
        if explain.format == ExplainFormat::Json {
            return fail(Fault::Unsupported { feature: "EXPLAIN (FORMAT JSON)".to_string() });
        }
        let lines = self.explain_lines(explain, whole, prepared, params).await?;
        let rows = lines.into_iter().map(|line| vec![Datum::Text(line)]).collect();
        let columns = Arc::new(vec![text_column("QUERY PLAN")]);
        Ok(Answer::Rows(stream::uncounted(columns, rows, "EXPLAIN")))
    }

    async fn explain_lines(
        &mut self,
        explain: &Explain,
        whole: &Source,
        prepared: bool,
        params: &[Datum],
    ) -> EngineResult<Vec<String>> {
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
        let compiled = self.compile_for_explain(&catalog, &source).await?;
        let stale = matches!(source.statement, Statement::Query(_)) && !creates(&explain.statement);
        let explained = Explained { explain, view, compiling: began.elapsed(), params, stale };
        check_parameters(&compiled, prepared, params)?;
        match &compiled.program {
            Program::Key(_) => fail(Fault::Internal { detail: "a key program in EXPLAIN".to_string() }),
            Program::Rows(rows) => match self.explain_rows(rows, &explained).await? {
                Some(lines) => Ok(lines),
                None => {
                    let plan = self.plan_source(&catalog, &source).await?;
                    self.explain_plan(&plan, &explained).await
                }
            },
            Program::Query(plan) => self.explain_plan(plan, &explained).await,
            Program::Write(program) => self.explain_write(program, &source, &explained).await,
        }
    }

    async fn explain_write(
        &mut self,
        program: &WriteProgram,
        source: &Arc<Source>,
        explained: &Explained<'_>,
    ) -> EngineResult<Vec<String>> {
        let Explained { explain, compiling, params, .. } = explained;
        let began = Instant::now();
        let mut lines = write_lines(program);
        let below = match (program.row_set(), program.values()) {
            (Some(plan), _) => {
                let explain = &Explain { summary: Some(false), ..Explain::clone(explain) };
                self.explain_plan(plan, &Explained { explain, view: explained.view.clone(), ..*explained }).await?
            }
            (None, rows) => vec![format!("Values: rows={}", rows.unwrap_or(0))],
        };
        lines.extend(indented(below));
        lines.extend(planning_time(explain, *compiling));
        if explain.analyze {
            let rows = Box::pin(self.dispatch(&source.text, source, None, params)).await?.count().await?;
            if let Some(first) = lines.first_mut() {
                first.push_str(&format!(" (actual rows={rows})"));
            }
            if explain.summary.unwrap_or(true) && explain.timing {
                lines.push(format!("Execution Time: {:.3} ms", began.elapsed().as_secs_f64() * 1000.0));
            }
        }
        Ok(lines)
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

    async fn explain_plan(&mut self, plan: &Arc<Plan>, explained: &Explained<'_>) -> EngineResult<Vec<String>> {
        let Explained { explain, view, compiling, params, stale } = explained;
        // The rest of the compile time is binding.
        let binding = compiling.saturating_sub(plan.phases.lower + plan.phases.optimize);
        let options = ExplainOptions {
            analyze: explain.analyze,
            verbose: explain.verbose,
            timing: explain.timing,
            summary: explain.summary.unwrap_or(true),
            costs: explain.costs,
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

/// The lines of the node that writes.
fn write_lines(program: &WriteProgram) -> Vec<String> {
    let table = program.target().map_or("", |target| target.table.name.as_str());
    match program {
        WriteProgram::Insert(insert) => insert_lines(insert, table),
        WriteProgram::Update(_) => vec![format!("Update on {table}")],
        WriteProgram::Delete(_) => vec![format!("Delete on {table}")],
        WriteProgram::Lock(_) => vec!["LockRows".to_string()],
    }
}

fn insert_lines(insert: &InsertProgram, table: &str) -> Vec<String> {
    let mut lines = vec![format!("Insert on {table}")];
    lines.extend(insert.action.label().map(|label| format!("  Conflict Resolution: {label}")));
    lines
}

/// Indents lines below their parent node.
fn indented(lines: Vec<String>) -> impl Iterator<Item = String> {
    lines
        .into_iter()
        .enumerate()
        .map(|(i, line)| if i == 0 { format!("  ->  {line}") } else { format!("      {line}") })
}

fn shows_planning(explain: &Explain) -> bool {
    explain.timing && explain.summary.unwrap_or(explain.analyze)
}

/// The line with the planning time, if EXPLAIN shows it.
pub(crate) fn planning_time(explain: &Explain, took: Duration) -> Option<String> {
    shows_planning(explain).then(|| format!("Planning Time: {:.3} ms", took.as_secs_f64() * 1000.0))
}
