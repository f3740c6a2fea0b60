//! Equivalence of expressions. `t.a` and `a` have the same column id; positions are ignored.

use crate::binder::Scanned;
use crate::same_rows::Pairs;
use crate::tree::{ColId, Kind, Rel, Scalar, Subquery, SubqueryKind};
use types::Datum;

/// Are they equal for certain? Volatile calls never are, and subqueries only if they are copies.
pub(crate) fn same(a: &Scalar, b: &Scalar) -> bool {
    equal(a, b, &mut Pairs::of_copies())
}

/// As [`same`], where volatile calls that are written alike are one: `ORDER BY random()` sorts by an output `random()`.
pub(crate) fn written_alike(a: &Scalar, b: &Scalar) -> bool {
    equal(a, b, &mut Pairs::of_texts())
}

/// Are they equal, including subqueries of the same meaning? The column ids of these differ: `scans` has them for
/// tables, `oids` for computed relations.
pub(crate) fn alike(a: &Scalar, b: &Scalar, scans: &[Scanned], oids: &[Option<ColId>]) -> bool {
    equal(a, b, &mut Pairs::of(scans, oids))
}

pub(crate) fn equal(a: &Scalar, b: &Scalar, pairs: &mut Pairs<'_>) -> bool {
    match (&a.kind, &b.kind) {
        (Kind::Subquery(a), Kind::Subquery(b)) => same_subquery(a, b, pairs),
        (Kind::Col(a), Kind::Col(b)) => a.level == b.level && pairs.are_one(a.id, b.id),
        _ => a.ty == b.ty && same_kind(&a.kind, &b.kind, pairs.equates_calls()) && same_operands(a, b, pairs),
    }
}

pub(crate) fn all_equal(a: &[Scalar], b: &[Scalar], pairs: &mut Pairs<'_>) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b, pairs))
}

/// Compares everything except the operands. Volatile calls are equal only with `calls`.
fn same_kind(a: &Kind, b: &Kind, calls: bool) -> bool {
    match (a, b) {
        (Kind::Const(a), Kind::Const(b)) => same_datum(a, b),
        (Kind::Param(a), Kind::Param(b)) => a == b,
        (Kind::Session(a), Kind::Session(b)) => a == b,
        (Kind::Call { func: a, .. }, Kind::Call { func: b, .. }) => {
            let stable = |function: &builtins::Function| function.volatility != builtins::Volatility::Volatile;
            a == b && (calls || builtins::function(*a).is_some_and(stable))
        }
        (Kind::Phoenix { form: a, .. }, Kind::Phoenix { form: b, .. }) => a == b,
        (Kind::Own { function: a, .. }, Kind::Own { function: b, .. }) => a.name == b.name && (calls || !a.volatile),
        (Kind::Cast { via: a, context: c, .. }, Kind::Cast { via: b, context: d, .. }) => a == b && c == d,
        (Kind::And(a), Kind::And(b)) | (Kind::Or(a), Kind::Or(b)) => a.len() == b.len(),
        (Kind::Coalesce(a), Kind::Coalesce(b)) | (Kind::Row(a), Kind::Row(b)) | (Kind::Array(a), Kind::Array(b)) => {
            a.len() == b.len()
        }
        (Kind::Not(_), Kind::Not(_)) | (Kind::IsNull(_), Kind::IsNull(_)) => true,
        (Kind::Is { test: a, .. }, Kind::Is { test: b, .. }) => a == b,
        (Kind::Case { arms: a, other: c }, Kind::Case { arms: b, other: d }) => {
            a.len() == b.len() && c.is_some() == d.is_some()
        }
        (Kind::CaseOf { arms: a, other: c, .. }, Kind::CaseOf { arms: b, other: d, .. }) => {
            a.len() == b.len() && c.is_some() == d.is_some()
        }
        (Kind::Extreme { max: a, args: c, .. }, Kind::Extreme { max: b, args: d, .. }) => a == b && c.len() == d.len(),
        (Kind::NullIf { eq: a, .. }, Kind::NullIf { eq: b, .. }) => a == b,
        (Kind::Distinct { eq: a, negated: c, .. }, Kind::Distinct { eq: b, negated: d, .. }) => a == b && c == d,
        (Kind::InList { eq: a, negated: c, list: e, .. }, Kind::InList { eq: b, negated: d, list: f, .. }) => {
            a == b && c == d && e.len() == f.len()
        }
        (Kind::AnyArray { op: a, all: c, .. }, Kind::AnyArray { op: b, all: d, .. }) => a == b && c == d,
        (Kind::Field(_, a), Kind::Field(_, b)) => a == b,
        (Kind::RowCompare { op: a, pairs: c }, Kind::RowCompare { op: b, pairs: d }) => {
            let functions = |pairs: &[(builtins::FuncId, builtins::FuncId, Scalar, Scalar)]| -> Vec<_> {
                pairs.iter().map(|pair| (pair.0, pair.1)).collect()
            };
            a == b && functions(c) == functions(d)
        }
        (Kind::Element { at: a, .. }, Kind::Element { at: b, .. }) => a.len() == b.len(),
        (Kind::Slice { bounds: a, .. }, Kind::Slice { bounds: b, .. }) => {
            let given = |bounds: &[(Option<Scalar>, Option<Scalar>)]| -> Vec<_> {
                bounds.iter().map(|bound| (bound.0.is_some(), bound.1.is_some())).collect()
            };
            given(a) == given(b)
        }
        _ => false,
    }
}

