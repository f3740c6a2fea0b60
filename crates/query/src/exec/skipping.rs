//! A skip scan over groups of rows that are equal in the first parts of their key, like Phoenix's
//! `DistinctPrefixFilter`.
//!
//! ```text
//!   key (a, b), by a:   1 1 1 1 1 1 2 2 2 2 2 2 3
//!   read                x x . . . . x x . . . . x      then seeks behind the last group it has seen
//! ```
//! The number of rows per read follows from the number of groups found: with small groups it is a plain scan. More than
//! one row of a group may be returned; an operator above deduplicates.

use crate::error::{QueryError, QueryResult};
use crate::exec::running_scan::ScanWork;
use rowkey::KeySchema;
use std::collections::VecDeque;
use store::{KeyRange, RowBatch, ScanCounters, ScanRequest};

/// The smallest and the largest number of rows per read.
const FEWEST: usize = 16;
const MOST: usize = 4_096;
/// The cost of a seek, in rows.
const SEEK: usize = 16;

/// The position of a skip scan.
#[derive(Debug)]
pub(super) struct Skipping {
    schema: KeySchema,
    /// The number of leading parts that form a group.
    parts: usize,
    /// The remaining ranges, in reading order.
    left: VecDeque<KeyRange>,
    at_once: usize,
}

impl Skipping {
    pub(super) fn new(schema: &KeySchema, parts: usize, mut ranges: Vec<KeyRange>, reverse: bool) -> Self {
        if reverse {
            ranges.reverse();
        }
        Self { schema: schema.clone(), parts, left: ranges.into(), at_once: FEWEST }
    }

    /// Returns rows of the next groups and the cost of reading them.
    ///
    /// # Errors
    /// Errors of the store, and corrupt keys.
    pub(super) async fn next(
        &mut self,
        work: &ScanWork,
        request: ScanRequest,
    ) -> QueryResult<(Option<RowBatch>, ScanCounters)> {
        let mut cost = ScanCounters::default();
        while let Some(range) = self.left.front_mut() {
            let request = ScanRequest {
                ranges: vec![range.clone()],
                limit: Some(self.at_once as u64),
                batch_rows: self.at_once,
                keys: true,
                ..request.clone()
            };
            let mut scan = work.reader.scan(request).await?;
            let rows = scan.next().await?;
            cost += scan.counters();
            let Some(rows) = rows else {
                self.left.pop_front();
                continue;
            };
            let groups = behind(&self.schema, self.parts, range, &rows, work.reverse)?;
            if range.is_empty() {
                self.left.pop_front();
            }
            self.at_once = match groups * SEEK >= rows.len() {
                true => (self.at_once * 2).min(MOST),
                false => (self.at_once / 2).max(FEWEST),
            };
            return Ok((Some(rows), cost));
        }
        Ok((None, cost))
    }
}

/// Cuts `range` down to the keys behind the last group of `rows`; returns the number of groups in `rows`.
fn behind(
    schema: &KeySchema,
    parts: usize,
    range: &mut KeyRange,
    rows: &RowBatch,
    reverse: bool,
) -> QueryResult<usize> {
    let (mut groups, mut slots) = (0, Vec::new());
    let mut last: &[u8] = &[];
    for key in rows.keys() {
        schema.split(key, &mut slots).map_err(|error| QueryError::internal(format!("a key of a scan: {error}")))?;
        let end = parts.checked_sub(1).and_then(|last| slots.get(last)).map_or(0, |(_, end)| *end);
        let prefix = key.get(..end).unwrap_or(key);
        if groups == 0 || prefix != last {
            groups += 1;
            last = prefix;
        }
        slots.clear();
    }
    let group = KeyRange::prefix(last.to_vec());
    match (reverse, group.end) {
        (true, _) => range.end = Some(group.start),
        (false, Some(end)) => range.start = end,
        // No key lies behind the group.
        (false, None) => range.end = Some(range.start.clone()),
    }
    Ok(groups)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use rowkey::KeyPart;
    use store::RowBatchBuilder;
    use types::{DataType, Datum};

    #[test]
    fn what_is_left_lies_behind_the_last_group() {
        let schema = KeySchema::new(vec![KeyPart::ascending(DataType::Text), KeyPart::ascending(DataType::Integer)]);
        let key = |text: &str, number: i32| {
            let mut key = Vec::new();
            schema.encode(&[Datum::Text(text.to_owned()), Datum::Int4(number)], &mut key).unwrap();
            key
        };
        let mut rows = RowBatchBuilder::with_capacity(4, true, true);
        for (text, number) in [("a", 1), ("a", 2), ("b", 1), ("b", 7)] {
            rows.push_key(&key(text, number), &[]);
            rows.push_fragment(&[]);
        }
        let rows = rows.finish();
        let mut range = KeyRange::all();
        assert_eq!(behind(&schema, 1, &mut range, &rows, false).unwrap(), 2);
        assert!(!range.contains(&key("b", 8)) && range.contains(&key("ba", 0)));
        let mut range = KeyRange::all();
        behind(&schema, 1, &mut range, &rows, true).unwrap();
        assert!(range.contains(&key("a", 9)) && !range.contains(&key("b", 0)));
    }
}
