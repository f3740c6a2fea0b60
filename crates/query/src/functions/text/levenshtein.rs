//! Edit distances, as in PostgreSQL's extension `fuzzystrmatch`: of at most 255 characters, because the time is
//! proportional to the product of the lengths.

use crate::Refusal;
use crate::error::QueryResult;
use crate::functions::sql::{Definition, Overload, define, strict, wrong};
use crate::functions::text::{size, text};
use types::DataType::{Integer, Text};
use types::Datum;

/// Maximum characters of a text.
const MOST: usize = 255;

pub(in crate::functions) static FUNCTIONS: &[Definition] = &[define("levenshtein", FORMS)];

const FORMS: &[Overload] = &[
    strict(&[Text, Text], Integer, |args| distance(args, Costs { insert: 1, delete: 1, substitute: 1 })),
    strict(&[Text, Text, Integer, Integer, Integer], Integer, |args| match args {
        [_, _, Datum::Int4(insert), Datum::Int4(delete), Datum::Int4(substitute)] => distance(
            args,
            Costs { insert: (*insert).into(), delete: (*delete).into(), substitute: (*substitute).into() },
        ),
        other => Err(wrong(other)),
    }),
];

/// The cost of each kind of edit.
#[derive(Clone, Copy)]
struct Costs {
    insert: i64,
    delete: i64,
    substitute: i64,
}

fn letters(args: &[Datum], at: usize) -> QueryResult<Vec<char>> {
    let letters: Vec<char> = text(args, at)?.chars().take(MOST + 1).collect();
    if letters.len() > MOST {
        let message = format!("levenshtein argument exceeds maximum length of {MOST} characters");
        return Err(Refusal::Argument.because(message));
    }
    Ok(letters)
}

/// Returns the least cost of edits that turn the first text into the second.
fn distance(args: &[Datum], costs: Costs) -> QueryResult<Datum> {
    let (from, to) = (letters(args, 0)?, letters(args, 1)?);
    // The costs of turning the prefix of `from` that was read into each prefix of `to`.
    let mut row: Vec<i64> = (0..=size(to.len())).map(|count| i64::from(count) * costs.insert).collect();
    for letter in &from {
        let mut before = row.first().copied().unwrap_or_default();
        let mut left = before + costs.delete;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (other, cost) in to.iter().zip(row.iter_mut().skip(1)) {
            let substituted = before + if letter == other { 0 } else { costs.substitute };
            before = *cost;
            left = substituted.min(before + costs.delete).min(left + costs.insert);
            *cost = left;
        }
    }
    let cost = row.last().copied().unwrap_or_default();
    i32::try_from(cost)
        .map(Datum::Int4)
        .map_err(|_| crate::error::QueryError::OutOfRange { what: "integer".to_owned() })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn one(from: &str, to: &str, costs: (i64, i64, i64)) -> QueryResult<Datum> {
        let (insert, delete, substitute) = costs;
        distance(&[Datum::Text(from.to_owned()), Datum::Text(to.to_owned())], Costs { insert, delete, substitute })
    }

    #[test]
    fn distances_are_those_of_postgresql() {
        for (from, to, costs, wanted) in [
            ("GUMBO", "GAMBOL", (1, 1, 1), 2),
            ("GUMBO", "GAMBOL", (2, 1, 1), 3),
            ("extensive", "exhaustive", (1, 1, 1), 4),
            ("", "abc", (1, 1, 1), 3),
            ("abc", "", (1, 7, 1), 21),
            ("kitten", "sitting", (1, 1, 5), 5),
            ("größe", "grosse", (1, 1, 1), 3),
        ] {
            assert_eq!(one(from, to, costs).unwrap(), Datum::Int4(wanted), "{from} {to} {costs:?}");
        }
    }

    #[test]
    fn long_texts_are_refused() {
        let (most, more) = ("a".repeat(MOST), "b".repeat(MOST + 1));
        assert_eq!(one(&most, &most, (1, 1, 1)).unwrap(), Datum::Int4(0));
        assert!(one(&most, &more, (1, 1, 1)).is_err() && one(&more, &most, (1, 1, 1)).is_err());
    }
}
