//! Prints a column default as PostgreSQL does: a quoted constant has a cast to its type.

use crate::oid::relation_name;
use crate::source::{Relation, Source};
use catalog::{Column, Sequence, sequence_reference};
use std::sync::Arc;
use types::DataType;

/// The default of a column; `None` without one. Sequences that the search path does not find are schema-qualified.
pub(crate) fn column_default(source: &Source, column: &Column) -> Option<String> {
    let written = column.default.as_ref()?;
    if column.generated.is_some() {
        return Some(written.clone());
    }
    if let Some(sequence) = column.sequence.and_then(|oid| source.catalog.sequence_by_oid(oid)) {
        return Some(format!("nextval({})", named(source, sequence)));
    }
    let sequences = column.default_sequences.iter().filter_map(|oid| source.catalog.sequence_by_oid(*oid));
    let by_name = |text: String, sequence: &Arc<Sequence>| {
        text.replace(&sequence_reference(sequence.oid), &named(source, sequence))
    };
    Some(default_text(&sequences.fold(written.clone(), by_name), &column.ty))
}

fn named(source: &Source, sequence: &Arc<Sequence>) -> String {
    let name = relation_name(source, &Relation::Sequence(sequence)).replace('\'', "''");
    format!("'{name}'::regclass")
}

/// `'x'` of a varchar column becomes `'x'::character varying`, -1 becomes `'-1'::integer`; other texts are unchanged.
fn default_text(written: &str, ty: &DataType) -> String {
    let text = written.trim();
    let quoted = is_quoted(text);
    let negative = text.strip_prefix('-').map(str::trim_start).filter(|digits| is_number(digits));
    match (quoted, negative) {
        (true, _) => format!("{text}::{}", constant_type(ty)),
        (_, Some(digits)) => format!("'-{digits}'::{}", number_type(digits)),
        _ => match text.to_ascii_lowercase().as_str() {
            word @ ("true" | "false" | "null") => word.to_owned(),
            word if is_clock(word) => word.to_ascii_uppercase(),
            _ => text.to_owned(),
        },
    }
}

/// `current_timestamp` and similar words, with an optional precision: `current_timestamp(3)`.
fn is_clock(word: &str) -> bool {
    let (name, digits) = match word.split_once('(') {
        Some((name, rest)) => (name.trim_end(), rest.strip_suffix(')')),
        None => (word, Some("0")),
    };
    let names = ["current_timestamp", "current_date", "localtimestamp", "current_user"];
    names.contains(&name) && digits.is_some_and(|digits| is_number(digits.trim()))
}

/// A single string constant.
fn is_quoted(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) else { return false };
    !inner.replace("''", "").contains('\'')
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// The smallest type that can represent a numeric constant.
fn number_type(digits: &str) -> &'static str {
    match digits.parse::<i64>() {
        Ok(value) if i32::try_from(value).is_ok() => "integer",
        Ok(_) => "bigint",
        Err(_) => "numeric",
    }
}

/// The type of a constant before the assignment cast to the column's type.
fn constant_type(ty: &DataType) -> String {
    match ty {
        DataType::Char(_) => "bpchar".to_owned(),
        DataType::Varbinary(_) | DataType::Binary(_) => "bytea".to_owned(),
        other => other.base_name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::default_text;
    use types::DataType;

    #[test]
    fn constants_name_their_types() {
        let text = |written, ty| default_text(written, &ty);
        assert_eq!(text("'x'", DataType::Varchar(Some(20))), "'x'::character varying");
        assert_eq!(text("'it''s'", DataType::Text), "'it''s'::text");
        assert_eq!(text("'ab'", DataType::Char(3)), "'ab'::bpchar");
        assert_eq!(text("- 1", DataType::Integer), "'-1'::integer");
        assert_eq!(text("-1", DataType::BigInt), "'-1'::integer");
        assert_eq!(text("-1.50", DataType::Double), "'-1.50'::numeric");
        assert_eq!(text("7", DataType::Integer), "7");
        assert_eq!(text("'a' || 'b'", DataType::Text), "'a' || 'b'");
        assert_eq!(text("TRUE", DataType::Boolean), "true");
        assert_eq!(text("current_timestamp", DataType::TimestampTz(None)), "CURRENT_TIMESTAMP");
    }
}
