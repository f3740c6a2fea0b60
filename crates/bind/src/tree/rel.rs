//! Nodes that make rows.

use super::{ColId, CteId, RelId, Scalar};
use crate::relations::ComputedRelation;
use builtins::{FuncId, Ty};
use catalog::Table;
use std::sync::Arc;
use types::Datum;

/// A set of columns.
pub type ColSet = std::collections::BTreeSet<ColId>;

/// Rows and how they are made.
#[derive(Clone, Debug)]
pub enum Rel {
    /// One row without columns.
    OneRow,
    /// Rows that are written out.
    Values {
        /// Their columns.
        cols: Vec<ColId>,
        /// The rows.
        rows: Rows,
    },
    /// A table's rows.
    Scan {
        /// The table.
        table: Arc<Table>,
        /// This reference to it.
        rel: RelId,
        /// Columns in use, by ordinal in `table.columns`; the hidden row id is the ordinal behind the last.
        cols: Vec<(usize, ColId)>,
    },
    /// The rows of a relation that are computed when it is read: a catalog's, or a sequence's.
    Computed {
        /// The relation.
        relation: Arc<ComputedRelation>,
        /// Its columns, in their order.
        cols: Vec<ColId>,
        /// Which of the statement's references to such relations it is.
        reference: usize,
        /// `tableoid`, if something reads it.
        oid: Option<ColId>,
    },
    /// Rows of a CTE, or the last ones of a recursive CTE within itself.
    CteScan {
        /// Which.
        cte: CteId,
        /// Id in the definition, id here.
        cols: Vec<(ColId, ColId)>,
    },
    /// Rows for which all conditions are true.
    Filter {
        /// Of these.
        input: Box<Rel>,
        /// Conditions, of type boolean.
        all: Vec<Scalar>,
    },
    /// Computed columns beside those of the input.
    Project {
        /// Of these.
        input: Box<Rel>,
        /// New columns; all columns of the input stay readable above.
        exprs: Vec<(ColId, Scalar)>,
    },
    /// Two inputs.
    Join {
        /// Which rows.
        kind: JoinKind,
        /// One.
        left: Box<Rel>,
        /// The other.
        right: Box<Rel>,
        /// Conditions, of type boolean.
        on: Vec<Scalar>,
    },
    /// For each row of `outer`, the rows of `inner`: LATERAL and subqueries.
    Apply {
        /// Which rows.
        kind: ApplyKind,
        /// For each of these.
        outer: Box<Rel>,
        /// These.
        inner: Box<Rel>,
        /// Conditions, of type boolean.
        on: Vec<Scalar>,
        /// Columns of `outer` that `inner` reads.
        free: Vec<ColId>,
    },
    /// A row for each group.
    Aggregate {
        /// Of these.
        input: Box<Rel>,
        /// Grouped by these; no keys and no sets: one group, of no rows too.
        keys: Vec<ColId>,
        /// Grouping sets; empty: all keys.
        sets: Vec<ColSet>,
        /// Aggregates.
        calls: Vec<(ColId, AggCall)>,
        /// GROUPING() of some keys: a bit for each, the last one's the lowest, set where the group's set lacks the key.
        groupings: Vec<(ColId, Vec<ColId>)>,
    },
    /// Window functions of one window.
    Window {
        /// Of these.
        input: Box<Rel>,
        /// The window.
        spec: WindowSpec,
        /// The calls.
        calls: Vec<(ColId, WindowCall)>,
    },
    /// Set-returning calls, row by row beside each other.
    Unnest {
        /// For each of these.
        input: Box<Rel>,
        /// The calls.
        calls: Vec<SetCall>,
        /// WITH ORDINALITY.
        ordinality: Option<ColId>,
        /// A row of NULLs where the calls have no rows?
        outer: bool,
    },
    /// Rows that differ.
    Distinct {
        /// Of these.
        input: Box<Rel>,
        /// In these columns; DISTINCT ON if `first` says which row stays.
        on: Vec<ColId>,
        /// DISTINCT ON: the first row by this order stays.
        order: Option<Vec<Key>>,
    },
    /// Rows in order.
    Sort {
        /// Of these.
        input: Box<Rel>,
        /// The order.
        keys: Vec<Key>,
    },
    /// Some of the rows.
    Limit {
        /// Of these.
        input: Box<Rel>,
        /// So many are left out, of type bigint.
        offset: Option<Scalar>,
        /// So many are taken, of type bigint; NULL is all.
        count: Option<Scalar>,
        /// WITH TIES: and those equal to the last one by these keys.
        ties: Vec<Key>,
    },
    /// UNION, INTERSECT, EXCEPT.
    SetOp {
        /// Which.
        op: SetOpKind,
        /// ALL?
        all: bool,
        /// One.
        left: Box<Rel>,
        /// The other.
        right: Box<Rel>,
        /// Output, left and right column; types are equal.
        cols: Vec<(ColId, ColId, ColId)>,
    },
}

