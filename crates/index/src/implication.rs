//! Decides whether a partial index has all rows of a query: the query's conditions must imply the index predicate.
//!
//! The decision is made clause by clause, as in PostgreSQL: a predicate clause is implied by the same clause in the
//! query, by a comparison of the same value with a constant that is at least as strong, or, for IS NOT NULL, by a
//! clause that is strict in the value. Anything else counts as not implied. Source: `predicate_implied_by` in
//! PostgreSQL's `predtest.c`.
//!
//! Expressions are opaque: `V` identifies one, and equal values of `V` are the same expression.

use types::compare::compare;
use types::{CompareOp, Datum};

/// A condition of a query, or an index predicate.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause<V> {
    /// A conjunction.
    And(Vec<Clause<V>>),
    /// A disjunction.
    Or(Vec<Clause<V>>),
    /// Any other condition.
    Test(Test<V>),
}

/// A condition without AND and OR.
#[derive(Clone, Debug, PartialEq)]
pub struct Test<V> {
    /// The whole test; `None` if [`Self::says`] expresses it completely.
    pub itself: Option<V>,
    /// Expressions in which the test is strict: it is not true if one of them is NULL.
    pub strict: Vec<V>,
    /// The test as a comparison or IS NOT NULL, if it has that form.
    pub says: Option<Says<V>>,
}

/// A test in a form that can be compared with others.
#[derive(Clone, Debug, PartialEq)]
pub enum Says<V> {
    /// A comparison with a constant.
    Compare {
        /// The expression.
        of: V,
        /// The operator.
        op: CompareOp,
        /// The constant, not NULL.
        with: Datum,
    },
    /// `IS NOT NULL`.
    NotNull(V),
}

/// Whether `wanted` is true for every row that satisfies all of `given`.
pub fn implies<V: PartialEq>(given: &[Clause<V>], wanted: &Clause<V>) -> bool {
    match wanted {
        Clause::And(all) => all.iter().all(|wanted| implies(given, wanted)),
        wanted => given.iter().any(|given| one_implies(given, wanted)),
    }
}

fn one_implies<V: PartialEq>(given: &Clause<V>, wanted: &Clause<V>) -> bool {
    match (given, wanted) {
        (_, Clause::And(all)) => all.iter().all(|wanted| one_implies(given, wanted)),
        (Clause::Or(any), _) => !any.is_empty() && any.iter().all(|given| one_implies(given, wanted)),
        (Clause::And(all), Clause::Or(any)) => {
            all.iter().any(|given| one_implies(given, wanted)) || any.iter().any(|wanted| one_implies(given, wanted))
        }
        (Clause::And(all), _) => all.iter().any(|given| one_implies(given, wanted)),
        (_, Clause::Or(any)) => any.iter().any(|wanted| one_implies(given, wanted)),
        (Clause::Test(given), Clause::Test(wanted)) => test_implies(given, wanted),
    }
}

fn test_implies<V: PartialEq>(given: &Test<V>, wanted: &Test<V>) -> bool {
    if given.itself.is_some() && given.itself == wanted.itself {
        return true;
    }
    match (&given.says, &wanted.says) {
        (_, Some(Says::NotNull(value))) => given.strict.contains(value),
        (Some(Says::Compare { of, op, with }), Some(Says::Compare { of: value, op: wanted, with: bound })) => {
            of == value && is_comparable(with, bound) && compares(*op, with, *wanted, bound)
        }
        _ => false,
    }
}

/// Whether `value op with` implies `value wanted bound`.
fn compares(op: CompareOp, with: &Datum, wanted: CompareOp, bound: &Datum) -> bool {
    use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let order = compare(with, bound);
    match (op, wanted) {
        (Eq, wanted) => wanted.matches(order),
        (Lt, Lt | Le | Ne) | (Le, Le) => order.is_le(),
        (Le, Lt | Ne) => order.is_lt(),
        (Gt, Gt | Ge | Ne) | (Ge, Ge) => order.is_ge(),
        (Ge, Gt | Ne) => order.is_gt(),
        (Ne, Ne) => order.is_eq(),
        _ => false,
    }
}

