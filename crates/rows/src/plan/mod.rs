//! The nodes of a program, and their compilation from the bound tree.
//!
//! ```text
//!   Rel + the conditions above it + the required order and limit ──compile──> Node
//! ```
//! Conditions are pushed down to the scans, where they become key ranges; inner joins are flattened and start with the
//! table that conditions narrow most.

mod aggregate;
mod join;
mod rel;
mod scan;
mod subquery;

pub(crate) use rel::{Ask, pick};

use crate::access::{ScanPath, Width};
use crate::expr::{Form, Row, RowExpr};
use crate::{Functions, Options, WhyNot};
use bind::tree::{Bound, ColId, Cte, CteId, SetOpKind};
use builtins::FuncId;
use types::Datum;

/// A node, with the columns of its rows by index.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) cols: Vec<ColId>,
}

/// The operator of a node.
#[derive(Debug)]
pub(crate) enum NodeKind {
    OneRow,
    Rows(Vec<Row>),
    Values(Vec<Vec<RowExpr>>),
    Scan(Box<ScanPath>),
    Lookup(Box<Lookup>),
    Loop(Box<Loop>),
    Filter {
        input: Box<Node>,
        conditions: Vec<RowExpr>,
    },
    Project {
        input: Box<Node>,
        exprs: Vec<RowExpr>,
    },
    /// Selects columns of the input.
    Pick {
        input: Box<Node>,
        places: Vec<usize>,
    },
    Aggregate(Box<Aggregate>),
    /// The first row of each group of equal values, in the input's order.
    Distinct {
        input: Box<Node>,
        on: Vec<usize>,
    },
    Sort {
        input: Box<Node>,
        keys: Vec<SortKey>,
    },
    Limit(Box<Limit>),
    SetOp {
        op: SetOpKind,
        all: bool,
        left: Box<Node>,
        right: Box<Node>,
    },
    /// The rows of a materialized CTE, by its number.
    Once {
        number: usize,
        places: Vec<usize>,
    },
}

/// The join type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matching {
    Inner,
    /// Also returns outer rows without a match.
    Left,
    /// Returns outer rows with a match.
    Semi,
    /// Returns outer rows without a match.
    Anti,
    /// Returns all outer rows, and whether there is a match.
    Mark,
}

impl Matching {
    /// Does the output contain the inner columns?
    pub(crate) fn has_inner(self) -> bool {
        matches!(self, Self::Inner | Self::Left)
    }
}

/// A lookup join: reads, for each outer row, the rows of a table by keys that are computed from it.
#[derive(Debug)]
pub(crate) struct Lookup {
    pub(crate) matching: Matching,
    pub(crate) outer: Node,
    /// Its conditions are over the outer row and the table's columns.
    pub(crate) path: ScanPath,
    /// Evaluated over both sides, once the path's conditions hold.
    pub(crate) exprs: Vec<RowExpr>,
    /// Conditions that read `exprs`.
    pub(crate) late: Vec<RowExpr>,
}

/// A nested loop join; the inner rows are computed once per distinct values of `free`.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) matching: Matching,
    pub(crate) outer: Node,
    pub(crate) inner: Node,
    pub(crate) on: Vec<RowExpr>,
    /// Outer columns that the inner node reads: their values, and their slots.
    pub(crate) free: Vec<(RowExpr, usize)>,
    /// May the rows for equal outer values be reused?
    pub(crate) memo: bool,
}

/// GROUP BY with its aggregates.
#[derive(Debug)]
pub(crate) struct Aggregate {
    pub(crate) input: Node,
    pub(crate) keys: Vec<usize>,
    pub(crate) calls: Vec<Call>,
}

/// An aggregate call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) func: FuncId,
    pub(crate) args: Vec<usize>,
    pub(crate) distinct: bool,
    pub(crate) filter: Option<usize>,
    pub(crate) order: Vec<SortKey>,
    /// The form of its result.
    pub(crate) form: Option<Form>,
}

/// LIMIT and OFFSET.
#[derive(Debug)]
pub(crate) struct Limit {
    pub(crate) input: Node,
    pub(crate) offset: Option<RowExpr>,
    pub(crate) count: Option<RowExpr>,
    /// The sort keys of WITH TIES.
    pub(crate) ties: Vec<SortKey>,
}

