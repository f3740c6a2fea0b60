//! Errors of binding, in PostgreSQL's wording. `sqlstate.rs` has the SQLSTATE of each kind.

use crate::call_error::{AggregateError, SetError, WindowError};
use crate::clause::Clause;
use crate::recursion_error::RecursionError;
use crate::tree::Span;
use std::borrow::Cow;
use types::TypeError;

/// The error of a statement that cannot be bound.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{kind}")]
pub struct BindError {
    /// The kind of error.
    pub kind: Box<BindErrorKind>,
    /// Its position in the text; empty if it has none.
    pub span: Span,
    /// PostgreSQL's HINT.
    pub hint: Option<Cow<'static, str>>,
}

/// A kind of error.
#[derive(Clone, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are the parts of the message")]
pub enum BindErrorKind {
    /// 54011.
    #[error("target lists can have at most {limit} entries")]
    TooManyEntries { limit: usize },
    /// 42703.
    #[error("column {} does not exist", column_name(.relation.as_deref(), .name))]
    UndefinedColumn { relation: Option<String>, name: String },
    /// 42702.
    #[error("column reference \"{name}\" is ambiguous")]
    AmbiguousColumn { name: String },
    /// Two outputs of that name (42702).
    #[error("{clause} \"{name}\" is ambiguous")]
    AmbiguousOutput { clause: Clause, name: String },
    /// 42P01.
    #[error("relation \"{name}\" does not exist")]
    UndefinedTable { name: String },
    /// 42703.
    #[error("could not identify column \"{field}\" in record data type")]
    NoField { field: String },
    /// 42809.
    #[error("column notation .{field} applied to type {ty}, which is not a composite type")]
    NotComposite { field: String, ty: String },
    /// 0A000.
    #[error("cross-database references are not implemented: \"{name}\"")]
    OtherDatabase { name: String },
    /// 3F000.
    #[error("schema \"{name}\" does not exist")]
    UndefinedSchema { name: String },
    /// 42P01.
    #[error("missing FROM-clause entry for table \"{name}\"")]
    MissingFrom { name: String },
    /// A relation that exists but cannot be referenced from this part of the query (42P01).
    #[error("invalid reference to FROM-clause entry for table \"{name}\"")]
    InvalidFromReference { name: String },
    /// A LATERAL reference to the left side of a right or full join (42P10).
    #[error("invalid reference to FROM-clause entry for table \"{name}\"")]
    InvalidLateral { name: String },
    /// 42P09.
    #[error("table reference \"{name}\" is ambiguous")]
    AmbiguousTable { name: String },
    /// 42712.
    #[error("table name \"{name}\" specified more than once")]
    DuplicateAlias { name: String },
    /// 42712.
    #[error("WITH query name \"{name}\" specified more than once")]
    DuplicateCte { name: String },
    /// 42P10.
    #[error("table \"{name}\" has {available} columns available but {specified} columns specified")]
    TooManyAliases { name: String, available: usize, specified: usize },
    /// 42P10.
    #[error("WITH query \"{name}\" has {available} columns available but {specified} columns specified")]
    TooManyCteAliases { name: String, available: usize, specified: usize },
    /// 42703.
    #[error("column \"{name}\" specified in USING clause does not exist in {side} table")]
    UndefinedUsing { name: String, side: &'static str },
    /// 42702.
    #[error("common column name \"{name}\" appears more than once in {side} table")]
    AmbiguousUsing { name: String, side: &'static str },
    /// 42701.
    #[error("column name \"{name}\" appears more than once in USING clause")]
    RepeatedUsing { name: String },
    /// 42883.
    #[error("function {name}({}) does not exist", .args.join(", "))]
    UndefinedFunction { name: String, args: Vec<String> },
    /// 42725.
    #[error("function {name}({}) is not unique", .args.join(", "))]
    AmbiguousFunction { name: String, args: Vec<String> },
    /// 42883.
    #[error("operator does not exist: {}{name} {right}", left_operand(.left.as_deref()))]
    UndefinedOperator { left: Option<String>, name: String, right: String },
    /// 42725.
    #[error("operator is not unique: {}{name} {right}", left_operand(.left.as_deref()))]
    AmbiguousOperator { left: Option<String>, name: String, right: String },
    /// 42809.
    #[error("{name} is not an aggregate function")]
    NotAggregate { name: String },
    /// 42846.
    #[error("cannot cast type {from} to {to}")]
    CannotCast { from: String, to: String },
    /// 42804.
    #[error("argument of {what} must be type {wanted}, not type {found}")]
    WrongType { what: Cow<'static, str>, wanted: &'static str, found: String },
    /// 42804.
    #[error("{what} types {left} and {right} cannot be matched")]
    NoCommonType { what: &'static str, left: String, right: String },
    /// 42846.
    #[error("{what} could not convert type {from} to {to}")]
    CannotConvert { what: &'static str, from: String, to: String },
    /// A literal that is invalid for its type, with the SQLSTATE of the inner error.
    #[error(transparent)]
    Value(#[from] TypeError),
    /// 42804: for an expression that is not assigned to a column.
    #[error("an expression of type {from} cannot be coerced to the expected type {to}")]
    CannotAssign { from: String, to: String },
    /// 42P02: CHECK constraints, defaults and similar expressions have no parameters.
    #[error("there is no parameter ${}", .number)]
    NoParameter { number: u16 },
    /// 0A000.
    #[error("cannot use subquery in {}", .clause.singular())]
    SubqueryNotAllowed { clause: Clause },
    /// An invalid locking clause (0A000).
    #[error("{message}")]
    RowLock { message: String },
    /// 42P01.
    #[error("relation \"{name}\" in {clause} clause not found in FROM clause")]
    LockedNotInFrom { name: String, clause: &'static str },
    /// 42809.
    #[error("cannot lock rows in materialized view \"{name}\"")]
    LockedView { name: String },
    /// 42P18.
    #[error("could not determine data type of parameter ${}", .number)]
    UntypedParameter { number: u16 },
    /// 42P08.
    #[error("inconsistent types deduced for parameter ${}", .number)]
    InconsistentParameter { number: u16, known: String, wanted: String },
    /// 42803.
    #[error("column \"{column}\" must appear in the GROUP BY clause or be used in an aggregate function")]
    Ungrouped { column: String },
    /// 42803.
    #[error("subquery uses ungrouped column \"{column}\" from outer query")]
    UngroupedOuter { column: String },
    /// 42803.
    #[error("arguments to GROUPING must be grouping expressions of the associated query level")]
    GroupingArguments,
    /// 42803.
    #[error("aggregate functions are not allowed in {clause}")]
    AggregateNotAllowed { clause: Clause },
    /// 42803.
    #[error("aggregate function calls cannot be nested")]
    NestedAggregate,
    /// 42P10.
    #[error("{clause} position {position} is not in select list")]
    NoSuchPosition { clause: Clause, position: String },
    /// 42601.
    #[error("non-integer constant in {clause}")]
    ConstantKey { clause: Clause },
    /// 42P10.
    #[error("for SELECT DISTINCT, ORDER BY expressions must appear in select list")]
    DistinctOrder,
    /// 42P10.
    #[error("SELECT DISTINCT ON expressions must match initial ORDER BY expressions")]
    DistinctOnOrder,
    /// 42P10.
    #[error("argument of {clause} must not contain variables")]
    Variables { clause: Clause },
    /// 42804.
    #[error("recursive query \"{name}\" column {column} has type {first} in non-recursive term but type {all} overall")]
    RecursiveType { name: String, column: usize, first: String, all: String },
    /// 42601.
    #[error("each {op} query must have the same number of columns")]
    UnequalColumns { op: &'static str },
    /// 0A000.
    #[error("invalid UNION/INTERSECT/EXCEPT ORDER BY clause")]
    SetOperationOrder,
    /// 42601.
    #[error("VALUES lists must all be the same length")]
    UnequalValues,
    /// 42601.
    #[error("unequal number of entries in row expressions")]
    UnequalRows,
    /// 42601.
    #[error("subquery must return only one column")]
    SubqueryColumns,
    /// 42601.
    #[error("subquery has too {} columns", if *.many { "many" } else { "few" })]
    SubqueryWidth { many: bool },
    /// 42601.
    #[error("SELECT * with no tables specified is not valid")]
    StarWithoutTables,
    /// 42809.
    #[error("op ANY/ALL (array) requires array on right side")]
    AnyWithoutArray,
    /// 42804.
    #[error("cannot subscript type {ty} because it does not support subscripting")]
    NoSubscripts { ty: String },
    /// 42804.
    #[error("array subscript must have type integer")]
    SubscriptType,
    /// 42P18.
    #[error("cannot determine type of empty array")]
    EmptyArray,
    /// 42804.
    #[error("{what} must not return a set")]
    SetReturned { what: Cow<'static, str> },
    /// 42883.
    #[error("could not identify an ordering operator for type {ty}")]
    NoOrdering { ty: String },
    /// 42883.
    #[error("could not identify an equality operator for type {ty}")]
    NoEquality { ty: String },
    /// 42804.
    #[error("op ANY/ALL (array) requires operator to yield boolean")]
    AnyNotBoolean,
    /// 42601 for errors of syntax that the parser does not detect.
    #[error("{message}")]
    Syntax { message: &'static str },
    /// A target column of a statement that writes rows (42703).
    #[error("column \"{column}\" of relation \"{table}\" does not exist")]
    UndefinedTarget { table: String, column: String },
    /// 42701.
    #[error("column \"{column}\" specified more than once")]
    ColumnTwice { column: String },
    /// 42601.
    #[error("INSERT has more {more} than {fewer}")]
    InsertWidth { more: &'static str, fewer: &'static str },
    /// 42601.
    #[error("number of columns does not match number of values")]
    AssignmentWidth,
    /// 42601.
    #[error("multiple assignments to same column \"{column}\"")]
    AssignedTwice { column: String },
    /// 42804.
    #[error("column \"{column}\" is of type {wanted} but expression is of type {given}")]
    NotAssignable { column: String, wanted: String, given: String },
    /// 42804.
    #[error("column \"{column}\" is of type {wanted} but default expression is of type {given}")]
    DefaultNotAssignable { column: String, wanted: String, given: String },
    /// 428C9.
    #[error("cannot insert a non-DEFAULT value into column \"{column}\"")]
    GivenAlways { column: String, generated: bool },
    /// 428C9.
    #[error("column \"{column}\" can only be updated to DEFAULT")]
    UpdatedAlways { column: String, generated: bool },
    /// An invalid window function call or window definition.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// A set-returning function in a context that does not allow one.
    #[error(transparent)]
    Set(#[from] SetError),
    /// An invalid aggregate call, or aggregate syntax around another function.
    #[error(transparent)]
    Aggregate(#[from] AggregateError),
    /// 54011.
    #[error("CUBE is limited to {limit} elements")]
    CubeElements { limit: usize },
    /// 54001.
    #[error("too many grouping sets present (maximum {limit})")]
    TooManySets { limit: usize },
    /// 54001: a construct that takes too much stack or memory to bind.
    #[error("{what} nested too deeply")]
    TooDeep { what: &'static str },
    /// 54001: copies of operands that take too much memory.
    #[error(
        "statement is too complex: the copies of operands that are compared several times have more than {limit} parts"
    )]
    TooManyCopies { limit: usize },
    /// 2202E.
    #[error("{message}")]
    UnlikeElements { message: &'static str },
    /// 42P18.
    #[error("could not determine polymorphic type because input has type unknown")]
    UndeterminedType,
    /// An invalid recursive query (42P19), or one that PostgreSQL does not support either (0A000).
    #[error("{}", .wrong.message(.name))]
    Recursion { name: String, wrong: RecursionError },
    /// 54023.
    #[error("GROUPING must have fewer than 32 arguments")]
    TooManyGroupingArguments,
    /// 42803.
    #[error("grouping operations are not allowed in {clause}")]
    GroupingNotAllowed { clause: Clause },
    /// 42P08: the type was still unknown in a context that does not determine it.
    #[error("could not determine data type of parameter ${}", .number)]
    LateParameter { number: u16 },
    /// 42804.
    #[error("row comparison operator must yield type boolean, not type {found}")]
    RowOperator { found: String },
    /// A feature that PostgreSQL does not have either, in its wording (0A000).
    #[error("{message}")]
    NotSupported { message: &'static str },
    /// A feature that Bennu does not have (0A000).
    #[error("{feature} is not supported")]
    Unsupported { feature: Cow<'static, str> },
    /// 42601.
    #[error("improper {what} name (too many dotted names): {name}")]
    DottedNames { what: &'static str, name: String },
    /// 42601.
    #[error("argument name \"{name}\" used more than once")]
    ArgumentTwice { name: String },
    /// XX000: a bug of the binder, or a tree that the parser does not produce.
    #[error("internal error: {what}")]
    Internal { what: Cow<'static, str> },
    /// 54000: more columns or parameters than ids.
    #[error("statement has too many columns")]
    TooManyColumns,
}

impl BindError {
    pub(crate) fn new(kind: BindErrorKind, span: Span) -> Self {
        Self { kind: Box::new(kind), span, hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Is it a literal that is out of range for its type?
    pub(crate) fn is_out_of_range(&self) -> bool {
        matches!(*self.kind, BindErrorKind::Value(TypeError::TextOutOfRange { .. }))
    }

    /// Returns PostgreSQL's DETAIL, if the error has one.
    pub fn detail(&self) -> Option<String> {
        match self.kind.as_ref() {
            BindErrorKind::InconsistentParameter { known, wanted, .. } => Some(format!("{known} versus {wanted}")),
            BindErrorKind::InvalidLateral { .. } => {
                Some("The combining JOIN type must be INNER or LEFT for a LATERAL reference.".to_owned())
            }
            BindErrorKind::Value(error) => error.detail(),
            BindErrorKind::Aggregate(AggregateError::UngroupedDirect { .. }) => {
                Some("Direct arguments of an ordered-set aggregate must use only grouped columns.".to_owned())
            }
            BindErrorKind::GivenAlways { column, generated: true }
            | BindErrorKind::UpdatedAlways { column, generated: true } => {
                Some(format!("Column \"{column}\" is a generated column."))
            }
            BindErrorKind::GivenAlways { column, .. } | BindErrorKind::UpdatedAlways { column, .. } => {
                Some(format!("Column \"{column}\" is an identity column defined as GENERATED ALWAYS."))
            }
            _ => None,
        }
    }
}

pub(crate) type BindResult<T> = Result<T, BindError>;

fn column_name(relation: Option<&str>, name: &str) -> String {
    match relation {
        Some(relation) => format!("{relation}.{name}"),
        None => format!("\"{name}\""),
    }
}

fn left_operand(left: Option<&str>) -> String {
    left.map(|left| format!("{left} ")).unwrap_or_default()
}