/// Whether both constants have the same type. Comparing constants of different types could differ from the query's
/// operators.
fn is_comparable(a: &Datum, b: &Datum) -> bool {
    let integer = |datum: &Datum| matches!(datum, Datum::Int2(_) | Datum::Int4(_) | Datum::Int8(_));
    !a.is_null() && (std::mem::discriminant(a) == std::mem::discriminant(b) || integer(a) && integer(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};

    fn test(of: &str, op: CompareOp, with: i32) -> Clause<String> {
        let says = Some(Says::Compare { of: of.to_owned(), op, with: Datum::Int4(with) });
        Clause::Test(Test { itself: Some(format!("{of} {op:?} {with}")), strict: vec![of.to_owned()], says })
    }

    fn opaque(text: &str, strict: &[&str]) -> Clause<String> {
        let strict = strict.iter().map(|text| (*text).to_owned()).collect();
        Clause::Test(Test { itself: Some(text.to_owned()), strict, says: None })
    }

    fn not_null(of: &str) -> Clause<String> {
        let itself = Some(format!("{of} is not null"));
        Clause::Test(Test { itself, strict: vec![of.to_owned()], says: Some(Says::NotNull(of.to_owned())) })
    }

    #[test]
    fn comparisons_imply_weaker_ones_and_nothing_else() {
        let ops = [Lt, Le, Eq, Ge, Gt, Ne];
        for (given, with) in ops.iter().flat_map(|op| (0..5).map(move |with| (*op, with))) {
            for (wanted, bound) in ops.iter().flat_map(|op| (0..5).map(move |with| (*op, with))) {
                let found = implies(&[test("a", given, with)], &test("a", wanted, bound));
                // Quarters represent all values between integers, for types such as numeric.
                let all = (-8..32).map(|quarter| f64::from(quarter) / 4.0);
                let is = |value: f64, op: CompareOp, with: i32| {
                    value.partial_cmp(&f64::from(with)).is_some_and(|order| op.matches(order))
                };
                let so = all.into_iter().filter(|value| is(*value, given, with)).all(|value| is(value, wanted, bound));
                assert_eq!(found, so, "a {given:?} {with} => a {wanted:?} {bound}");
            }
        }
        assert!(!implies(&[test("a", Eq, 1)], &test("b", Eq, 1)));
    }

    #[test]
    fn equal_expressions_and_strict_tests_imply() {
        assert!(implies(&[opaque("f(a)", &[]), opaque("g(a)", &[])], &opaque("g(a)", &[])));
        assert!(!implies(&[opaque("f(a)", &[])], &opaque("g(a)", &[])));
        assert!(implies(&[opaque("a ~ b", &["a", "b"])], &not_null("b")));
        assert!(!implies(&[opaque("coalesce(a)", &[])], &not_null("a")));
        assert!(implies(&[test("a", Gt, 3)], &not_null("a")));
    }

    #[test]
    fn all_of_and_and_one_of_or() {
        let both = Clause::And(vec![test("a", Gt, 0), not_null("b")]);
        assert!(implies(&[test("a", Eq, 5), test("b", Lt, 1)], &both));
        assert!(!implies(&[test("a", Eq, 5)], &both));
        let either = Clause::Or(vec![test("a", Eq, 1), test("a", Eq, 2), test("b", Gt, 0)]);
        assert!(implies(&[test("a", Eq, 2)], &either));
        let given = Clause::Or(vec![test("a", Eq, 1), Clause::And(vec![test("b", Gt, 4), test("a", Eq, 9)])]);
        assert!(implies(std::slice::from_ref(&given), &either));
        assert!(!implies(&[given], &Clause::Or(vec![test("a", Eq, 1)])));
        assert!(!implies(&[Clause::Or(Vec::new())], &test("a", Eq, 1)));
    }

    #[test]
    fn values_of_different_types_are_not_compared() {
        let text = Clause::Test(Test {
            itself: Some("a = x".to_owned()),
            strict: vec!["a".to_owned()],
            says: Some(Says::Compare { of: "a".to_owned(), op: Eq, with: Datum::Text("x".to_owned()) }),
        });
        assert!(!implies(&[text], &test("a", Ne, 1)));
    }
}