fn same_operands(a: &Scalar, b: &Scalar, pairs: &mut Pairs<'_>) -> bool {
    let (mut ours, mut theirs): (Vec<&Scalar>, Vec<&Scalar>) = (Vec::new(), Vec::new());
    a.each_operand(&mut |operand| ours.push(operand));
    b.each_operand(&mut |operand| theirs.push(operand));
    ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(a, b)| equal(a, b, pairs))
}

/// Have they the same kind and the same rows?
fn same_subquery(a: &Subquery, b: &Subquery, pairs: &mut Pairs<'_>) -> bool {
    let kinds = match (&a.kind, &b.kind) {
        (SubqueryKind::Scalar, SubqueryKind::Scalar)
        | (SubqueryKind::Exists, SubqueryKind::Exists)
        | (SubqueryKind::ArrayOf, SubqueryKind::ArrayOf) => true,
        (
            SubqueryKind::Quantified { left, ops, all },
            SubqueryKind::Quantified { left: other, ops: others, all: other_all },
        ) => ops == others && all == other_all && all_equal(left, other, pairs),
        _ => false,
    };
    kinds
        && a.free.len() == b.free.len()
        && is_stable(&a.rel)
        && pairs.same_rows(&a.rel, &b.rel)
        && pairs.all_correspond(&a.cols, &b.cols)
}

/// Has it no volatile expressions?
pub(crate) fn is_stable(rel: &Rel) -> bool {
    let mut stable = true;
    rel.each_scalar(&mut |value| stable = stable && is_stable_value(value));
    rel.each_input(&mut |input| stable = stable && is_stable(input));
    stable
}

fn is_stable_value(value: &Scalar) -> bool {
    let mut stable = match &value.kind {
        Kind::Call { func, .. } => {
            builtins::function(*func).is_some_and(|function| function.volatility != builtins::Volatility::Volatile)
        }
        Kind::Own { function, .. } => !function.volatile,
        Kind::Subquery(subquery) => is_stable(&subquery.rel),
        _ => true,
    };
    value.each_operand(&mut |operand| stable = stable && is_stable_value(operand));
    stable
}

/// Are they equal in value and form? `1.0` and `1.00` are not.
pub(crate) fn same_datum(a: &Datum, b: &Datum) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b) && format!("{a:?}") == format!("{b:?}")
}
