//! Query results with their run time, and their comparison.

use crate::error::BenchError;
use crate::peer::Peer;
use std::time::Instant;
use tokio_postgres::{Client, SimpleQueryMessage};

/// Rows as text.
pub(super) type Rows = Vec<Vec<String>>;

/// Run time in seconds and rows of `query`.
pub(super) async fn answer(peer: &dyn Peer, client: &Client, query: &str) -> Result<(f64, Rows), BenchError> {
    let begin = Instant::now();
    let messages = client.simple_query(query).await;
    let seconds = begin.elapsed().as_secs_f64();
    let messages = messages.map_err(|error| BenchError::Sql { server: peer.name(), error })?;
    let rows = messages.iter().filter_map(|m| match m {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let text = |value: Option<&str>| value.unwrap_or("NULL").to_string();
    Ok((seconds, rows.map(|r| (0..r.len()).map(|i| text(r.get(i))).collect()).collect()))
}

/// Fails with the first row that differs.
pub(super) fn must_agree(
    name: &str,
    (one, rows): (&str, &Rows),
    (other, expected): (&str, &Rows),
) -> Result<(), BenchError> {
    if rows.len() != expected.len() {
        let (ours, theirs) = (rows.len(), expected.len());
        return Err(BenchError::Wrong(format!("{name}: {one} has {ours} rows, {other} {theirs}")));
    }
    let same_row =
        |(a, b): &(&Vec<String>, &Vec<String>)| a.len() == b.len() && a.iter().zip(*b).all(|(a, b)| same(a, b));
    match rows.iter().zip(expected).find(|pair| !same_row(pair)) {
        Some((a, b)) => Err(BenchError::Wrong(format!("{name}: {one} says {a:?}, {other} {b:?}"))),
        None => Ok(()),
    }
}

/// Compares numbers by value (PostgreSQL's averages have more digits), and text without padding.
fn same(a: &str, b: &str) -> bool {
    if let (Ok(a), Ok(b)) = (a.parse::<f64>(), b.parse::<f64>()) {
        return (a - b).abs() <= 1e-4 + 1e-9 * b.abs();
    }
    a.trim_end() == b.trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_value_and_text_without_padding() {
        assert!(same("1.50", "1.5000001"));
        assert!(!same("1.50", "1.51"));
        assert!(same("AIR       ", "AIR"));
        assert!(!same("AIR", "SHIP"));
    }

    #[test]
    fn another_number_of_rows_is_another_answer() {
        let (one, two) = (vec![vec!["1".to_string()]], vec![vec!["1".to_string()]; 2]);
        assert!(must_agree("q", ("a", &one), ("b", &one)).is_ok());
        assert!(must_agree("q", ("a", &one), ("b", &two)).is_err());
    }
}
