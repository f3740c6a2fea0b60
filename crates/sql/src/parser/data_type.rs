//! Type names in statements: parsed as words here, interpreted by `types`.

use super::fault::{Fault, FaultKind};
use super::{Cursor, Parse};
use sqlparser::tokenizer::Token;
use types::DataType;

/// Parses a type with its modifiers, as expressions have it.
pub(crate) fn data_type(c: &mut Cursor<'_>) -> Parse<DataType> {
    read(c, Kind::OfExpressions)
}

/// Parses the type of a column, which keeps modifiers of array elements, dimensions, and fields of intervals.
pub(super) fn column_type(c: &mut Cursor<'_>) -> Parse<DataType> {
    read(c, Kind::OfColumns)
}

/// The context of a type.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    OfExpressions,
    OfColumns,
}

fn read(c: &mut Cursor<'_>, kind: Kind) -> Parse<DataType> {
    let place = c.location();
    let (mut name, words) = head(c)?;
    if words && name == "interval" && kind == Kind::OfColumns {
        interval_fields(c, &mut name)?;
    }
    let clock = words && matches!(name.as_str(), "timestamp" | "time");
    let interval = words && name.starts_with("interval");
    let params = match c.peek() {
        // Only seconds have a precision.
        Token::LParen if interval && name != "interval" && !name.ends_with("second") => Vec::new(),
        Token::LParen if clock || interval => digits(c)?,
        Token::LParen => c.parenthesised(parameter)?,
        _ => Vec::new(),
    };
    if clock {
        if c.eat_all(&["WITH", "TIME", "ZONE"]) {
            name.push_str("tz");
        } else {
            c.eat_all(&["WITHOUT", "TIME", "ZONE"]);
        }
    }
    let dimensions = dimensions(c)?;
    if matches!(name.as_str(), "smallserial" | "serial" | "bigserial" | "serial2" | "serial4" | "serial8") {
        return Err(c.unsupported_at(place, format!("type {name}")));
    }
    let found = match kind {
        Kind::OfExpressions => DataType::from_name(&format!("{name}{}", "[]".repeat(dimensions.min(1))), &params),
        Kind::OfColumns => DataType::of_column_name(&format!("{name}{}", "[]".repeat(dimensions)), &params),
    };
    found.map_err(|error| Box::new(Fault { kind: FaultKind::Type(error), location: place }))
}

/// Parses `serial` and its variants, which only columns can have. Returns the integer type.
pub(super) fn serial(c: &mut Cursor<'_>) -> Option<DataType> {
    let found = [
        ("smallserial", DataType::SmallInt),
        ("serial2", DataType::SmallInt),
        ("serial", DataType::Integer),
        ("serial4", DataType::Integer),
        ("bigserial", DataType::BigInt),
        ("serial8", DataType::BigInt),
    ]
    .into_iter()
    .find(|(name, _)| c.at(name))?;
    // Types such as `serial[]` do not exist.
    if matches!(c.peek_nth(1), Token::LBracket | Token::LParen) {
        return None;
    }
    c.next();
    Some(found.1)
}

/// Parses `DAY`, `DAY TO SECOND` after `interval`.
fn interval_fields(c: &mut Cursor<'_>, name: &mut String) -> Parse<()> {
    let fields: [(&str, &[&str]); 6] = [
        ("year", &["month"]),
        ("month", &[]),
        ("day", &["hour", "minute", "second"]),
        ("hour", &["minute", "second"]),
        ("minute", &["second"]),
        ("second", &[]),
    ];
    let Some((first, ends)) = fields.into_iter().find(|(field, _)| c.eat(field)) else { return Ok(()) };
    name.push_str(&format!(" {first}"));
    if !ends.is_empty() && c.eat("TO") {
        let last = ends.iter().find(|field| c.eat(field)).ok_or_else(|| c.syntax())?;
        name.push_str(&format!(" to {last}"));
    }
    Ok(())
}

/// Parses `[]`, `[3][3]`, `ARRAY[3]`. Returns the number of dimensions; sizes are ignored, as in PostgreSQL.
fn dimensions(c: &mut Cursor<'_>) -> Parse<usize> {
    let word = c.eat("ARRAY");
    let mut brackets = 0;
    while c.eat_token(&Token::LBracket) {
        brackets += 1;
        if !matches!(c.peek(), Token::RBracket) {
            parameter(c)?;
        }
        if !c.eat_token(&Token::RBracket) {
            return Err(c.expected("]"));
        }
    }
    Ok(brackets.max(usize::from(word)))
}

/// Parses the name without its modifiers; also returns whether it is plain words (not quoted, no schema).
fn head(c: &mut Cursor<'_>) -> Parse<(String, bool)> {
    let plain = matches!(c.peek(), Token::Word(word) if word.quote_style.is_none());
    let mut name = c.any_word()?;
    if matches!(c.peek(), Token::Period) {
        if name != "pg_catalog" {
            return Err(c.unsupported("a type in a schema"));
        }
        c.next();
        return Ok((c.any_word()?, false));
    }
    if !plain {
        // Quoted, it is the type of PostgreSQL's system catalogs and not `character`.
        return if name == "char" { Err(c.unsupported("type \"char\"")) } else { Ok((name, false)) };
    }
    let rest: &[&str] = match name.as_str() {
        "double" => &["PRECISION"],
        "national" => &["CHARACTER", "CHAR"],
        _ => &[],
    };
    if let Some(word) = rest.iter().find(|word| c.at(word)) {
        c.next();
        name = if name == "national" { "char".to_owned() } else { format!("{name} {}", word.to_ascii_lowercase()) };
    }
    if matches!(name.as_str(), "char" | "character" | "nchar" | "bit" | "binary") && c.eat("VARYING") {
        name = match name.as_str() {
            "bit" => "bit varying",
            "binary" => "varbinary",
            _ => "varchar",
        }
        .to_owned();
    }
    Ok((name, true))
}

/// Parses `(3)`: by the grammar, the precision of seconds is one number without a sign.
fn digits(c: &mut Cursor<'_>) -> Parse<Vec<i64>> {
    c.next();
    let digits = number(c)?;
    if !c.eat_token(&Token::RParen) {
        return Err(c.expected(")"));
    }
    Ok(vec![digits])
}

fn parameter(c: &mut Cursor<'_>) -> Parse<i64> {
    let negative = c.eat_token(&Token::Minus);
    let value = number(c)?;
    Ok(if negative { -value } else { value })
}

fn number(c: &mut Cursor<'_>) -> Parse<i64> {
    let Token::Number(digits, _) = c.peek() else { return Err(c.expected("a number")) };
    let Ok(value) = digits.parse::<i64>() else { return Err(c.expected("a whole number")) };
    c.next();
    Ok(value)
}
