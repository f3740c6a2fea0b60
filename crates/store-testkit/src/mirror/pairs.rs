//! Maps the commits of one store to those of the other.

use store::CommitNo;

/// Pairs of commits in the order of application; both sides ascend.
#[derive(Debug, Default)]
pub(super) struct Pairs(Vec<(CommitNo, CommitNo)>);

impl Pairs {
    /// Adds the newest pair.
    pub(super) fn push(&mut self, a: CommitNo, b: CommitNo) {
        // If `a` returns no new number for a batch without effect, rows with that number are from the commit before, in
        // `b` as well.
        if self.0.last().is_none_or(|last| last.0 < a) {
            self.0.push((a, b));
        }
    }

    /// The commit of `b` for the commit `a`; an unused number if there is none.
    pub(super) fn exactly_of_a(&self, a: CommitNo) -> CommitNo {
        let found = self.0.binary_search_by_key(&a, |pair| pair.0).ok().and_then(|at| self.0.get(at));
        found.map_or(CommitNo(u64::MAX), |pair| pair.1)
    }

    /// The last commit of `b` that is paired with a commit up to `a`.
    pub(super) fn up_to_a(&self, a: CommitNo) -> CommitNo {
        let count = self.0.partition_point(|pair| pair.0 <= a);
        count.checked_sub(1).and_then(|at| self.0.get(at)).map_or(CommitNo(0), |pair| pair.1)
    }

    /// Compares states at `a` and `b`. `None` if they contain the same pairs. Otherwise the commit that the state
    /// behind lacks: in `a` if `a` is behind, and in `b`.
    pub(super) fn lag(&self, a: CommitNo, b: CommitNo) -> Option<(Option<CommitNo>, CommitNo)> {
        let in_a = self.0.partition_point(|pair| pair.0 <= a);
        let in_b = self.0.partition_point(|pair| pair.1 <= b);
        let last = self.0.get(in_a.max(in_b).checked_sub(1)?)?;
        match in_a.cmp(&in_b) {
            std::cmp::Ordering::Less => Some((Some(last.0), last.1)),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some((None, last.1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(u64, u64)]) -> Pairs {
        let mut pairs = Pairs::default();
        list.iter().for_each(|&(a, b)| pairs.push(CommitNo(a), CommitNo(b)));
        pairs
    }

    #[test]
    fn a_commit_without_a_pair_belongs_to_the_one_before() {
        let pairs = pairs(&[(3, 1), (4, 2), (7, 5)]);
        let up_to = [0, 3, 5, 7, 9].map(|a| pairs.up_to_a(CommitNo(a)).0);
        assert_eq!(up_to, [0, 1, 2, 5, 5]);
        assert_eq!((pairs.exactly_of_a(CommitNo(4)), pairs.exactly_of_a(CommitNo(5)).0), (CommitNo(2), u64::MAX));
    }

    #[test]
    fn the_state_behind_is_told_what_it_lacks() {
        let pairs = pairs(&[(3, 1), (4, 2), (7, 5)]);
        let lag = |a, b| pairs.lag(CommitNo(a), CommitNo(b));
        assert_eq!((lag(0, 0), lag(5, 4), lag(9, 9)), (None, None, None));
        assert_eq!(lag(3, 4), Some((Some(CommitNo(4)), CommitNo(2))));
        assert_eq!(lag(8, 1), Some((None, CommitNo(5))));
    }

    #[test]
    fn a_number_given_twice_belongs_to_the_commit_that_changed_something() {
        let pairs = pairs(&[(3, 1), (3, 2), (4, 3)]);
        assert_eq!(pairs.exactly_of_a(CommitNo(3)), CommitNo(1));
        assert_eq!(pairs.lag(CommitNo(3), CommitNo(2)), None);
    }
}
