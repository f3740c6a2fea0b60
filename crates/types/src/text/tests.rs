//! Text forms, value by value. The expected texts are from PostgreSQL 15.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use super::*;

/// Parses and prints the text; returns the message of an error.
fn round(ty: DataType, text: &str) -> String {
    match parse(&ty, text) {
        Ok(value) => {
            let mut out = String::new();
            print(&ty, &value, &mut out);
            out
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn booleans() {
    for yes in ["t", "TRUE", " y ", "yes", "on", "1", "tr"] {
        assert_eq!(round(DataType::Boolean, yes), "t");
    }
    for no in ["f", "False", "n", "no", "off", "of", "0"] {
        assert_eq!(round(DataType::Boolean, no), "f");
    }
    for bad in ["", "o", "2", "truee"] {
        assert_eq!(round(DataType::Boolean, bad), format!("invalid input syntax for type boolean: \"{bad}\""));
    }
}

#[test]
fn integers() {
    assert_eq!(round(DataType::SmallInt, " -32768 "), "-32768");
    assert_eq!(round(DataType::SmallInt, "32768"), "value \"32768\" is out of range for type smallint");
    assert_eq!(round(DataType::Integer, "+7"), "7");
    assert_eq!(round(DataType::Integer, "1.0"), "invalid input syntax for type integer: \"1.0\"");
    assert_eq!(round(DataType::Integer, ""), "invalid input syntax for type integer: \"\"");
    assert_eq!(round(DataType::BigInt, "9223372036854775807"), "9223372036854775807");
    assert_eq!(
        round(DataType::BigInt, "9223372036854775808"),
        "value \"9223372036854775808\" is out of range for type bigint"
    );
}

#[test]
fn doubles() {
    for (text, want) in [
        ("0", "0"),
        ("-0", "-0"),
        ("1e15", "1e+15"),
        ("123456789012345", "123456789012345"),
        ("0.0001", "0.0001"),
        ("0.00001", "1e-05"),
        ("0.1", "0.1"),
        ("1.5e300", "1.5e+300"),
        ("3.141592653589793", "3.141592653589793"),
        ("5e-324", "5e-324"),
        ("1e23", "9.999999999999999e+22"),
        ("157071868997754e3", "1.5707186899775398e+17"),
        ("148906574030391.12", "148906574030391.12"),
        ("1e22", "1e+22"),
        ("inf", "Infinity"),
        ("-Infinity", "-Infinity"),
        ("nan", "NaN"),
        ("1e400", "\"1e400\" is out of range for type double precision"),
        ("1e-400", "\"1e-400\" is out of range for type double precision"),
        ("0e-400", "0"),
        ("x", "invalid input syntax for type double precision: \"x\""),
    ] {
        assert_eq!(round(DataType::Double, text), want);
    }
}

#[test]
fn reals() {
    for (text, want) in [
        ("123456", "123456"),
        ("1234567", "1.234567e+06"),
        ("0.1", "0.1"),
        ("36e9", "3.5999998e+10"),
        ("3061734.25", "3.0617342e+06"),
        ("1e39", "\"1e39\" is out of range for type real"),
    ] {
        assert_eq!(round(DataType::Real, text), want);
    }
}

#[test]
fn numerics() {
    let money = DataType::Numeric(Some((5, 2)));
    assert_eq!(round(money, "1.5"), "1.50");
    assert_eq!(round(money, "999.994"), "999.99");
    assert_eq!(round(money, "999.995"), "numeric field overflow");
    assert_eq!(round(money, "1e2"), "100.00");
    assert_eq!(round(DataType::Numeric(None), "1.50"), "1.5");
    assert_eq!(round(DataType::Numeric(None), "-0.00"), "0");
    assert_eq!(round(DataType::Numeric(None), "1e-21"), "value \"1e-21\" is out of range for type numeric");
    assert_eq!(round(DataType::Numeric(None), "NaN"), "value \"NaN\" is out of range for type numeric");
    assert_eq!(round(DataType::Numeric(None), "1,5"), "invalid input syntax for type numeric: \"1,5\"");
    assert_eq!(
        parse(&money, "1000").unwrap_err().detail().unwrap(),
        "A field with precision 5, scale 2 must round to an absolute value less than 10^3."
    );
}

#[test]
fn text_and_its_limits() {
    assert_eq!(round(DataType::Varchar(Some(3)), "äöü"), "äöü");
    assert_eq!(round(DataType::Varchar(Some(3)), "abc   "), "abc");
    assert_eq!(round(DataType::Varchar(Some(5)), "abc   "), "abc  ");
    assert_eq!(round(DataType::Varchar(Some(3)), "abcd"), "value too long for type character varying(3)");
    assert_eq!(round(DataType::Char(5), "ab"), "ab   ");
    assert_eq!(parse(&DataType::Char(5), "ab  ").unwrap(), Datum::Text("ab".into()));
    assert_eq!(round(DataType::Char(2), "abc"), "value too long for type character(2)");
    assert_eq!(round(DataType::Text, "a\0"), "invalid byte sequence for encoding \"UTF8\": 0x00");
}

#[test]
fn bytes() {
    assert_eq!(round(DataType::Bytea, "\\x00 fF"), "\\x00ff");
    assert_eq!(round(DataType::Bytea, "a\\\\b\\001"), "\\x615c6201");
    assert_eq!(round(DataType::Bytea, ""), "\\x");
    assert_eq!(round(DataType::Binary(3), "\\x01"), "\\x010000");
    assert_eq!(round(DataType::Varbinary(1), "\\x0102"), "value too long for type varbinary(1)");
    for bad in ["\\x1", "\\xgg", "\\x1 2"] {
        assert_eq!(round(DataType::Bytea, bad), format!("invalid hexadecimal data: \"{bad}\""));
    }
    for bad in ["\\400", "\\"] {
        assert_eq!(round(DataType::Bytea, bad), format!("invalid input syntax for type bytea: \"{bad}\""));
    }
}

#[test]
fn uuids() {
    let canonical = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
    for text in [
        canonical,
        "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
        "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
        "a0eebc999c0b4ef8bb6d6bb9bd380a11",
        "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
    ] {
        assert_eq!(round(DataType::Uuid, text), canonical);
    }
    for bad in ["", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1", "a0-eebc99"] {
        assert_eq!(round(DataType::Uuid, bad), format!("invalid input syntax for type uuid: \"{bad}\""));
    }
}
