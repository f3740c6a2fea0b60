//! The columns that an expression reads, and that a node outputs.

use bind::tree::{ApplyKind, ColId, JoinKind, Kind, Rel, Scalar, SubqueryKind};
use std::collections::BTreeSet;

/// Collects all columns that `scalar` reads, including the outer columns of its subqueries.
pub(crate) fn read_by(scalar: &Scalar, into: &mut BTreeSet<ColId>) {
    match &scalar.kind {
        Kind::Col(col) => {
            into.insert(col.id);
        }
        Kind::Subquery(subquery) => {
            into.extend(subquery.free.iter().map(|col| col.id));
        }
        _ => {}
    }
    for_each_operand(scalar, &mut |operand| read_by(operand, into));
}

/// Does it contain a subquery?
pub(crate) fn has_subquery(scalar: &Scalar) -> bool {
    let mut found = matches!(scalar.kind, Kind::Subquery(_));
    for_each_operand(scalar, &mut |operand| found = found || has_subquery(operand));
    found
}

/// Calls `each` for the direct operands of `scalar`.
fn for_each_operand<'a>(scalar: &'a Scalar, each: &mut dyn FnMut(&'a Scalar)) {
    match &scalar.kind {
        Kind::Col(_) | Kind::Const(_) | Kind::Param(_) | Kind::Session(_) => {}
        Kind::Call { args, .. } | Kind::Own { args, .. } | Kind::Phoenix { args, .. } | Kind::Extreme { args, .. } => {
            args.iter().for_each(each)
        }
        Kind::And(list) | Kind::Or(list) | Kind::Coalesce(list) | Kind::Row(list) | Kind::Array(list) => {
            list.iter().for_each(each);
        }
        Kind::Cast { arg, .. } | Kind::Is { arg, .. } => each(arg),
        Kind::Not(arg) | Kind::IsNull(arg) | Kind::Field(arg, _) => each(arg),
        Kind::Case { arms, other } => {
            arms.iter().flat_map(|(when, then)| [when, then]).for_each(&mut *each);
            other.iter().for_each(|other| each(other));
        }
        Kind::CaseOf { operand, arms, other, .. } => {
            each(operand);
            arms.iter().flat_map(|(of, then)| [of, then]).for_each(&mut *each);
            other.iter().for_each(|other| each(other));
        }
        Kind::NullIf { left, args, .. } => {
            each(left);
            each(&args.0);
            each(&args.1);
        }
        Kind::Distinct { left, right, .. } => {
            each(left);
            each(right);
        }
        Kind::InList { arg, list, .. } => {
            each(arg);
            list.iter().for_each(each);
        }
        Kind::AnyArray { arg, array, .. } => {
            each(arg);
            each(array);
        }
        Kind::RowCompare { pairs, .. } => pairs.iter().flat_map(|(_, _, left, right)| [left, right]).for_each(each),
        Kind::Element { array, at } => {
            each(array);
            at.iter().for_each(each);
        }
        Kind::Slice { array, bounds } => {
            each(array);
            bounds.iter().flat_map(|(low, high)| low.iter().chain(high)).for_each(each);
        }
        Kind::Subquery(subquery) => {
            if let SubqueryKind::Quantified { left, .. } = &subquery.kind {
                left.iter().for_each(each);
            }
        }
    }
}

/// Collects all columns that are visible above `rel`.
pub(crate) fn made_by(rel: &Rel, into: &mut BTreeSet<ColId>) {
    match rel {
        Rel::OneRow => {}
        Rel::Values { cols, .. } => into.extend(cols),
        Rel::Scan { cols, .. } => into.extend(cols.iter().map(|(_, col)| *col)),
        Rel::Computed { cols, oid, .. } => into.extend(cols.iter().chain(oid)),
        Rel::CteScan { cols, .. } => into.extend(cols.iter().map(|(_, col)| *col)),
        Rel::Filter { input, .. }
        | Rel::Distinct { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Limit { input, .. } => {
            made_by(input, into);
        }
        Rel::Project { input, exprs } => {
            made_by(input, into);
            into.extend(exprs.iter().map(|(col, _)| *col));
        }
        Rel::Join { kind, left, right, .. } => {
            made_by(left, into);
            match kind {
                JoinKind::Semi | JoinKind::Anti => {}
                JoinKind::Mark(mark) => _ = into.insert(*mark),
                JoinKind::Inner | JoinKind::Left | JoinKind::Right | JoinKind::Full => made_by(right, into),
            }
        }
        Rel::Apply { kind, outer, inner, .. } => {
            made_by(outer, into);
            match kind {
                ApplyKind::Semi | ApplyKind::Anti => {}
                ApplyKind::Mark(mark) => _ = into.insert(*mark),
                ApplyKind::Inner | ApplyKind::Left => made_by(inner, into),
            }
        }
        Rel::Aggregate { keys, calls, groupings, .. } => {
            into.extend(keys);
            into.extend(calls.iter().map(|(col, _)| *col));
            into.extend(groupings.iter().map(|(col, _)| *col));
        }
        Rel::Window { input, calls, .. } => {
            made_by(input, into);
            into.extend(calls.iter().map(|(col, _)| *col));
        }
        Rel::Unnest { input, calls, ordinality, .. } => {
            made_by(input, into);
            into.extend(calls.iter().flat_map(|call| &call.cols));
            into.extend(ordinality);
        }
        Rel::SetOp { cols, .. } => into.extend(cols.iter().map(|(col, _, _)| *col)),
    }
}
