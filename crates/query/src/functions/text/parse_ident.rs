//! `parse_ident('a."B c"')`: splits a qualified name into its parts.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::sql::{Definition, arguments, define, strict};
use types::DataType::{self, Boolean, Text};
use types::{Datum, ElementType};

const TEXTS: DataType = DataType::Array(ElementType::Text);

pub(in crate::functions) static FUNCTIONS: &[Definition] = &[define(
    "parse_ident",
    &[
        strict(&[Text], TEXTS, |args| {
            arguments!(args, [Datum::Text(name)]);
            parts(name, true)
        }),
        strict(&[Text, Boolean], TEXTS, |args| {
            arguments!(args, [Datum::Text(name), Datum::Bool(all)]);
            parts(name, *all)
        }),
    ],
)];

/// With `all`, nothing may follow the name.
fn parts(name: &str, all: bool) -> QueryResult<Datum> {
    let mut found = Vec::new();
    let mut rest = name.trim_start();
    loop {
        let (part, tail) = part(rest).ok_or_else(|| invalid(name))?;
        found.push(Datum::Text(part));
        rest = tail.trim_start();
        match rest.strip_prefix('.') {
            Some(next) => rest = next.trim_start(),
            None if rest.is_empty() || !all => return Ok(Datum::Array(found)),
            None => return Err(invalid(name)),
        }
    }
}

/// Returns the part that a text begins with, and the rest of the text.
fn part(text: &str) -> Option<(String, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        return types::ident::read_quoted(quoted).filter(|(part, _)| !part.is_empty());
    }
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
    let goes_on = |c: char| begins(c) || c.is_ascii_digit() || c == '$';
    text.starts_with(begins).then_some(())?;
    let (part, rest) = text.split_at_checked(text.find(|c| !goes_on(c)).unwrap_or(text.len()))?;
    Some((types::ident::fold(part), rest))
}

fn invalid(name: &str) -> QueryError {
    Refusal::Argument.because(format!("string is not a valid identifier: \"{name}\""))
}
