//! Compiles conditions to tests of key parts, with operands that are evaluated when a scan starts.

use crate::Test;
use crate::expr::{RowExpr, Scope, columns};
use crate::plan::Compiler;
use bind::tree::{BoolTest, CastVia, ColId, Kind, Scalar};
use builtins::FuncId;
use std::collections::BTreeSet;
use types::{CompareOp, DataType};

/// The restriction that a condition puts on the key.
#[derive(Debug)]
pub(crate) enum KeyTest {
    And(Vec<KeyTest>),
    Or(Vec<KeyTest>),
    Compare(Target, CompareOp, RowExpr),
    In(Target, Vec<RowExpr>),
    /// Equality with an element of an array.
    InArray(Target, RowExpr),
    NotIn(Target, Vec<RowExpr>),
    IsNull(Target, bool),
    Like(Target, RowExpr),
    Rows(Vec<Target>, CompareOp, Vec<RowExpr>),
    /// A boolean part with this value.
    Bool(Target, bool),
    /// No restriction.
    Unknown,
}

/// A part of the key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) part: usize,
    pub(crate) ty: DataType,
}

/// The two sides of a test: key columns of the scan, and operands.
pub(crate) struct Sides<'a> {
    /// The key part of a column.
    pub(crate) part_of: &'a dyn Fn(ColId) -> Option<Target>,
    /// Key parts that are expressions over columns of the scan.
    pub(crate) computed: &'a [(Scalar, Target)],
    /// Columns of the scan, which operands must not read.
    pub(crate) own: &'a BTreeSet<ColId>,
    /// The columns that operands may read.
    pub(crate) scope: Scope<'a>,
}

impl KeyTest {
    /// Does it restrict the part to a list of values?
    pub(crate) fn gives_values(&self, part: usize) -> bool {
        match self {
            Self::Compare(target, CompareOp::Eq, _)
            | Self::In(target, _)
            | Self::InArray(target, _)
            | Self::Bool(target, _) => target.part == part,
            Self::And(all) => all.iter().any(|test| test.gives_values(part)),
            Self::Or(any) => !any.is_empty() && any.iter().all(|test| test.gives_values(part)),
            Self::Rows(targets, CompareOp::Eq, _) => targets.iter().any(|target| target.part == part),
            _ => false,
        }
    }

    /// Does it restrict the part to one value?
    pub(crate) fn gives_one_value(&self, part: usize) -> bool {
        match self {
            Self::Compare(target, CompareOp::Eq, _) | Self::Bool(target, _) => target.part == part,
            Self::And(all) => all.iter().any(|test| test.gives_one_value(part)),
            Self::Rows(targets, CompareOp::Eq, _) => targets.iter().any(|target| target.part == part),
            _ => false,
        }
    }

    /// Does it give the part a lower bound?
    pub(crate) fn has_lower(&self, part: usize) -> bool {
        self.bounds(part, &[CompareOp::Gt, CompareOp::Ge])
    }

    /// Does it give the part an upper bound?
    pub(crate) fn has_upper(&self, part: usize) -> bool {
        self.bounds(part, &[CompareOp::Lt, CompareOp::Le])
    }

    fn bounds(&self, part: usize, by: &[CompareOp]) -> bool {
        match self {
            Self::Compare(target, op, _) if by.contains(op) => target.part == part,
            Self::Rows(targets, op, _) if by.contains(op) => targets.first().is_some_and(|first| first.part == part),
            Self::And(all) => all.iter().any(|test| test.bounds(part, by)),
            Self::Or(any) => !any.is_empty() && any.iter().all(|test| test.bounds(part, by)),
            _ => self.gives_values(part),
        }
    }

    /// Does it express the whole condition?
    pub(crate) fn is_complete(&self) -> bool {
        match self {
            Self::And(all) | Self::Or(all) => all.iter().all(Self::is_complete),
            Self::Unknown => false,
            _ => true,
        }
    }
}

