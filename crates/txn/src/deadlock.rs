//! Detects cycles in the wait-for graph.

use crate::TxnId;
use std::collections::HashSet;

/// Finds a cycle through `start`: `start` waits for the second transaction, ..., the last waits for `start`.
///
/// Only cycles through `start` are searched: the last wait closes a cycle, and every new waiter searches from itself.
pub(crate) fn find_cycle(start: TxnId, blockers: impl Fn(TxnId) -> Vec<TxnId>) -> Option<Vec<TxnId>> {
    let mut seen = HashSet::from([start]);
    // A path of transactions, each with the blockers that are not visited yet.
    let mut path = vec![(start, blockers(start))];
    while let Some((_, open)) = path.last_mut() {
        let Some(next) = open.pop() else {
            path.pop();
            continue;
        };
        if next == start {
            return Some(path.into_iter().map(|(txn, _)| txn).collect());
        }
        if seen.insert(next) {
            path.push((next, blockers(next)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(edges: &[(u64, u64)], start: u64) -> Option<Vec<u64>> {
        let blockers = |txn: TxnId| edges.iter().filter(|edge| edge.0 == txn.0).map(|edge| TxnId(edge.1)).collect();
        Some(find_cycle(TxnId(start), blockers)?.into_iter().map(|txn| txn.0).collect())
    }

    #[test]
    fn a_circle_is_found_behind_dead_ends() {
        let edges = [(1, 2), (1, 3), (2, 4), (3, 5), (5, 4), (5, 1)];
        assert_eq!(circle(&edges, 1), Some(vec![1, 3, 5]));
    }

    #[test]
    fn a_circle_of_others_is_theirs() {
        assert_eq!(circle(&[(1, 2), (2, 3), (3, 2)], 1), None);
    }

    #[test]
    fn waiting_for_one_that_waits_for_nobody_is_fine() {
        assert_eq!(circle(&[(1, 2), (1, 3), (2, 3)], 1), None);
    }
}
