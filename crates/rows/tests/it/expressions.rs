//! Expressions over one row.

use super::functions::{DIVIDE, EQ, LT, NO_BODY, PLUS};
use super::tree::{BOOL, INT4, TEXT, call, col, int, is, null, of, project, query, subquery, text};
use super::world::{World, why_not};
use bind::tree::{BoolTest, Kind, Rel, Scalar, SubqueryKind};
use rows::{RowsError, WhyNot};
use types::{CompareOp, Datum};

async fn value(expr: Scalar) -> Result<Datum, RowsError> {
    let bound = query(project(Rel::OneRow, vec![(0, expr)]), &[0]);
    let answer = World::new().await.try_run(&bound, &[], rows::Limits::default()).await?;
    Ok(answer.rows[0][0].clone())
}

fn fails() -> Scalar {
    is(EQ, call(DIVIDE, int(1), int(0), INT4), int(1))
}

fn truth(value: Option<bool>) -> Scalar {
    of(Kind::Const(value.map_or(Datum::Null, Datum::Bool)), BOOL)
}

#[tokio::test]
async fn and_and_or_are_three_valued_and_stop_early() {
    let and = |list| of(Kind::And(list), BOOL);
    let or = |list| of(Kind::Or(list), BOOL);
    assert_eq!(value(and(vec![truth(Some(false)), fails()])).await.unwrap(), Datum::Bool(false));
    assert_eq!(value(and(vec![truth(None), truth(Some(false))])).await.unwrap(), Datum::Bool(false));
    assert!(value(and(vec![truth(None), truth(Some(true))])).await.unwrap().is_null());
    assert_eq!(value(or(vec![truth(Some(true)), fails()])).await.unwrap(), Datum::Bool(true));
    assert!(value(or(vec![truth(Some(false)), truth(None)])).await.unwrap().is_null());
    assert!(value(and(vec![truth(Some(true)), fails()])).await.is_err());
    assert!(value(of(Kind::Not(Box::new(truth(None))), BOOL)).await.unwrap().is_null());
    let unknown = of(Kind::Is { arg: Box::new(truth(None)), test: BoolTest::NotTrue }, BOOL);
    assert_eq!(value(unknown).await.unwrap(), Datum::Bool(true));
}

#[tokio::test]
async fn case_and_coalesce_compute_what_they_need() {
    let case = Kind::Case {
        arms: vec![(truth(None), call(DIVIDE, int(1), int(0), INT4)), (truth(Some(true)), int(2))],
        other: Some(Box::new(call(DIVIDE, int(1), int(0), INT4))),
    };
    assert_eq!(value(of(case, INT4)).await.unwrap(), Datum::Int4(2));
    let coalesce = Kind::Coalesce(vec![null(INT4), int(3), call(DIVIDE, int(1), int(0), INT4)]);
    assert_eq!(value(of(coalesce, INT4)).await.unwrap(), Datum::Int4(3));
    let overflow = call(PLUS, int(i32::MAX), int(1), INT4);
    assert!(matches!(value(overflow).await, Err(RowsError::Eval(builtins::EvalError::OutOfRange { .. }))));
    assert!(value(call(PLUS, int(1), null(INT4), INT4)).await.unwrap().is_null());
}

#[tokio::test]
async fn rows_compare_by_their_first_difference() {
    let compare = |op, pairs: Vec<(Scalar, Scalar)>| {
        let pairs = pairs.into_iter().map(|(left, right)| (EQ, LT, left, right)).collect();
        of(Kind::RowCompare { op, pairs }, BOOL)
    };
    let less = compare(CompareOp::Lt, vec![(int(1), int(1)), (int(1), int(2))]);
    assert_eq!(value(less).await.unwrap(), Datum::Bool(true));
    let equal = compare(CompareOp::Le, vec![(int(1), int(1)), (int(2), int(2))]);
    assert_eq!(value(equal).await.unwrap(), Datum::Bool(true));
    let decided = compare(CompareOp::Lt, vec![(int(2), int(1)), (null(INT4), int(2))]);
    assert_eq!(value(decided).await.unwrap(), Datum::Bool(false));
    let unknown = compare(CompareOp::Lt, vec![(null(INT4), int(1)), (int(1), int(2))]);
    assert!(value(unknown).await.unwrap().is_null());
    let unequal = compare(CompareOp::Ne, vec![(null(INT4), int(1)), (int(1), int(2))]);
    assert_eq!(value(unequal).await.unwrap(), Datum::Bool(true));
}

#[tokio::test]
async fn lists_arrays_and_extremes_know_null() {
    let listed = |list| of(Kind::InList { eq: EQ, arg: Box::new(int(1)), list, negated: false }, BOOL);
    assert_eq!(value(listed(vec![null(INT4), int(1)])).await.unwrap(), Datum::Bool(true));
    assert!(value(listed(vec![null(INT4), int(2)])).await.unwrap().is_null());
    let items = of(Kind::Array(vec![int(1), int(2)]), 1007);
    let every = Kind::AnyArray { op: EQ, arg: Box::new(int(1)), array: Box::new(items.clone()), all: true };
    assert_eq!(value(of(every, BOOL)).await.unwrap(), Datum::Bool(false));
    let second = Kind::Element { array: Box::new(items.clone()), at: vec![int(2)] };
    assert_eq!(value(of(second, INT4)).await.unwrap(), Datum::Int4(2));
    let beyond = Kind::Element { array: Box::new(items), at: vec![int(3)] };
    assert!(value(of(beyond, INT4)).await.unwrap().is_null());
    let greatest = Kind::Extreme { max: true, lt: LT, args: vec![int(1), null(INT4), int(3), int(2)] };
    assert_eq!(value(of(greatest, INT4)).await.unwrap(), Datum::Int4(3));
}

#[tokio::test]
async fn a_subquery_of_more_rows_than_one_is_an_error_and_an_empty_one_is_null() {
    let rows =
        |rows: Vec<Vec<Datum>>| Rel::Values { cols: vec![super::tree::id(5)], rows: bind::tree::Rows::Const(rows) };
    let scalar = |made| subquery(SubqueryKind::Scalar, rows(made), vec![super::tree::id(5)], &[], INT4);
    assert!(value(scalar(vec![])).await.unwrap().is_null());
    assert_eq!(value(scalar(vec![vec![Datum::Int4(4)]])).await.unwrap(), Datum::Int4(4));
    let two = scalar(vec![vec![Datum::Int4(4)], vec![Datum::Int4(5)]]);
    assert!(matches!(value(two.clone()).await, Err(RowsError::MoreThanOneRow)));
    // In a branch of CASE that is not taken the subquery does not run.
    let case = Kind::Case { arms: vec![(truth(Some(false)), two)], other: None };
    assert!(value(of(case, INT4)).await.unwrap().is_null());
    let quantified = SubqueryKind::Quantified { left: vec![int(9)], ops: vec![EQ], all: false };
    let found =
        subquery(quantified, rows(vec![vec![Datum::Int4(4)], vec![Datum::Null]]), vec![super::tree::id(5)], &[], BOOL);
    assert!(value(found).await.unwrap().is_null());
}

#[test]
fn what_has_no_body_is_not_compiled() {
    let bound = query(project(Rel::OneRow, vec![(0, call(NO_BODY, text("a"), text("b"), TEXT))]), &[0]);
    assert_eq!(why_not(&bound), WhyNot::Function { name: "test".to_owned() });
    let bound = query(project(Rel::OneRow, vec![(0, col(7, INT4))]), &[0]);
    assert_eq!(why_not(&bound), WhyNot::Scope { index: 7 });
}
