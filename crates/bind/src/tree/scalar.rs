//! Scalar expressions: one value for each row.

use super::{ColId, ParamId, Rel, Span};
use crate::relations::OwnFunction;
pub use builtins::CastContext;
use builtins::{FuncId, Ty};
use std::sync::Arc;
use types::{CompareOp, Datum};

/// An expression.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// Its operation.
    pub kind: Kind,
    /// Its type.
    pub ty: Ty,
    /// Its position in the text.
    pub span: Span,
}

/// The operation of an expression. Operands have exactly the types that it expects: casts are in the tree.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A column.
    Col(ColRef),
    /// A constant.
    Const(Datum),
    /// A parameter.
    Param(ParamId),
    /// A value of the session, the same throughout a statement.
    Session(SessionValue),
    /// A function or an operator; `builtins` has its volatility, strictness and body.
    Call {
        /// The function.
        func: FuncId,
        /// Its arguments; variadic ones one by one.
        args: Vec<Scalar>,
    },
    /// A call of a function of the embedding program.
    Own {
        /// The function.
        function: Arc<OwnFunction>,
        /// Its arguments.
        args: Vec<Scalar>,
    },
    /// A form of a call that only Phoenix has.
    Phoenix {
        /// The form.
        form: PhoenixForm,
        /// Its arguments.
        args: Vec<Scalar>,
    },
    /// A cast to the type of this expression.
    Cast {
        /// How it is computed.
        via: CastVia,
        /// The operand.
        arg: Box<Scalar>,
        /// Implicit, assignment or explicit.
        context: CastContext,
    },
    /// AND, three-valued.
    And(Vec<Scalar>),
    /// OR, three-valued.
    Or(Vec<Scalar>),
    /// NOT.
    Not(Box<Scalar>),
    /// IS NULL of a value that is not a row.
    IsNull(Box<Scalar>),
    /// IS TRUE and its like.
    Is {
        /// The operand.
        arg: Box<Scalar>,
        /// The test.
        test: BoolTest,
    },
    /// CASE WHEN. CASE with an operand that is not volatile has equalities as conditions.
    Case {
        /// Conditions and results.
        arms: Vec<(Scalar, Scalar)>,
        /// ELSE.
        other: Option<Box<Scalar>>,
    },
    /// CASE with a volatile operand, which is evaluated once: the first arm whose value equals the operand.
    CaseOf {
        /// `=` of the operand and the values, which have one type.
        eq: FuncId,
        /// The operand.
        operand: Box<Scalar>,
        /// Values and results.
        arms: Vec<(Scalar, Scalar)>,
        /// ELSE.
        other: Option<Box<Scalar>>,
    },
    /// COALESCE.
    Coalesce(Vec<Scalar>),
    /// GREATEST and LEAST.
    Extreme {
        /// GREATEST?
        max: bool,
        /// `<` of their type.
        lt: FuncId,
        /// The values.
        args: Vec<Scalar>,
    },
    /// NULLIF.
    NullIf {
        /// `=` of the operands.
        eq: FuncId,
        /// The first operand without a cast: the result.
        left: Box<Scalar>,
        /// Both operands, cast to the types of `eq`.
        args: Box<(Scalar, Scalar)>,
    },
    /// `IS [NOT] DISTINCT FROM`.
    Distinct {
        /// `=` of the operands.
        eq: FuncId,
        /// Left operand.
        left: Box<Scalar>,
        /// Right operand.
        right: Box<Scalar>,
        /// IS NOT DISTINCT FROM.
        negated: bool,
    },
    /// IN of a list.
    InList {
        /// `=` of the operand and the items.
        eq: FuncId,
        /// The operand.
        arg: Box<Scalar>,
        /// The list.
        list: Vec<Scalar>,
        /// NOT IN.
        negated: bool,
    },
    /// `x op ANY (array)`, `x op ALL (array)`.
    AnyArray {
        /// The operator's function, of type boolean.
        op: FuncId,
        /// The operand.
        arg: Box<Scalar>,
        /// The array.
        array: Box<Scalar>,
        /// ALL?
        all: bool,
    },
    /// ROW(…).
    Row(Vec<Scalar>),
    /// A field of a row.
    Field(Box<Scalar>, u16),
    /// Rows compared column by column.
    RowCompare {
        /// The comparison.
        op: CompareOp,
        /// For each column: its functions `=` and `<`, left and right operand.
        pairs: Vec<(FuncId, FuncId, Scalar, Scalar)>,
    },
    /// ARRAY[…].
    Array(Vec<Scalar>),
    /// `a[1][2]`, subscripts of type integer.
    Element {
        /// The array.
        array: Box<Scalar>,
        /// The subscripts.
        at: Vec<Scalar>,
    },
    /// `a[1:2]`.
    Slice {
        /// The array.
        array: Box<Scalar>,
        /// Lower and upper bounds.
        bounds: Vec<(Option<Scalar>, Option<Scalar>)>,
    },
    /// A subquery.
    Subquery(Box<Subquery>),
}

