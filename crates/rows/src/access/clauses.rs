//! Conditions of the bound tree as clauses, which decide whether the conditions imply the predicate of a partial index.

use crate::{Builtins, Functions, Test as FunctionTest};
use bind::tree::{BoolTest, CastVia, Kind, Scalar, Span};
use builtins::FuncId;
use index::{Clause, Says, Test};
use types::{CompareOp, Datum};

/// Converts a condition to a clause.
pub fn clause(condition: &Scalar) -> Clause<String> {
    match &condition.kind {
        Kind::And(all) => Clause::And(all.iter().map(clause).collect()),
        Kind::Or(any) => Clause::Or(any.iter().map(clause).collect()),
        Kind::InList { eq, arg, list, negated: false } if is_equality(*eq) => {
            let constants = list.iter().map(constant).collect::<Option<Vec<Datum>>>();
            match constants {
                Some(values) => Clause::Or(values.into_iter().map(|with| equal(arg, with)).collect()),
                None => opaque(condition, None),
            }
        }
        Kind::Call { func, args } => opaque(condition, compared(*func, args)),
        Kind::Col(_) => equal(condition, Datum::Bool(true)),
        Kind::Is { arg, test: BoolTest::True } if matches!(arg.kind, Kind::Col(_)) => equal(arg, Datum::Bool(true)),
        Kind::Not(inner) => match &inner.kind {
            Kind::Col(_) => equal(inner, Datum::Bool(false)),
            Kind::IsNull(value) => {
                let mut strict = vec![text(value)];
                add_strict(value, &mut strict);
                Clause::Test(Test { itself: Some(text(condition)), strict, says: Some(Says::NotNull(text(value))) })
            }
            _ => opaque(condition, None),
        },
        _ => opaque(condition, None),
    }
}

fn opaque(condition: &Scalar, says: Option<Says<String>>) -> Clause<String> {
    let mut strict = Vec::new();
    add_strict(condition, &mut strict);
    Clause::Test(Test { itself: Some(text(condition)), strict, says })
}

/// The clause of `value = constant`, in whatever form it was written.
fn equal(value: &Scalar, with: Datum) -> Clause<String> {
    let (of, mut strict) = (text(value), vec![text(value)]);
    add_strict(value, &mut strict);
    Clause::Test(Test { itself: None, strict, says: Some(Says::Compare { of, op: CompareOp::Eq, with }) })
}

fn compared(func: FuncId, args: &[Scalar]) -> Option<Says<String>> {
    let ([left, right], Some(FunctionTest::Compare(op))) = (args, Builtins.test(func)) else { return None };
    let (value, op, with) = match (constant(left), constant(right)) {
        (None, Some(with)) => (left, op, with),
        (Some(with), None) => (right, op.swapped(), with),
        _ => return None,
    };
    Some(Says::Compare { of: text(value), op, with })
}

fn constant(value: &Scalar) -> Option<Datum> {
    match &value.kind {
        Kind::Const(datum) if !datum.is_null() => Some(datum.clone()),
        _ => None,
    }
}

fn is_equality(func: FuncId) -> bool {
    Builtins.test(func) == Some(FunctionTest::Compare(CompareOp::Eq))
}

/// Collects the operands that make the value NULL, or not true, if one of them is NULL.
fn add_strict(value: &Scalar, strict: &mut Vec<String>) {
    let is_strict = match &value.kind {
        Kind::Call { func, .. } => builtins::function(*func).is_some_and(|function| function.strict),
        Kind::Cast { via, .. } => !matches!(via, CastVia::Elements),
        Kind::Not(inner) => !matches!(inner.kind, Kind::IsNull(_) | Kind::Is { .. } | Kind::Distinct { .. }),
        Kind::InList { .. } => true,
        _ => false,
    };
    if !is_strict {
        return;
    }
    let mut add = |operand: &Scalar| {
        if !matches!(operand.kind, Kind::Const(_)) {
            strict.push(text(operand));
            add_strict(operand, strict);
        }
    };
    match &value.kind {
        Kind::InList { arg, .. } => add(arg),
        _ => value.each_operand(&mut add),
    }
}

/// The expression as text, without source positions: equal expressions have equal texts.
fn text(value: &Scalar) -> String {
    fn without_place(value: &mut Scalar) {
        value.span = Span::default();
        value.each_operand_mut(&mut without_place);
    }
    let mut value = value.clone();
    without_place(&mut value);
    format!("{:?}", (value.ty.id, value.ty.typmod, value.kind))
}
