//! Functions of arguments of any type: as they are shown, and how many are NULL.

use super::sql::{Argument, Chosen, Definition, define_rule, text_of, wrong};
use super::text::size;
use crate::error::QueryResult;
use types::DataType::{Integer, Text};
use types::Datum;

pub(super) static FUNCTIONS: &[Definition] = &[
    define_rule("quote_literal", |args| {
        any_arguments(args, 1, 1, true, |args| Ok(Datum::Text(quoted(&text_of(one(args)?)?))))
    }),
    define_rule("quote_nullable", |args| {
        any_arguments(args, 1, 1, false, |args| match one(args)? {
            Datum::Null => Ok(Datum::Text("NULL".to_owned())),
            value => Ok(Datum::Text(quoted(&text_of(value)?))),
        })
    }),
    define_rule("concat", |args| any_arguments(args, 1, usize::MAX, false, concat)).shown(),
    define_rule("concat_ws", |args| any_arguments(args, 2, usize::MAX, false, concat_ws)).shown(),
    define_rule("format", |args| {
        let is_text = match args.first()? {
            Argument::Unknown => true,
            Argument::Known(ty) => ty.is_text(),
        };
        any_arguments(args, 1, usize::MAX, false, super::format_text::format).filter(|_| is_text)
    })
    .shown(),
    define_rule("num_nulls", |args| {
        counted(args, |args| Ok(Datum::Int4(size(args.iter().filter(|v| v.is_null()).count()))))
    }),
    define_rule("num_nonnulls", |args| {
        counted(args, |args| Ok(Datum::Int4(size(args.iter().filter(|v| !v.is_null()).count()))))
    }),
];

fn one(args: &[Datum]) -> QueryResult<&Datum> {
    args.first().ok_or_else(|| wrong(args))
}

/// Functions that count their arguments.
fn counted(args: &[Argument], body: super::sql::Body) -> Option<Chosen> {
    any_arguments(args, 1, usize::MAX, false, body).map(|chosen| Chosen { returns: Integer, ..chosen })
}

/// Functions of anything: arguments stay as they are, unknown ones are text.
fn any_arguments(args: &[Argument], least: usize, most: usize, strict: bool, body: super::sql::Body) -> Option<Chosen> {
    let types = args.iter().map(|arg| match arg {
        Argument::Unknown => Text,
        Argument::Known(ty) => *ty,
    });
    (least..=most).contains(&args.len()).then(|| Chosen { types: types.collect(), returns: Text, strict, body })
}

/// `'it''s'`; with a backslash inside it begins with E.
pub(super) fn quoted(text: &str) -> String {
    let inner = text.replace('\'', "''");
    if inner.contains('\\') { format!("E'{}'", inner.replace('\\', "\\\\")) } else { format!("'{inner}'") }
}

/// A value as `concat` shows it: as it is printed, so a boolean is `t`.
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