impl Compiler<'_> {
    /// Compiles `condition` to a test of the key.
    pub(crate) fn key_test(&mut self, condition: &Scalar, sides: &Sides<'_>) -> KeyTest {
        match &condition.kind {
            Kind::And(list) => KeyTest::And(list.iter().map(|item| self.key_test(item, sides)).collect()),
            Kind::Or(list) => KeyTest::Or(list.iter().map(|item| self.key_test(item, sides)).collect()),
            Kind::Call { func, args } => match args.as_slice() {
                [left, right] => self.call_test(*func, left, right, sides),
                _ => None,
            }
            .unwrap_or(KeyTest::Unknown),
            Kind::InList { eq, arg, list, negated } => {
                self.list_test(*eq, arg, list, *negated, sides).unwrap_or(KeyTest::Unknown)
            }
            Kind::AnyArray { op, arg, array, all: false } => {
                self.array_test(*op, arg, array, sides).unwrap_or(KeyTest::Unknown)
            }
            Kind::RowCompare { op, pairs } => self.row_test(*op, pairs, sides).unwrap_or(KeyTest::Unknown),
            Kind::IsNull(arg) => target(arg, sides).map_or(KeyTest::Unknown, |of| KeyTest::IsNull(of, false)),
            Kind::Not(inner) => match &inner.kind {
                Kind::IsNull(arg) => target(arg, sides).map_or(KeyTest::Unknown, |of| KeyTest::IsNull(of, true)),
                _ => boolean(inner, false, sides),
            },
            Kind::Is { arg, test: BoolTest::True } => boolean(arg, true, sides),
            Kind::Is { arg, test: BoolTest::False } => boolean(arg, false, sides),
            Kind::Col(_) => boolean(condition, true, sides),
            _ => boolean(condition, true, sides),
        }
    }

    fn call_test(&mut self, func: FuncId, left: &Scalar, right: &Scalar, sides: &Sides<'_>) -> Option<KeyTest> {
        match self.functions.test(func)? {
            Test::Compare(op) => {
                if let Some(of) = target(left, sides) {
                    return Some(KeyTest::Compare(of, op, self.operand(right, sides)?));
                }
                let of = target(right, sides)?;
                Some(KeyTest::Compare(of, op.swapped(), self.operand(left, sides)?))
            }
            Test::Like => {
                let of = target(left, sides).filter(|of| of.ty.is_text())?;
                Some(KeyTest::Like(of, self.operand(right, sides)?))
            }
        }
    }

    fn list_test(
        &mut self,
        eq: FuncId,
        arg: &Scalar,
        list: &[Scalar],
        negated: bool,
        sides: &Sides<'_>,
    ) -> Option<KeyTest> {
        self.is_equality(eq).then_some(())?;
        let of = target(arg, sides)?;
        let operands = list.iter().map(|item| self.operand(item, sides)).collect::<Option<Vec<_>>>()?;
        Some(if negated { KeyTest::NotIn(of, operands) } else { KeyTest::In(of, operands) })
    }

    fn array_test(&mut self, op: FuncId, arg: &Scalar, array: &Scalar, sides: &Sides<'_>) -> Option<KeyTest> {
        self.is_equality(op).then_some(())?;
        Some(KeyTest::InArray(target(arg, sides)?, self.operand(array, sides)?))
    }

    fn row_test(
        &mut self,
        op: CompareOp,
        pairs: &[(FuncId, FuncId, Scalar, Scalar)],
        sides: &Sides<'_>,
    ) -> Option<KeyTest> {
        let (mut targets, mut operands) = (Vec::new(), Vec::new());
        for (eq, _, left, right) in pairs {
            self.is_equality(*eq).then_some(())?;
            targets.push(target(left, sides)?);
            operands.push(self.operand(right, sides)?);
        }
        Some(KeyTest::Rows(targets, op, operands))
    }

    fn is_equality(&self, func: FuncId) -> bool {
        self.functions.test(func) == Some(Test::Compare(CompareOp::Eq))
    }

    /// Compiles the operand of a test, if it can be evaluated before the scan.
    fn operand(&mut self, scalar: &Scalar, sides: &Sides<'_>) -> Option<RowExpr> {
        let mut read = BTreeSet::new();
        columns::read_by(scalar, &mut read);
        let in_reach = |col: &ColId| sides.scope.cols.contains(col) || self.is_outer(*col);
        if !read.is_disjoint(sides.own) || !read.iter().all(in_reach) || columns::has_subquery(scalar) {
            return None;
        }
        self.expr(scalar, &sides.scope).ok()
    }
}

/// The key part that an expression is, under casts that are injective and keep the order.
fn target(scalar: &Scalar, sides: &Sides<'_>) -> Option<Target> {
    if let Some((_, target)) = sides.computed.iter().find(|(computed, _)| bind::is_same(computed, scalar)) {
        return Some(*target);
    }
    match &scalar.kind {
        Kind::Col(col) => (sides.part_of)(col.id),
        Kind::Cast { via: CastVia::Relabel | CastVia::Function(_), arg, .. } => {
            let from = DataType::from_oid(arg.ty.id.0, -1)?;
            let to = DataType::from_oid(scalar.ty.id.0, scalar.ty.typmod)?;
            keeps_order(&from, &to).then(|| target(arg, sides)).flatten()
        }
        _ => None,
    }
}

/// Is the cast injective and order-preserving? Whether a bigint is exact as a float is checked for each value.
fn keeps_order(from: &DataType, to: &DataType) -> bool {
    use DataType::{BigInt, Date, Double, Integer, Numeric, Real, SmallInt, Text, Timestamp, Varchar};
    match (from, to) {
        (SmallInt, Integer | BigInt | Real | Double) | (Integer, BigInt | Real | Double) | (BigInt, Double) => true,
        (SmallInt | Integer | BigInt, Numeric(None)) | (Real, Double) | (Date, Timestamp(None)) => true,
        (Varchar(_) | Text, Text | Varchar(None)) => true,
        (from, to) => from == to,
    }
}

fn boolean(scalar: &Scalar, value: bool, sides: &Sides<'_>) -> KeyTest {
    match target(scalar, sides) {
        Some(of) if of.ty == DataType::Boolean => KeyTest::Bool(of, value),
        _ => KeyTest::Unknown,
    }
}