/// A column that an expression reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColRef {
    /// The column.
    pub id: ColId,
    /// 0 for the same query, 1 for the enclosing query, …. `id` alone identifies the column; the level is checked.
    pub level: u8,
}

/// A value of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the SQL expression of its name")]
pub enum SessionValue {
    CurrentDate,
    CurrentTime,
    CurrentTimestamp,
    LocalTime,
    LocalTimestamp,
    CurrentUser,
    SessionUser,
    CurrentSchema,
    CurrentCatalog,
}

/// A call with a unit or format as a constant argument, as in Phoenix's grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhoenixForm {
    /// `round(t, 'HOUR')`, of a timestamp, a unit and a multiplier.
    RoundToUnit,
    /// `ceil(t, 'HOUR')`.
    CeilToUnit,
    /// `floor(t, 'HOUR')` and `trunc(t, 'HOUR')`.
    FloorToUnit,
    /// `encode(n, 'BASE62')`.
    EncodeBase62,
}

/// How a cast is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastVia {
    /// By a function of `builtins`.
    Function(FuncId),
    /// The value does not change.
    Relabel,
    /// Through the text of the value.
    Text,
    /// Each element of an array by the cast of the element types.
    Elements,
    /// The length, precision or scale changes, the type does not.
    Length,
}

/// IS TRUE and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the SQL test of its name")]
pub enum BoolTest {
    True,
    NotTrue,
    False,
    NotFalse,
    Unknown,
    NotUnknown,
}

impl BoolTest {
    /// Returns the keywords after IS.
    pub fn words(self) -> &'static str {
        match self {
            Self::True => "TRUE",
            Self::NotTrue => "NOT TRUE",
            Self::False => "FALSE",
            Self::NotFalse => "NOT FALSE",
            Self::Unknown => "UNKNOWN",
            Self::NotUnknown => "NOT UNKNOWN",
        }
    }
}

/// A subquery in an expression.
#[derive(Clone, Debug)]
pub struct Subquery {
    /// How its rows become a value.
    pub kind: SubqueryKind,
    /// Its relation.
    pub rel: Rel,
    /// Its output columns.
    pub cols: Vec<ColId>,
    /// Columns of enclosing queries that it reads.
    pub free: Vec<ColRef>,
}

/// How the rows of a subquery become a value.
#[derive(Clone, Debug)]
pub enum SubqueryKind {
    /// The value of its single row, NULL without a row; more rows are an error.
    Scalar,
    /// EXISTS.
    Exists,
    /// `left op ANY (…)`, IN, `op ALL (…)`.
    Quantified {
        /// Left operands, one for each output column.
        left: Vec<Scalar>,
        /// The operator's function for each, of type boolean.
        ops: Vec<FuncId>,
        /// ALL?
        all: bool,
    },
    /// ARRAY(…).
    ArrayOf,
}
