//! Do two expressions mean the same? Ids make `t.a` and `a` equal; where they stand does not matter.

use crate::tree::{ColId, ColInfo, Kind, Rel, Scalar, Subquery};
use types::Datum;

/// Equal for certain; volatile calls are never, and subqueries only if they are copies of one.
pub(crate) fn same(a: &Scalar, b: &Scalar) -> bool {
    equal(a, b, None)
}

/// Equal, subqueries of the same text among them: their own columns have other ids, of which `cols` tells what they are.
pub(crate) fn alike(a: &Scalar, b: &Scalar, cols: &[ColInfo]) -> bool {
    equal(a, b, Some(cols))
}

fn equal(a: &Scalar, b: &Scalar, cols: Option<&[ColInfo]>) -> bool {
    if let (Kind::Subquery(a), Kind::Subquery(b)) = (&a.kind, &b.kind) {
        return same_subquery(a, b, cols);
    }
    a.ty == b.ty && same_kind(&a.kind, &b.kind) && same_operands(a, b, cols)
}

/// All but the operands.
fn same_kind(a: &Kind, b: &Kind) -> bool {
    match (a, b) {
        (Kind::Col(a), Kind::Col(b)) => a == b,
        (Kind::Const(a), Kind::Const(b)) => same_datum(a, b),
        (Kind::Param(a), Kind::Param(b)) => a == b,
        (Kind::Session(a), Kind::Session(b)) => a == b,
        (Kind::Call { func: a, .. }, Kind::Call { func: b, .. }) => {
            let known = builtins::function(*a);
            a == b && known.is_some_and(|function| function.volatility != builtins::Volatility::Volatile)
        }
        (Kind::Phoenix { form: a, .. }, Kind::Phoenix { form: b, .. }) => a == b,
        (Kind::Own { function: a, .. }, Kind::Own { function: b, .. }) => a.name == b.name && !a.volatile,
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

fn same_operands(a: &Scalar, b: &Scalar, cols: Option<&[ColInfo]>) -> bool {
    let (mut ours, mut theirs): (Vec<&Scalar>, Vec<&Scalar>) = (Vec::new(), Vec::new());
    a.each_operand(&mut |operand| ours.push(operand));
    b.each_operand(&mut |operand| theirs.push(operand));
    ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(a, b)| equal(a, b, cols))
}

/// Is one a copy of the other, or are they alike but for the ids of their own columns?
fn same_subquery(a: &Subquery, b: &Subquery, cols: Option<&[ColInfo]>) -> bool {
    let free = |subquery: &Subquery| -> Vec<ColId> { subquery.free.iter().map(|col| col.id).collect() };
    if free(a) != free(b) || a.cols.len() != b.cols.len() || !is_stable(&a.rel) {
        return false;
    }
    let shown = |subquery: &Subquery| format!("{:?}{:?}", subquery.kind, subquery.rel);
    renamed(&shown(a), a, cols) == renamed(&shown(b), b, cols)
}

/// The text of a subquery without spans; with `cols`, its own ids count from the first that stands there.
fn renamed(text: &str, subquery: &Subquery, cols: Option<&[ColInfo]>) -> String {
    let free: Vec<String> = subquery.free.iter().map(|col| format!("{:?}", col.id)).collect();
    let mut known: Vec<&str> = Vec::new();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = MARKS.iter().filter_map(|mark| rest.find(mark)).min() {
        let (before, marked) = rest.split_at(at);
        let end = marked.find([')', '}']).map_or(marked.len(), |end| end + 1);
        let (mark, behind) = marked.split_at(end);
        out.push_str(before);
        match known.iter().position(|other| *other == mark) {
            _ if mark.starts_with("Span") => {}
            _ if cols.is_none() || free.iter().any(|free| free == mark) => out.push_str(mark),
            Some(number) => out.push_str(&format!("#{number}")),
            None => {
                known.push(mark);
                let number = mark.trim_start_matches("ColId(").trim_end_matches(')').parse::<usize>().ok();
                let at = number.filter(|_| mark.starts_with("ColId(")).and_then(|number| number.checked_sub(1));
                let info = at.and_then(|at| cols?.get(at)).map(|info| (&info.name, info.ty, info.origin));
                out.push_str(&format!("#{} {info:?}", known.len() - 1));
            }
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// What begins the text of an id, or of a span.
const MARKS: [&str; 3] = ["ColId(", "RelId(", "Span {"];

/// Does it give the same rows each time?
fn is_stable(rel: &Rel) -> bool {
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

/// The same value in the same form: `1.0` and `1.00` are not.
fn same_datum(a: &Datum, b: &Datum) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b) && format!("{a:?}") == format!("{b:?}")
}
