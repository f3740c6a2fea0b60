//! Bodies of operators, functions and casts, compared with results of PostgreSQL 15.

use builtins::resolve::{self, Resolved};
use builtins::{Env, EvalError, FuncId, Reason, TimeZone, Ty, TypeId, comparison, function};
use types::{CompareOp, DataType, Datum, text};

fn env() -> Env {
    Env { zone: TimeZone::UTC, transaction_time: 0, statement_time: 0 }
}

fn value(ty: &str, input: &str) -> (Ty, Datum) {
    let ty = DataType::from_name(ty, &[]).unwrap();
    let value = match (&ty, input.split_once('.')) {
        // Parsed as a literal, which keeps its zeros.
        (DataType::Numeric(_), Some((_, fraction))) => {
            let scale = u8::try_from(fraction.len()).unwrap();
            Datum::Numeric(types::decimal::Literal::parse(input).unwrap().rounded(scale).unwrap())
        }
        _ => text::parse(&ty, input).unwrap(),
    };
    (Ty::of(&ty), value)
}

fn run(func: FuncId, args: &[Datum]) -> Result<Datum, EvalError> {
    function(func).unwrap().body.unwrap()(&env(), args)
}

/// `type:value operator type:value`; a prefix operator has no left value.
fn operator(name: &str, left: Option<(&str, &str)>, right: (&str, &str)) -> Result<Datum, EvalError> {
    let left = left.map(|(ty, input)| value(ty, input));
    let right = value(right.0, right.1);
    let call = resolve::operator(name, left.as_ref().map(|left| left.0), right.0).unwrap();
    let args: Vec<Datum> = left.into_iter().chain([right]).map(|(_, value)| value).collect();
    run(call.func, &args)
}

fn call(name: &str, args: &[(&str, &str)]) -> Result<Datum, EvalError> {
    let (types, values): (Vec<Ty>, Vec<Datum>) = args.iter().map(|(ty, input)| value(ty, input)).unzip();
    let Resolved::Call(call) = resolve::function(name, &types, false).unwrap() else { panic!("{name} is a cast") };
    run(call.function.id, &values)
}

#[test]
fn operators_give_what_postgresql_gives() {
    let cases = [
        ("int4", "7", "/", "int4", "-2", "-3"),
        ("int4", "-7", "%", "int4", "2", "-1"),
        ("int2", "3", "+", "int8", "4", "7"),
        ("int8", "-9223372036854775808", "%", "int8", "-1", "0"),
        ("int4", "1", "<<", "int4", "33", "2"),
        ("int2", "5", "#", "int2", "1", "4"),
        ("int4", "1", "<", "int8", "2", "t"),
        ("float8", "0.1", "+", "float8", "0.2", "0.30000000000000004"),
        ("float4", "1", "=", "float8", "1", "t"),
        ("float8", "NaN", ">", "float8", "Infinity", "t"),
        ("numeric", "1.50", "*", "numeric", "2.0", "3.000"),
        ("numeric", "10.0", "/", "numeric", "3", "3.3333333333333333"),
        ("numeric", "1.10", "-", "numeric", "0.1", "1.00"),
        ("text", "a", "||", "text", "b", "ab"),
        ("text", "Abc", "~~*", "text", "a%", "t"),
        ("text", "Abc", "!~~", "text", "a%", "t"),
        ("date", "2024-01-31", "+", "int4", "1", "2024-02-01"),
        ("date", "2024-01-31", "+", "interval", "1 month", "2024-02-29 00:00:00"),
        ("date", "2024-03-01", "-", "date", "2024-02-01", "29"),
        ("timestamp", "2024-01-03 01:00", "-", "timestamp", "2024-01-01", "2 days 01:00:00"),
        ("date", "2024-01-01", "<", "timestamp", "2024-01-01 00:00:01", "t"),
        ("time", "23:00", "+", "interval", "2 hours", "01:00:00"),
        ("interval", "1 month", "=", "interval", "30 days", "t"),
        ("float8", "2", "*", "interval", "1 day 01:00", "2 days 02:00:00"),
        ("bytea", "\\x01", "||", "bytea", "\\x02", "\\x0102"),
    ];
    for (left_type, left, name, right_type, right, wanted) in cases {
        let result = operator(name, Some((left_type, left)), (right_type, right)).unwrap();
        assert_eq!(result.to_string(), wanted, "{left} {name} {right}");
    }
    let blanks = resolve::operator("=", Some(Ty::plain(TypeId::BPCHAR)), Ty::UNKNOWN).unwrap();
    let args = ["a", "a "].map(|text| Datum::Text(text.to_owned()));
    assert_eq!(run(blanks.func, &args).unwrap().to_string(), "t");
    assert_eq!(operator("-", None, ("int4", "5")).unwrap().to_string(), "-5");
    assert_eq!(operator("~", None, ("int8", "0")).unwrap().to_string(), "-1");
}

