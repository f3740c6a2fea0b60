//! Expressions that give one value for a row.

use super::{ColId, ParamId, Rel, Span};
use crate::relations::OwnFunction;
pub use builtins::CastContext;
use builtins::{FuncId, Ty};
use std::sync::Arc;
use types::{CompareOp, Datum};

/// An expression.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// What it computes.
    pub kind: Kind,
    /// Its type.
    pub ty: Ty,
    /// Where it stands.
    pub span: Span,
}

/// What an expression computes. Operands have exactly the types that the operation wants: casts are in the tree.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A column.
    Col(ColRef),
    /// A constant.
    Const(Datum),
    /// A parameter.
    Param(ParamId),
    /// A value that the session gives once a statement.
    Session(SessionValue),
    /// A function or an operator; volatility, strictness and body are the table's.
    Call {
        /// Which.
        func: FuncId,
        /// Its arguments; variadic ones one by one.
        args: Vec<Scalar>,
    },
    /// A call of a function of the embedding program.
    Own {
        /// Which.
        function: Arc<OwnFunction>,
        /// Its arguments.
        args: Vec<Scalar>,
    },
    /// A form of a call that only Phoenix has.
    Phoenix {
        /// Which.
        form: PhoenixForm,
        /// Its arguments.
        args: Vec<Scalar>,
    },
    /// A cast to the type of this expression.
    Cast {
        /// How.
        via: CastVia,
        /// What.
        arg: Box<Scalar>,
        /// Who asked for it.
        context: CastContext,
    },
    /// AND, three-valued.
    And(Vec<Scalar>),
    /// OR, three-valued.
    Or(Vec<Scalar>),
    /// NOT.
    Not(Box<Scalar>),
    /// IS NULL of a value that is no row.
    IsNull(Box<Scalar>),
    /// IS TRUE and its like.
    Is {
        /// What.
        arg: Box<Scalar>,
        /// Which.
        test: BoolTest,
    },
    /// CASE WHEN; the form with an operand has equalities for arms.
    Case {
        /// Condition and value.
        arms: Vec<(Scalar, Scalar)>,
        /// ELSE.
        other: Option<Box<Scalar>>,
    },
    /// CASE of an operand that is computed once: the first arm whose value is equal to it.
    CaseOf {
        /// `=` of the operand and the values, which have one type.
        eq: FuncId,
        /// What is compared.
        operand: Box<Scalar>,
        /// What it is compared with, and the result.
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
        /// `=` of the two.
        eq: FuncId,
        /// One, as it stands.
        left: Box<Scalar>,
        /// `left` as the equality wants it is its first argument.
        args: Box<(Scalar, Scalar)>,
    },
    /// `IS [NOT] DISTINCT FROM`.
    Distinct {
        /// `=` of the two.
        eq: FuncId,
        /// One.
        left: Box<Scalar>,
        /// The other.
        right: Box<Scalar>,
        /// IS NOT DISTINCT FROM.
        negated: bool,
    },
    /// IN of a list.
    InList {
        /// `=` of all.
        eq: FuncId,
        /// What.
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
        /// What.
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
        /// How.
        op: CompareOp,
        /// `=`, `<`, left and right of each column.
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
    /// Which.
    pub id: ColId,
    /// 0: of the same query, 1: of the query around it, …. The id decides; this is checked.
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

/// A call that takes a word for a constant, as the grammar of Phoenix has it.
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
    /// By a function of the table.
    Function(FuncId),
    /// The value stays.
    Relabel,
    /// Through the text of the value.
    Text,
    /// Each element of an array in the way of its type.
    Elements,
    /// The value's length, digits or scale changes, its type does not.
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
    /// Its words behind IS.
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
    /// What is made of its rows.
    pub kind: SubqueryKind,
    /// Its rows.
    pub rel: Rel,
    /// Its outputs.
    pub cols: Vec<ColId>,
    /// Outer columns that it reads.
    pub free: Vec<ColRef>,
}

/// What is made of a subquery's rows.
#[derive(Clone, Debug)]
pub enum SubqueryKind {
    /// The value of its one row, NULL without; more rows are an error.
    Scalar,
    /// EXISTS.
    Exists,
    /// `left op ANY (…)`, IN, `op ALL (…)`.
    Quantified {
        /// Left sides, one for each output.
        left: Vec<Scalar>,
        /// Operator of each, of type boolean.
        ops: Vec<FuncId>,
        /// ALL?
        all: bool,
    },
    /// ARRAY(…).
    ArrayOf,
}