/// A sort key, by column index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortKey {
    pub(crate) at: usize,
    pub(crate) desc: bool,
    pub(crate) nulls_first: bool,
}

/// A subquery of an expression.
#[derive(Debug)]
pub(crate) struct SubqueryPlan {
    pub(crate) node: Node,
    /// As [`Loop::free`], for the row of the expression.
    pub(crate) free: Vec<(RowExpr, usize)>,
    /// The number of rows that are needed; more are an error if `one`.
    pub(crate) most: usize,
    /// Is more than one row an error?
    pub(crate) one: bool,
    pub(crate) memo: bool,
}

/// A materialized CTE: computed at its first use.
#[derive(Debug)]
pub(crate) struct OncePlan {
    pub(crate) id: CteId,
    pub(crate) node: Node,
}

/// The inputs and results of compilation.
pub(crate) struct Compiler<'a> {
    pub(crate) bound: &'a Bound,
    pub(crate) functions: &'a dyn Functions,
    pub(crate) options: Options,
    pub(crate) ctes: &'a [Cte],
    /// Outer columns, by slot.
    pub(crate) slots: Vec<ColId>,
    /// The outer columns that the current node may read.
    pub(crate) visible: Vec<ColId>,
    pub(crate) subqueries: Vec<SubqueryPlan>,
    pub(crate) once: Vec<OncePlan>,
    /// The widest width of all scans.
    pub(crate) widest: Width,
    /// The table of a scan of [`Width::Bounded`].
    pub(crate) bounded: Option<String>,
    /// Is there a nested loop?
    pub(crate) has_loop: bool,
    /// The number of compiled nodes of the bound tree, counting a CTE at each reference.
    pub(crate) nodes: usize,
}

/// A larger program is not compiled: its statement is not short.
pub(crate) const MOST_NODES: usize = 512;
/// The largest number of tables of a join.
pub(crate) const MOST_JOINED: usize = 24;

impl<'a> Compiler<'a> {
    pub(crate) fn new(bound: &'a Bound, functions: &'a dyn Functions, options: Options, ctes: &'a [Cte]) -> Self {
        Self {
            bound,
            functions,
            options,
            ctes,
            slots: Vec::new(),
            visible: Vec::new(),
            subqueries: Vec::new(),
            once: Vec::new(),
            widest: Width::Points,
            bounded: None,
            has_loop: false,
            nodes: 0,
        }
    }

    /// Is it an outer column that the current node may read?
    pub(crate) fn is_outer(&self, col: ColId) -> bool {
        self.visible.contains(&col)
    }

    /// The slot of an outer column.
    pub(crate) fn outer_slot(&self, col: ColId) -> Option<usize> {
        self.is_outer(col).then(|| self.slots.iter().position(|slot| *slot == col)).flatten()
    }

    /// Makes outer columns visible until [`Self::leave`]; returns their slots.
    pub(crate) fn enter(&mut self, cols: &[ColId]) -> Vec<usize> {
        let mut slots = Vec::with_capacity(cols.len());
        for col in cols {
            self.visible.push(*col);
            slots.push(self.slots.iter().position(|slot| slot == col).unwrap_or_else(|| {
                self.slots.push(*col);
                self.slots.len() - 1
            }));
        }
        slots
    }

    /// Undoes [`Self::enter`].
    pub(crate) fn leave(&mut self, cols: &[ColId]) {
        self.visible.truncate(self.visible.len().saturating_sub(cols.len()));
    }

    /// The index of a column in `cols`.
    pub(crate) fn place(cols: &[ColId], col: ColId) -> Result<usize, WhyNot> {
        cols.iter().position(|own| *own == col).ok_or(WhyNot::Scope { index: col.index() })
    }
}

/// NULLs for the columns of a missing row.
pub(crate) fn nulls(width: usize) -> impl Iterator<Item = Datum> {
    std::iter::repeat_n(Datum::Null, width)
}

impl Lookup {
    /// The number of the table's columns in a row.
    pub(crate) fn path_width(&self) -> usize {
        self.path.reader.width()
    }
}