/// Rows of VALUES.
#[derive(Clone, Debug)]
pub enum Rows {
    /// Constants.
    Const(Vec<Vec<Datum>>),
    /// Expressions.
    Exprs(Vec<Vec<Scalar>>),
}

/// Which rows a join makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// Pairs.
    Inner,
    /// And left rows without one.
    Left,
    /// And right rows without one.
    Right,
    /// And both.
    Full,
    /// Left rows with a pair.
    Semi,
    /// Left rows without one.
    Anti,
    /// Left rows, and whether there is a pair (three-valued).
    Mark(ColId),
}

/// Which rows an apply makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyKind {
    /// Pairs.
    Inner,
    /// And outer rows without one.
    Left,
    /// Outer rows with a pair.
    Semi,
    /// Outer rows without one.
    Anti,
    /// Outer rows, and whether there is a pair.
    Mark(ColId),
}

/// A column to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The column.
    pub col: ColId,
    /// DESC?
    pub desc: bool,
    /// NULLS FIRST?
    pub nulls_first: bool,
}

/// A call of an aggregate.
#[derive(Clone, Debug)]
pub struct AggCall {
    /// Which.
    pub func: FuncId,
    /// Its arguments, columns of the input; none of `count(*)`.
    pub args: Vec<ColId>,
    /// Arguments in front of WITHIN GROUP.
    pub direct: Vec<Scalar>,
    /// DISTINCT?
    pub distinct: bool,
    /// FILTER (WHERE …), a boolean column of the input.
    pub filter: Option<ColId>,
    /// ORDER BY within the call, or of WITHIN GROUP.
    pub order: Vec<Key>,
    /// Its result.
    pub ty: Ty,
}

/// A window.
#[derive(Clone, Debug)]
pub struct WindowSpec {
    /// PARTITION BY.
    pub partition: Vec<ColId>,
    /// ORDER BY.
    pub order: Vec<Key>,
    /// The frame.
    pub frame: Frame,
}

/// The rows around one that a call sees.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What bounds count.
    pub mode: FrameMode,
    /// Its first row.
    pub start: FrameBound,
    /// Its last row.
    pub end: FrameBound,
}

/// What the bounds of a frame count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameMode {
    /// Rows.
    Rows,
    /// Values of the order's column.
    Range,
    /// Groups of peers.
    Groups,
}

/// A bound of a frame.
#[derive(Clone, Debug)]
pub enum FrameBound {
    /// UNBOUNDED PRECEDING or FOLLOWING.
    Unbounded,
    /// CURRENT ROW.
    Current,
    /// n PRECEDING.
    Preceding(Scalar),
    /// n FOLLOWING.
    Following(Scalar),
}

/// A call of a window function, or of an aggregate over a window.
#[derive(Clone, Debug)]
pub struct WindowCall {
    /// Which.
    pub func: FuncId,
    /// Its arguments, columns of the input.
    pub args: Vec<ColId>,
    /// FILTER, a boolean column of the input.
    pub filter: Option<ColId>,
    /// Its result.
    pub ty: Ty,
}

/// A set-returning call.
#[derive(Clone, Debug)]
pub struct SetCall {
    /// Which.
    pub func: FuncId,
    /// Its arguments.
    pub args: Vec<Scalar>,
    /// Its columns.
    pub cols: Vec<ColId>,
}

/// Which set operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOpKind {
    /// UNION.
    Union,
    /// INTERSECT.
    Intersect,
    /// EXCEPT.
    Except,
}
