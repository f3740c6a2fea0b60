//! Rows as version chains.

use std::collections::BTreeMap;
use std::ops::Bound;
use store::{Bytes, CommitNo, FamilyId, KeyRange, TableSpec};

/// A table, from the commit that created it to the one that dropped it.
#[derive(Clone, Debug)]
pub(super) struct ModelTable {
    pub(super) born: CommitNo,
    pub(super) died: Option<CommitNo>,
    pub(super) splits: Vec<Bytes>,
    pub(super) families: BTreeMap<FamilyId, Rows>,
}

/// The rows of one family.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows(BTreeMap<Bytes, Vec<Version>>);

/// A version of a row: its fragment, or `None` if it was deleted.
#[derive(Clone, Debug)]
struct Version {
    commit: CommitNo,
    fragment: Option<Bytes>,
}

impl ModelTable {
    pub(super) fn new(spec: &TableSpec, born: CommitNo) -> Self {
        let families = spec.families.iter().map(|family| (family.id, Rows::default())).collect();
        Self { born, died: None, splits: spec.splits.clone(), families }
    }

    /// Returns true if the table exists at `commit`.
    pub(super) fn is_alive(&self, commit: CommitNo) -> bool {
        self.born <= commit && self.died.is_none_or(|died| commit < died)
    }

    /// The table without changes after `commit`.
    pub(super) fn up_to(&self, commit: CommitNo) -> Option<Self> {
        let families = self.families.iter().map(|(&id, rows)| (id, rows.up_to(commit))).collect();
        let died = self.died.filter(|&died| died <= commit);
        (self.born <= commit).then(|| Self { families, died, splits: self.splits.clone(), born: self.born })
    }
}

impl Rows {
    /// The newest fragment that is visible at `commit`.
    pub(super) fn get(&self, key: &[u8], commit: CommitNo) -> Option<Bytes> {
        visible(self.0.get(key)?, commit).cloned()
    }

    /// All rows of `range` that exist at `commit`, in key order.
    pub(super) fn range(
        &self,
        range: &KeyRange,
        commit: CommitNo,
    ) -> impl DoubleEndedIterator<Item = (&Bytes, &Bytes)> {
        // The map's range would panic if the end is before the start.
        let range =
            if range.is_empty() { KeyRange { start: Bytes::new(), end: Some(Bytes::new()) } } else { range.clone() };
        let end = range.end.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self.0.range((Bound::Included(range.start), end));
        rows.filter_map(move |(key, versions)| Some((key, visible(versions, commit)?)))
    }

    /// Adds a version with the newest commit.
    pub(super) fn put(&mut self, key: Bytes, commit: CommitNo, fragment: Option<Bytes>) {
        self.0.entry(key).or_default().push(Version { commit, fragment });
    }

    fn up_to(&self, commit: CommitNo) -> Self {
        let cut = |versions: &Vec<Version>| versions.iter().filter(|v| v.commit <= commit).cloned().collect();
        Self(self.0.iter().map(|(key, versions)| (key.clone(), cut(versions))).collect())
    }
}

fn visible(versions: &[Version], commit: CommitNo) -> Option<&Bytes> {
    versions.iter().rev().find(|version| version.commit <= commit)?.fragment.as_ref()
}
