//! Aggregates row by row, compared with results of PostgreSQL 15.

use builtins::resolve::{self, Resolved};
use builtins::{EvalError, Ty, accumulator};
use types::{DataType, Datum, text};

/// Computes the aggregate over a column of these values, of which `-` is NULL.
fn over(name: &str, ty: &str, values: &[&str]) -> Result<Datum, EvalError> {
    let ty = DataType::from_name(ty, &[]).unwrap();
    let mut args = vec![Ty::of(&ty)];
    let between = (name == "string_agg").then(|| Datum::Text(", ".to_owned()));
    args.extend(between.as_ref().map(|_| Ty::TEXT));
    let Resolved::Call(call) = resolve::function(name, &args, false).unwrap() else { panic!("{name} is a cast") };
    let mut aggregate = accumulator(call.function.id).unwrap();
    for value in values {
        let value = if *value == "-" { Datum::Null } else { text::parse(&ty, value).unwrap() };
        let row: Vec<Datum> = [value].into_iter().chain(between.clone()).collect();
        aggregate.add(&row)?;
    }
    aggregate.finish()
}

#[test]
fn aggregates_give_what_postgresql_gives() {
    let cases = [
        ("count", "int4", "2"),
        ("sum", "int4", "3"),
        ("sum", "int8", "3"),
        ("sum", "numeric", "3"),
        ("avg", "int4", "1.5000000000000000"),
        ("min", "text", "1"),
        ("max", "int2", "2"),
        ("array_agg", "int4", "{1,NULL,2}"),
        ("string_agg", "text", "1, 2"),
    ];
    for (name, ty, wanted) in cases {
        assert_eq!(over(name, ty, &["1", "-", "2"]).unwrap().to_string(), wanted, "{name}({ty})");
    }
    let bools = |name| over(name, "bool", &["t", "-", "f"]).unwrap().to_string();
    assert_eq!(["bool_and", "every", "bool_or"].map(bools), ["f", "f", "t"]);
    assert_eq!(over("sum", "interval", &["1 day", "02:00"]).unwrap().to_string(), "1 day 02:00:00");
}

#[test]
fn aggregates_over_nothing_are_null_but_for_count() {
    for name in ["sum", "avg", "min", "max", "array_agg"] {
        assert!(over(name, "int4", &[]).unwrap().is_null(), "{name}");
    }
    assert_eq!(over("count", "int4", &["-"]).unwrap().to_string(), "0");
}

#[test]
fn sums_out_of_range_are_errors() {
    let largest = i64::MAX.to_string();
    assert_eq!(over("sum", "int8", &[&largest, &largest]).unwrap().to_string(), "18446744073709551614");
    let numeric = "9".repeat(38);
    let error = over("sum", "numeric", &[&numeric, &numeric]).unwrap_err();
    assert!(matches!(error, EvalError::OutOfRange { .. }), "{error}");
}
