//! Errors of calls of aggregates, window functions and set-returning functions, in PostgreSQL's wording.

use crate::clause::Clause;

/// An invalid window function call or window definition.
#[derive(Clone, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are the parts of the message")]
pub enum WindowError {
    /// 42P20.
    #[error("window \"{name}\" is already defined")]
    Twice { name: String },
    /// 42704.
    #[error("window \"{name}\" does not exist")]
    Undefined { name: String },
    /// 42P20.
    #[error("cannot override {what} clause of window \"{name}\"")]
    Overrides { what: &'static str, name: String },
    /// 42P20.
    #[error("cannot copy window \"{name}\" because it has a frame clause")]
    CopiesFrame { name: String },
    /// 42P20.
    #[error("window functions are not allowed in {clause}")]
    NotAllowed { clause: Clause },
    /// 42P20.
    #[error("window function calls cannot be nested")]
    Nested,
    /// 54001.
    #[error("a query can have at most {limit} different windows")]
    TooMany { limit: usize },
    /// 42803.
    #[error("aggregate function calls cannot contain window function calls")]
    InAggregate,
    /// 42P20: invalid frame bounds, or a frame mode without the ORDER BY that it needs.
    #[error("{message}")]
    Frame { message: &'static str },
    /// 42P10.
    #[error("argument of {mode} must not contain variables")]
    VariableOffset { mode: &'static str },
    /// 22004.
    #[error("frame {which} offset must not be null")]
    NullOffset { which: &'static str },
    /// 22013.
    #[error("frame {which} offset must not be negative")]
    NegativeOffset { which: &'static str },
    /// 22013.
    #[error("invalid preceding or following size in window function")]
    NegativeDistance,
    /// 0A000.
    #[error("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {column}")]
    RangeColumn { column: String },
    /// 0A000.
    #[error("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {column} and offset type {offset}")]
    RangeOffset { column: String, offset: String },
    /// 0A000.
    #[error("{what} is not implemented for {functions}")]
    NotImplemented { what: &'static str, functions: &'static str },
    /// 42809.
    #[error("window function {name} requires an OVER clause")]
    NoOver { name: String },
    /// 42809.
    #[error("OVER specified, but {name} is not a window function nor an aggregate function")]
    NoWindowFunction { name: String },
    /// 0A000.
    #[error("OVER is not supported for ordered-set aggregate {name}")]
    OrderedSet { name: String },
}

/// A set-returning function in a context that does not allow one.
#[derive(Clone, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are the parts of the message")]
pub enum SetError {
    /// 0A000.
    #[error("set-returning functions are not allowed in {place}")]
    NotAllowed { place: String },
    /// 0A000.
    #[error("{call} calls cannot contain set-returning function calls")]
    InCall { call: &'static str },
    /// 0A000.
    #[error("set-returning functions must appear at top level of FROM")]
    WithinFrom,
}

/// An invalid aggregate call, or aggregate syntax around another function.
#[derive(Clone, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are the parts of the message")]
pub enum AggregateError {
    /// 42809.
    #[error("{word} specified, but {name} is not an aggregate function")]
    NoAggregate { word: &'static str, name: String },
    /// 42809.
    #[error("{name}(*) must be used to call a parameterless aggregate function")]
    NoStar { name: String },
    /// 42809.
    #[error("WITHIN GROUP is required for ordered-set aggregate {name}")]
    NoWithinGroup { name: String },
    /// 42809.
    #[error("{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP")]
    NoOrderedSet { name: String },
    /// 0A000.
    #[error("cannot use multiple ORDER BY clauses with WITHIN GROUP")]
    TwoOrders,
    /// 42P10.
    #[error("in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")]
    DistinctOrder,
    /// 42803.
    #[error("column \"{column}\" must appear in the GROUP BY clause or be used in an aggregate function")]
    UngroupedDirect { column: String },
}

impl WindowError {
    /// The SQLSTATE.
    pub(crate) fn sqlstate(&self) -> &'static str {
        match self {
            Self::Twice { .. }
            | Self::Overrides { .. }
            | Self::CopiesFrame { .. }
            | Self::NotAllowed { .. }
            | Self::Nested
            | Self::Frame { .. } => "42P20",
            Self::Undefined { .. } => "42704",
            Self::TooMany { .. } => "54001",
            Self::InAggregate => "42803",
            Self::VariableOffset { .. } => "42P10",
            Self::NullOffset { .. } => "22004",
            Self::NegativeOffset { .. } | Self::NegativeDistance => "22013",
            Self::RangeColumn { .. }
            | Self::RangeOffset { .. }
            | Self::NotImplemented { .. }
            | Self::OrderedSet { .. } => "0A000",
            Self::NoOver { .. } | Self::NoWindowFunction { .. } => "42809",
        }
    }
}

impl AggregateError {
    /// The SQLSTATE.
    pub(crate) fn sqlstate(&self) -> &'static str {
        match self {
            Self::NoAggregate { .. } | Self::NoStar { .. } | Self::NoWithinGroup { .. } | Self::NoOrderedSet { .. } => {
                "42809"
            }
            Self::TwoOrders => "0A000",
            Self::DistinctOrder => "42P10",
            Self::UngroupedDirect { .. } => "42803",
        }
    }
}
