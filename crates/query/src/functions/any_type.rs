//! Functions of arguments of any type: conversions to text, and counts of NULLs.

use crate::error::QueryResult;
use crate::functions::sql::{Body, Definition, Form, define_any, text_of, wrong};
use crate::functions::text::size;
use types::DataType::{self, Integer, Text};
use types::Datum;

pub(super) static FUNCTIONS: &[Definition] = &[
    define_any("quote_literal", |types| {
        text_of_any(types, true, |args| Ok(Datum::Text(quoted(&text_of(one(args)?)?))))
    }),
    define_any("quote_nullable", |types| {
        text_of_any(types, false, |args| match one(args)? {
            Datum::Null => Ok(Datum::Text("NULL".to_owned())),
            value => Ok(Datum::Text(quoted(&text_of(value)?))),
        })
    }),
    define_any("concat", |types| text_of_any(types, false, concat)).shown(),
    define_any("concat_ws", |types| text_of_any(types, false, concat_ws)).shown(),
    define_any("format", |types| text_of_any(types, false, crate::functions::text::format::format)).shown(),
    define_any("num_nulls", |types| {
        counted(types, |args| Ok(Datum::Int4(size(args.iter().filter(|v| v.is_null()).count()))))
    }),
    define_any("num_nonnulls", |types| {
        counted(types, |args| Ok(Datum::Int4(size(args.iter().filter(|v| !v.is_null()).count()))))
    }),
];

fn one(args: &[Datum]) -> QueryResult<&Datum> {
    args.first().ok_or_else(|| wrong(args))
}

/// The form of functions that count their arguments.
fn counted(types: &[DataType], body: Body) -> Option<Form> {
    Some(Form { types: types.to_vec(), returns: Integer, strict: false, body })
}

/// The form of functions that make a text of arguments of any type.
fn text_of_any(types: &[DataType], strict: bool, body: Body) -> Option<Form> {
    Some(Form { types: types.to_vec(), returns: Text, strict, body })
}

/// Quotes a literal: `'it''s'`; a text with a backslash gets the prefix E.
pub(super) fn quoted(text: &str) -> String {
    let inner = text.replace('\'', "''");
    if inner.contains('\\') { format!("E'{}'", inner.replace('\\', "\\\\")) } else { format!("'{inner}'") }
}

/// Formats a value as `concat` does: a boolean is `t`.
pub(super) fn shown(value: &Datum) -> String {
    let mut out = String::new();
    types::text::print(&Text, value, &mut out);
    out
}

fn concat(args: &[Datum]) -> QueryResult<Datum> {
    Ok(Datum::Text(args.iter().filter(|value| !value.is_null()).map(shown).collect()))
}

fn concat_ws(args: &[Datum]) -> QueryResult<Datum> {
    match args.split_first() {
        Some((Datum::Null, _)) => Ok(Datum::Null),
        Some((separator, values)) => {
            let values: Vec<String> = values.iter().filter(|value| !value.is_null()).map(shown).collect();
            Ok(Datum::Text(values.join(&shown(separator))))
        }
        None => Err(wrong(args)),
    }
}
