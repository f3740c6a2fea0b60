//! The part of a commit before the commit lock is taken.

use crate::commit::conditions::Conditions;
use crate::commit::pipeline::Pipeline;
use crate::commit::rows::EncodedRows;
use crate::limits::{check_fragment, check_key};
use crate::placement::TableMap;
use fjall::OwnedWriteBatch;
use store::{Mutation, StoreResult, TableChange, WriteBatch};

/// More conditions than this are also checked before the lock is taken.
const FEW_CONDITIONS: usize = 16;

/// A batch that is encoded except for its commit number.
pub(crate) struct Prepared {
    pub(super) tables: Vec<TableChange>,
    pub(super) conditions: Conditions<'static>,
    pub(super) rows: Rows,
    /// An empty fjall batch with capacity for the rows.
    pub(super) batch: OwnedWriteBatch,
}

/// The rows of a batch.
pub(super) enum Rows {
    /// Encoded rows, or the encoding error: it is reported only if the conditions hold.
    Encoded(StoreResult<EncodedRows>),
    /// Rows of a batch that creates or drops tables; they are encoded under the lock, where their placements are known.
    Unencoded(Vec<Mutation>),
}

impl Pipeline {
    /// Does the part of a commit that needs no lock.
    ///
    /// # Errors
    /// [`store::StoreError::TooLarge`]; [`store::StoreError::ConditionFailed`] and read errors, if conditions are
    /// checked here.
    pub(crate) fn prepare(&self, batch: WriteBatch) -> StoreResult<Prepared> {
        check_sizes(&batch)?;
        let WriteBatch { tables, conditions, mutations } = batch;
        let room = OwnedWriteBatch::with_capacity(self.db.clone(), mutations.len() + 2);
        let mut conditions = Conditions::new(conditions);
        if !tables.is_empty() {
            return Ok(Prepared { tables, conditions, rows: Rows::Unencoded(mutations), batch: room });
        }
        let newest = self.publisher.newest().clone();
        if conditions.len() > FEW_CONDITIONS {
            conditions.check(&newest)?;
        }
        let rows = Rows::Encoded(EncodedRows::of(&newest.tables, mutations));
        Ok(Prepared { tables, conditions, rows, batch: room })
    }
}

impl Prepared {
    /// Returns true if the rows are encoded for the current placements. The caller holds the commit lock, and `tables`
    /// are the newest.
    pub(super) fn is_for(&self, tables: &TableMap) -> bool {
        match &self.rows {
            Rows::Encoded(Ok(rows)) => rows.are_in(tables),
            Rows::Encoded(Err(_)) | Rows::Unencoded(_) => true,
        }
    }

    /// Re-encodes the keys for the placements in `tables`.
    pub(super) fn moved_to(mut self, tables: &TableMap) -> Self {
        self.rows = match self.rows {
            Rows::Encoded(Ok(rows)) => Rows::Encoded(rows.moved_to(tables)),
            rows => rows,
        };
        self
    }
}

impl Rows {
    /// Encodes the rows, unless they are encoded.
    ///
    /// # Errors
    /// As [`EncodedRows::of`].
    pub(super) fn encoded(self, tables: &TableMap) -> StoreResult<EncodedRows> {
        match self {
            Self::Encoded(rows) => rows,
            Self::Unencoded(mutations) => EncodedRows::of(tables, mutations),
        }
    }
}

