//! Relational operators.

use super::{ColId, CteId, RelId, Scalar};
use crate::relations::ComputedRelation;
use builtins::{FuncId, Ty};
use catalog::Table;
use std::sync::Arc;
use types::Datum;

/// A set of columns.
pub type ColSet = std::collections::BTreeSet<ColId>;

/// A relational operator.
#[derive(Clone, Debug)]
pub enum Rel {
    /// One row without columns.
    OneRow,
    /// Rows of VALUES.
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
        /// Columns in use, by ordinal in `table.columns`; the hidden row id has the ordinal after the last.
        cols: Vec<(usize, ColId)>,
    },
    /// The rows of a relation that is computed when it is read: a system catalog or a sequence.
    Computed {
        /// The relation.
        relation: Arc<ComputedRelation>,
        /// Its columns, in their order.
        cols: Vec<ColId>,
        /// Its number among the statement's references to computed relations.
        reference: usize,
        /// `tableoid`, if something reads it.
        oid: Option<ColId>,
    },
    /// Rows of a CTE, or within a recursive term the rows of the previous iteration.
    CteScan {
        /// The CTE.
        cte: CteId,
        /// Column id in the definition, column id here.
        cols: Vec<(ColId, ColId)>,
    },
    /// Rows for which all predicates are true.
    Filter {
        /// The input.
        input: Box<Rel>,
        /// Predicates, of type boolean.
        all: Vec<Scalar>,
    },
    /// Computed columns beside those of the input.
    Project {
        /// The input.
        input: Box<Rel>,
        /// New columns; all columns of the input stay readable above.
        exprs: Vec<(ColId, Scalar)>,
    },
    /// A join of two inputs.
    Join {
        /// The join type.
        kind: JoinKind,
        /// Left input.
        left: Box<Rel>,
        /// Right input.
        right: Box<Rel>,
        /// Conditions, of type boolean.
        on: Vec<Scalar>,
    },
    /// For each row of `outer`, the rows of `inner`: LATERAL and subqueries.
    Apply {
        /// The join type.
        kind: ApplyKind,
        /// Outer input.
        outer: Box<Rel>,
        /// Inner input, evaluated for each outer row.
        inner: Box<Rel>,
        /// Conditions, of type boolean.
        on: Vec<Scalar>,
        /// Columns of `outer` that `inner` reads.
        free: Vec<ColId>,
    },
    /// A row for each group.
    Aggregate {
        /// The input.
        input: Box<Rel>,
        /// Grouping keys; without keys and sets there is one group, even of no rows.
        keys: Vec<ColId>,
        /// Grouping sets; empty means one set of all keys.
        sets: Vec<ColSet>,
        /// Aggregates.
        calls: Vec<(ColId, AggCall)>,
        /// GROUPING() of some keys: a bit per key, the last one the lowest, set if the grouping set lacks the key.
        groupings: Vec<(ColId, Vec<ColId>)>,
    },
    /// Window functions of one window.
    Window {
        /// The input.
        input: Box<Rel>,
        /// The window.
        spec: WindowSpec,
        /// The calls.
        calls: Vec<(ColId, WindowCall)>,
    },
    /// Set-returning calls, expanded side by side.
    Unnest {
        /// The input.
        input: Box<Rel>,
        /// The calls.
        calls: Vec<SetCall>,
        /// WITH ORDINALITY.
        ordinality: Option<ColId>,
        /// Is there a row of NULLs for an input row without results?
        outer: bool,
    },
    /// Distinct rows.
    Distinct {
        /// The input.
        input: Box<Rel>,
        /// The columns that are compared; DISTINCT ON if `order` is set.
        on: Vec<ColId>,
        /// DISTINCT ON: the first row in this order stays.
        order: Option<Vec<Key>>,
    },
    /// Sorted rows.
    Sort {
        /// The input.
        input: Box<Rel>,
        /// The order.
        keys: Vec<Key>,
    },
    /// LIMIT and OFFSET.
    Limit {
        /// The input.
        input: Box<Rel>,
        /// Number of rows to skip, of type bigint.
        offset: Option<Scalar>,
        /// Number of rows to return, of type bigint; NULL means all.
        count: Option<Scalar>,
        /// WITH TIES: also rows equal to the last one in these keys.
        ties: Vec<Key>,
    },
    /// UNION, INTERSECT, EXCEPT.
    SetOp {
        /// The operation.
        op: SetOpKind,
        /// ALL?
        all: bool,
        /// Left input.
        left: Box<Rel>,
        /// Right input.
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

/// A join type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// Matching pairs.
    Inner,
    /// Pairs, and left rows without a match.
    Left,
    /// Pairs, and right rows without a match.
    Right,
    /// Pairs, and the rows of both sides without a match.
    Full,
    /// Left rows with a match.
    Semi,
    /// Left rows without a match.
    Anti,
    /// Left rows, and a column that says whether there is a match (three-valued).
    Mark(ColId),
}

/// A join type of an apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyKind {
    /// Matching pairs.
    Inner,
    /// Pairs, and outer rows without a match.
    Left,
    /// Outer rows with a match.
    Semi,
    /// Outer rows without a match.
    Anti,
    /// Outer rows, and a column that says whether there is a match.
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
    /// The function.
    pub func: FuncId,
    /// Its arguments, columns of the input; empty for `count(*)`.
    pub args: Vec<ColId>,
    /// Direct arguments of an ordered-set aggregate.
    pub direct: Vec<Scalar>,
    /// DISTINCT?
    pub distinct: bool,
    /// FILTER (WHERE …), a boolean column of the input.
    pub filter: Option<ColId>,
    /// ORDER BY within the call, or of WITHIN GROUP.
    pub order: Vec<Key>,
    /// Its result type.
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

/// The frame of a window.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The unit of its bounds.
    pub mode: FrameMode,
    /// Its first row.
    pub start: FrameBound,
    /// Its last row.
    pub end: FrameBound,
}

/// The unit of frame bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameMode {
    /// Rows.
    Rows,
    /// Values of the ORDER BY column.
    Range,
    /// Peer groups.
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
    /// The function.
    pub func: FuncId,
    /// Its arguments, columns of the input.
    pub args: Vec<ColId>,
    /// FILTER, a boolean column of the input.
    pub filter: Option<ColId>,
    /// Its result type.
    pub ty: Ty,
}

/// A set-returning call.
#[derive(Clone, Debug)]
pub struct SetCall {
    /// The function.
    pub func: FuncId,
    /// Its arguments.
    pub args: Vec<Scalar>,
    /// Its output columns.
    pub cols: Vec<ColId>,
}

/// A set operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOpKind {
    /// UNION.
    Union,
    /// INTERSECT.
    Intersect,
    /// EXCEPT.
    Except,
}