#[test]
fn operators_fail_as_in_postgresql() {
    let message = |name, left, right| operator(name, Some(left), right).unwrap_err().to_string();
    assert_eq!(message("+", ("int4", "2147483647"), ("int4", "1")), "integer out of range");
    assert_eq!(message("*", ("int2", "300"), ("int2", "300")), "smallint out of range");
    assert_eq!(message("/", ("int8", "-9223372036854775808"), ("int8", "-1")), "bigint out of range");
    assert_eq!(message("/", ("float8", "1"), ("float8", "0")), "division by zero");
    assert_eq!(message("%", ("numeric", "1"), ("numeric", "0")), "division by zero");
    assert_eq!(message("*", ("float8", "1e300"), ("float8", "1e300")), "value out of range: overflow");
    assert_eq!(message("-", ("date", "infinity"), ("date", "2024-01-01")), "cannot subtract infinite dates");
    let escape = operator("~~", Some(("text", "a")), ("text", "\\")).unwrap_err();
    assert!(matches!(escape, EvalError::Refused { reason: Reason::Escape, .. }), "{escape}");
}

/// A function's name, its arguments and its result.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str);

#[test]
fn functions_give_what_postgresql_gives() {
    let cases: &[Case] = &[
        ("upper", &[("text", "aä")], "AÄ"),
        ("length", &[("text", "aä")], "2"),
        ("substr", &[("text", "hello"), ("int4", "-1"), ("int4", "4")], "he"),
        ("substr", &[("text", "hello"), ("int4", "2")], "ello"),
        ("left", &[("text", "hello"), ("int4", "-2")], "hel"),
        ("right", &[("text", "hello"), ("int4", "-2")], "llo"),
        ("btrim", &[("text", "xyhixy"), ("text", "yx")], "hi"),
        ("strpos", &[("text", "häst"), ("text", "s")], "3"),
        ("split_part", &[("text", "a,b,c"), ("text", ","), ("int4", "-1")], "c"),
        ("abs", &[("int4", "-3")], "3"),
        ("mod", &[("int4", "7"), ("int4", "4")], "3"),
        ("int4", &[("float8", "2.5")], "2"),
        ("int4", &[("numeric", "2.5")], "3"),
        ("date", &[("timestamp", "2024-01-31 10:00")], "2024-01-31"),
        ("bool", &[("int4", "2")], "t"),
    ];
    for (name, args, wanted) in cases {
        assert_eq!(call(name, args).unwrap().to_string(), *wanted, "{name}{args:?}");
    }
    let refused = call("substr", &[("text", "a"), ("int4", "1"), ("int4", "-1")]).unwrap_err();
    assert_eq!(refused.to_string(), "negative substring length not allowed");
}

#[test]
fn comparisons_by_the_order_of_values_are_told() {
    let of = |name, left, right| comparison(resolve::operator(name, Some(left), right).unwrap().func);
    assert_eq!(of("=", Ty::INT4, Ty::INT8), Some(CompareOp::Eq));
    assert_eq!(of(">=", Ty::TEXT, Ty::UNKNOWN), Some(CompareOp::Ge));
    assert_eq!(of("+", Ty::INT4, Ty::INT4), None);
    // The types have different representations.
    assert_eq!(of("=", Ty::plain(TypeId::FLOAT4), Ty::plain(TypeId::FLOAT8)), None);
}