/// Checks that need no state.
fn check_sizes(batch: &WriteBatch) -> StoreResult<()> {
    for condition in &batch.conditions {
        check_key(&condition.key)?;
    }
    for mutation in &batch.mutations {
        check_key(mutation.target().2)?;
        if let Mutation::Replace { fragment, .. } = mutation {
            check_fragment(fragment)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::inner::Inner;
    use crate::load::Load;
    use crate::open::open;
    use crate::options::Options;
    use crate::stamp;
    use bytes::Bytes;
    use fjall::Readable;
    use std::sync::Arc;
    use store::{
        BulkLoad, CommitNo, Condition, Durability, FamilyId, FamilySpec, OnDuplicate, StoreError, TableId, TableSpec,
    };

    const TABLE: TableId = TableId(1);
    const FAMILY: FamilyId = FamilyId(0);

    fn opened(folder: &std::path::Path) -> Arc<Inner> {
        let inner = open(folder, Options { small_load_bytes: 100, ..Options::default() }).unwrap();
        change(
            &inner,
            TableChange::Create(TableSpec { id: TABLE, families: vec![FamilySpec::new(FAMILY)], splits: vec![] }),
        );
        Arc::new(inner)
    }

    fn change(inner: &Inner, change: TableChange) {
        let batch = WriteBatch { tables: vec![change], ..WriteBatch::default() };
        apply(inner, inner.pipeline.prepare(batch).unwrap()).unwrap();
    }

    fn apply(inner: &Inner, batch: Prepared) -> StoreResult<CommitNo> {
        inner.pipeline.apply(batch, Durability::Buffered, &[]).map(|(commit, _)| commit)
    }

    fn fragment() -> Vec<u8> {
        let mut out = Vec::new();
        fragment::encode_sparse(1, &[(1, &[7; 200])], &mut out).unwrap();
        out
    }

    fn put(key: &'static str) -> Mutation {
        Mutation::Replace {
            table: TABLE,
            family: FAMILY,
            key: Bytes::from_static(key.as_bytes()),
            fragment: fragment(),
        }
    }

    fn absent(key: &'static str) -> Condition {
        Condition { table: TABLE, family: FAMILY, key: Bytes::from_static(key.as_bytes()), expect: None }
    }

    /// The commit that wrote a row at the table's current place, and whether that place is an own keyspace.
    fn written_by(inner: &Inner, key: &str) -> (Option<CommitNo>, bool) {
        let newest = inner.pipeline.publisher.newest();
        let (_, place) = newest.tables.place(TABLE, FAMILY).unwrap();
        let found = newest.snapshot.get(&place.keyspace, place.key(key.as_bytes())).unwrap();
        (found.map(|row| stamp::commit_of(&row).unwrap()), place.slot.is_none())
    }

    #[tokio::test]
    async fn rows_go_to_where_their_table_was_moved_after_they_were_encoded() {
        let folder = tempfile::tempdir().unwrap();
        let inner = opened(folder.path());
        let mutations =
            vec![put("b"), Mutation::Delete { table: TABLE, family: FAMILY, key: Bytes::from_static(b"a") }];
        let batch = inner.pipeline.prepare(WriteBatch { mutations, ..WriteBatch::default() }).unwrap();
        assert_eq!(written_by(&inner, "b"), (None, false));
        let mut load = Box::new(Load::new(inner.clone(), TABLE, OnDuplicate::Fail).unwrap());
        load.write(FAMILY, b"a", &fragment()).await.unwrap();
        load.finish().await.unwrap();
        let commit = apply(&inner, batch).unwrap();
        assert_eq!(written_by(&inner, "b"), (Some(commit), true));
        assert_eq!(written_by(&inner, "a"), (None, true), "deleted by the batch, where the load put it");
        let no_key = Mutation::Delete { table: TABLE, family: FAMILY, key: Bytes::new() };
        let batch = inner.pipeline.prepare(WriteBatch { mutations: vec![no_key], ..WriteBatch::default() }).unwrap();
        assert!(matches!(apply(&inner, batch), Err(StoreError::Unsupported { .. })));
    }

    #[test]
    fn conditions_hold_when_the_batch_is_applied_however_many_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let inner = opened(folder.path());
        let keys = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f", "g", "h"];
        for count in [3, keys.len()] {
            let conditions = || keys.iter().take(count).map(|key| absent(key)).collect();
            let batch = || WriteBatch { conditions: conditions(), mutations: vec![put("x")], ..WriteBatch::default() };
            let first = inner.pipeline.prepare(batch()).unwrap();
            let second = inner.pipeline.prepare(batch()).unwrap();
            apply(&inner, second).unwrap();
            let between = WriteBatch { mutations: vec![put("1")], ..WriteBatch::default() };
            apply(&inner, inner.pipeline.prepare(between).unwrap()).unwrap();
            assert!(matches!(apply(&inner, first), Err(StoreError::ConditionFailed { .. })), "{count} conditions");
            let gone = Mutation::Delete { table: TABLE, family: FAMILY, key: Bytes::from_static(b"1") };
            let clean = WriteBatch { mutations: vec![gone], ..WriteBatch::default() };
            apply(&inner, inner.pipeline.prepare(clean).unwrap()).unwrap();
        }
    }

    #[test]
    fn a_condition_that_does_not_hold_is_told_before_a_table_that_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let inner = opened(folder.path());
        let other = TableSpec { id: TableId(2), families: vec![FamilySpec::new(FAMILY)], splits: vec![] };
        change(&inner, TableChange::Create(other));
        let row =
            |table| Mutation::Replace { table, family: FAMILY, key: Bytes::from_static(b"k"), fragment: fragment() };
        let (conditions, mutations) = (vec![absent("k")], vec![row(TableId(2))]);
        let batch =
            || WriteBatch { conditions: conditions.clone(), mutations: mutations.clone(), ..WriteBatch::default() };
        let before = inner.pipeline.prepare(batch()).unwrap();
        change(&inner, TableChange::Drop(TableId(2)));
        let after = inner.pipeline.prepare(batch()).unwrap();
        let third = inner.pipeline.prepare(batch()).unwrap();
        assert!(matches!(apply(&inner, third), Err(StoreError::NoSuchTable { table: TableId(2) })));
        let written = WriteBatch { mutations: vec![row(TABLE)], ..WriteBatch::default() };
        apply(&inner, inner.pipeline.prepare(written).unwrap()).unwrap();
        for batch in [before, after] {
            assert!(matches!(apply(&inner, batch), Err(StoreError::ConditionFailed { table: TABLE, .. })));
        }
    }
}
