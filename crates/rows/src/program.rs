//! A compiled statement.

use crate::access::Width;
use crate::exec::{Budget, Run};
use crate::expr::Values;
use crate::plan::{Ask, Compiler, Node, OncePlan, SubqueryPlan, pick};
use crate::{Functions, Made, RowsResult, WhyNot};
use bind::tree::{Body, Bound, ColId};
use builtins::{Env, Volatility};
use index::{IndexChoice, ScanHints};
use std::collections::HashMap;
use std::sync::Arc;
use txn::ReadView;
use types::Datum;

/// What a program may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// May scans read whole tables? For tests that are to run all statements as programs.
    pub full_scans: bool,
    /// Which indexes scans use.
    pub index_choice: IndexChoice,
    /// The hints of the statement.
    pub hints: Arc<ScanHints>,
}

/// How much one execution may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most rows read.
    pub rows: u64,
    /// Most bytes of rows held at once, about.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rows: 4096, bytes: 1 << 20 }
    }
}

/// A statement as row program. Good for one version of the catalog.
#[derive(Debug)]
pub struct Program {
    pub(crate) root: Node,
    pub(crate) subqueries: Vec<SubqueryPlan>,
    pub(crate) once: Vec<OncePlan>,
    /// Outer columns, by slot.
    pub(crate) slots: Vec<ColId>,
    /// Volatile calls run once: such a program is not given up.
    volatile: bool,
    pub(crate) index_choice: IndexChoice,
}

/// What one execution reads besides the tables.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The state to read.
    pub view: &'a ReadView,
    /// The session.
    pub env: &'a Env,
    /// Values of the parameters, of their types.
    pub params: &'a [Datum],
    /// Bounds.
    pub limits: Limits,
}

/// The answer of a program.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its rows, a value for each output.
    pub rows: Vec<Vec<Datum>>,
    /// Rows that were read for it.
    pub rows_read: u64,
}

/// Compiles a query.
///
/// # Errors
/// What keeps it from being a row program: its plan is to run.
pub fn compile(bound: &Bound, functions: &dyn Functions, options: Options) -> Result<Program, WhyNot> {
    let Body::Query(query) = &bound.body else { return Err(WhyNot::NotAQuery) };
    let mut compiler = Compiler::new(bound, functions, options, &query.ctes);
    let node = compiler.rel(&query.rel, Ask::default())?.node;
    let root = pick(node, query.outputs.iter().map(|output| output.col))?;
    let volatile = bound.facts.volatility == Volatility::Volatile;
    if volatile && compiler.widest > Width::Points {
        return Err(WhyNot::Volatile);
    }
    // All pairs of two ranges are many even where either of them is short.
    if let (Some(table), true, false) = (&compiler.bounded, compiler.has_loop, compiler.options.full_scans) {
        let table = table.clone();
        return Err(WhyNot::FullScan { table });
    }
    let Compiler { slots, subqueries, once, options, .. } = compiler;
    Ok(Program { root, subqueries, once, slots, volatile, index_choice: options.index_choice })
}

impl Program {
    /// Runs it to its end.
    ///
    /// # Errors
    /// [`crate::RowsError::OverBudget`]: nothing has happened, and the statement's plan is to run on the same view.
    /// All others are the statement's.
    pub async fn run(&self, functions: &(dyn Functions + Sync), input: Input<'_>) -> RowsResult<Answer> {
        Ok(self.run_and_count(functions, input, None).await?.0)
    }

    /// As [`Self::run`], and how many rows each node has made.
    ///
    /// # Errors
    /// As there.
    pub async fn analyze(&self, functions: &(dyn Functions + Sync), input: Input<'_>) -> RowsResult<(Answer, Made)> {
        let (answer, made) = self.run_and_count(functions, input, Some(HashMap::new())).await?;
        Ok((answer, Made(made.unwrap_or_default())))
    }

    async fn run_and_count(
        &self,
        functions: &(dyn Functions + Sync),
        input: Input<'_>,
        made: Option<HashMap<usize, u64>>,
    ) -> RowsResult<(Answer, Option<HashMap<usize, u64>>)> {
        let limits = match self.volatile {
            true => Limits { rows: u64::MAX, bytes: usize::MAX },
            false => input.limits,
        };
        let values = Values {
            env: input.env,
            params: input.params,
            outer: vec![Datum::Null; self.slots.len()],
            answers: vec![None; self.subqueries.len()],
        };
        let mut run = Run {
            program: self,
            functions,
            view: input.view,
            values,
            budget: Budget::new(limits),
            made,
            once: vec![None; self.once.len()],
            memo: vec![HashMap::new(); self.subqueries.len()],
        };
        let rows = run.collect(&self.root, usize::MAX).await?;
        Ok((Answer { rows, rows_read: run.budget.rows_read }, run.made))
    }
}
