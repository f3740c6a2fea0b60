//! A compiled statement.

use crate::access::Width;
use crate::exec::{Budget, Memo, Run};
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

/// The options of compiling a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// May scans read whole tables? For tests that run all statements as programs.
    pub full_scans: bool,
    /// The session's choice of indexes.
    pub index_choice: IndexChoice,
    /// The hints of the statement.
    pub hints: Arc<ScanHints>,
}

/// The limits of one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest number of rows read.
    pub rows: u64,
    /// The approximate largest number of bytes held at once.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rows: 4096, bytes: 1 << 20 }
    }
}

/// A statement as a row program. Valid for one version of the catalog.
#[derive(Debug)]
pub struct Program {
    pub(crate) root: Node,
    pub(crate) subqueries: Vec<SubqueryPlan>,
    pub(crate) once: Vec<OncePlan>,
    /// Outer columns, by slot.
    pub(crate) slots: Vec<ColId>,
    /// Volatile functions must run once, so such a program has no limits and is never abandoned.
    volatile: bool,
    pub(crate) index_choice: IndexChoice,
}

/// The inputs of one execution besides the tables.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The read view.
    pub view: &'a ReadView,
    /// The session's environment.
    pub env: &'a Env,
    /// The values of the parameters, in their types.
    pub params: &'a [Datum],
    /// The limits.
    pub limits: Limits,
}

/// The result of a program.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its rows, with one value per output.
    pub rows: Vec<Vec<Datum>>,
    /// The number of rows that were read.
    pub rows_read: u64,
}

/// Compiles a query.
///
/// # Errors
/// The reason why it cannot be a row program: its plan must be executed.
pub fn compile(bound: &Bound, functions: &dyn Functions, options: Options) -> Result<Program, WhyNot> {
    let Body::Query(query) = &bound.body else { return Err(WhyNot::NotAQuery) };
    let mut compiler = Compiler::new(bound, functions, options, &query.ctes);
    let node = compiler.rel(&query.rel, Ask::default())?.node;
    let root = pick(node, query.outputs.iter().map(|output| output.col))?;
    let volatile = bound.facts.volatility == Volatility::Volatile;
    if volatile && compiler.widest > Width::Points {
        return Err(WhyNot::Volatile);
    }
    // A nested loop over two ranges compares many pairs even if either range is short.
    if let (Some(table), true, false) = (&compiler.bounded, compiler.has_loop, compiler.options.full_scans) {
        let table = table.clone();
        return Err(WhyNot::FullScan { table });
    }
    let Compiler { slots, subqueries, once, options, .. } = compiler;
    Ok(Program { root, subqueries, once, slots, volatile, index_choice: options.index_choice })
}

impl Program {
    /// Runs the program to its end.
    ///
    /// # Errors
    /// [`crate::RowsError::OverBudget`]: the program had no effect, and the statement's plan must be executed on the
    /// same view. All others are errors of the statement.
    pub async fn run(&self, functions: &(dyn Functions + Sync), input: Input<'_>) -> RowsResult<Answer> {
        Ok(self.run_and_count(functions, input, None).await?.0)
    }

    /// Like [`Self::run`], and counts the rows of each node.
    ///
    /// # Errors
    /// As [`Self::run`].
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
            memo: vec![Memo::default(); self.subqueries.len()],
        };
        let rows = run.collect(&self.root, usize::MAX).await?;
        Ok((Answer { rows, rows_read: run.budget.rows_read }, run.made))
    }
}
