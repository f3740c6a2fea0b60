//! The nodes of a program, and how they are made of the bound tree.
//!
//! ```text
//!   Rel + the conditions above it + the order and the limit asked for ──compile──> Node
//! ```
//! Conditions go down to the scans, where they become key ranges; inner joins are taken apart and begin with the table
//! that conditions narrow most.

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

/// A node with the columns of its rows, by place.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) cols: Vec<ColId>,
}

/// How rows are made.
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
    /// Some columns of the input, by place.
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
    /// Rows of a CTE that is computed once, by number.
    Once {
        number: usize,
        places: Vec<usize>,
    },
}

/// What becomes of outer rows and inner rows that match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matching {
    Inner,
    /// And outer rows without a match.
    Left,
    /// Outer rows with a match.
    Semi,
    /// Outer rows without one.
    Anti,
    /// Outer rows, and whether there is a match.
    Mark,
}

impl Matching {
    /// Are inner columns part of the rows?
    pub(crate) fn has_inner(self) -> bool {
        matches!(self, Self::Inner | Self::Left)
    }
}

/// For each outer row the rows of a table that keys made of it reach.
#[derive(Debug)]
pub(crate) struct Lookup {
    pub(crate) matching: Matching,
    pub(crate) outer: Node,
    /// Its conditions are over the outer row and the table's columns.
    pub(crate) path: ScanPath,
    /// Computed from both, once the path's conditions hold.
    pub(crate) exprs: Vec<RowExpr>,
    /// Conditions that read what is computed.
    pub(crate) late: Vec<RowExpr>,
}

/// For each outer row all rows of another node, which are computed once for equal values of `free`.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) matching: Matching,
    pub(crate) outer: Node,
    pub(crate) inner: Node,
    pub(crate) on: Vec<RowExpr>,
    /// Outer columns that the inner node reads: where their values are, and their slots.
    pub(crate) free: Vec<(RowExpr, usize)>,
    /// May the rows of equal outer values be used again?
    pub(crate) memo: bool,
}

/// Groups.
#[derive(Debug)]
pub(crate) struct Aggregate {
    pub(crate) input: Node,
    pub(crate) keys: Vec<usize>,
    pub(crate) calls: Vec<Call>,
}

/// One aggregate.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) func: FuncId,
    pub(crate) args: Vec<usize>,
    pub(crate) distinct: bool,
    pub(crate) filter: Option<usize>,
    pub(crate) order: Vec<SortKey>,
    /// Of its result.
    pub(crate) form: Option<Form>,
}

/// LIMIT and OFFSET.
#[derive(Debug)]
pub(crate) struct Limit {
    pub(crate) input: Node,
    pub(crate) offset: Option<RowExpr>,
    pub(crate) count: Option<RowExpr>,
    /// WITH TIES.
    pub(crate) ties: Vec<SortKey>,
}

/// A column to sort by, by place.
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
    /// As [`Loop::free`], of the row that the expression is over.
    pub(crate) free: Vec<(RowExpr, usize)>,
    /// Rows that decide the value; more are an error if `one`.
    pub(crate) most: usize,
    /// Is more than one row an error?
    pub(crate) one: bool,
    pub(crate) memo: bool,
}

/// A CTE that is computed once: at its first use.
#[derive(Debug)]
pub(crate) struct OncePlan {
    pub(crate) id: CteId,
    pub(crate) node: Node,
}

/// What compiling knows and gathers.
pub(crate) struct Compiler<'a> {
    pub(crate) bound: &'a Bound,
    pub(crate) functions: &'a dyn Functions,
    pub(crate) options: Options,
    pub(crate) ctes: &'a [Cte],
    /// Outer columns, by slot.
    pub(crate) slots: Vec<ColId>,
    /// Those that the node at hand may read.
    pub(crate) visible: Vec<ColId>,
    pub(crate) subqueries: Vec<SubqueryPlan>,
    pub(crate) once: Vec<OncePlan>,
    /// Of all scans.
    pub(crate) widest: Width,
    /// The table of a scan of [`Width::Bounded`].
    pub(crate) bounded: Option<String>,
    /// Are rows compared pair by pair?
    pub(crate) has_loop: bool,
    /// Nodes of the tree that were compiled, a query of WITH at each of its uses.
    pub(crate) nodes: usize,
}

/// A program of more nodes is none of a short statement.
pub(crate) const MOST_NODES: usize = 512;
/// Neither is a join of more tables.
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

    /// May a node read that column from around it?
    pub(crate) fn is_outer(&self, col: ColId) -> bool {
        self.visible.contains(&col)
    }

    /// The slot of an outer column in reach.
    pub(crate) fn outer_slot(&self, col: ColId) -> Option<usize> {
        self.is_outer(col).then(|| self.slots.iter().position(|slot| *slot == col)).flatten()
    }

    /// Makes outer columns readable until [`Self::leave`]; gives their slots.
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

    /// The place of a column among `cols`.
    pub(crate) fn place(cols: &[ColId], col: ColId) -> Result<usize, WhyNot> {
        cols.iter().position(|own| *own == col).ok_or(WhyNot::Scope { index: col.index() })
    }
}

/// NULLs for all columns of a row that is not there.
pub(crate) fn nulls(width: usize) -> impl Iterator<Item = Datum> {
    std::iter::repeat_n(Datum::Null, width)
}

impl Lookup {
    /// How many columns of the table a row has.
    pub(crate) fn path_width(&self) -> usize {
        self.path.reader.width()
    }
}
