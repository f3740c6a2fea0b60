//! Writes the rows of a table into new keyspaces, merged with its stored rows, on several threads with a key range
//! each.

use super::duplicates::absent;
use super::install::{rows_of, stored_rows};
use super::loaded::Loaded;
use super::merge::Merge;
use super::stream::Streamed;
use super::writer::{NewKeyspaces, Writer};
use crate::commit::pipeline::{Fence, Last};
use crate::commit::publish::State;
use crate::error::engine;
use crate::inner::Inner;
use crate::placement::{Place, Table};
use fjall::Keyspace;
use std::sync::Arc;
use store::{FamilyId, KeyRange, LoadTable, OnDuplicate, StoreResult};

/// Rows in new keyspaces, not published yet.
pub(super) struct Moved {
    pub(super) stamp: Last,
    pub(super) homes: NewKeyspaces,
    pub(super) fence: Fence,
    /// Whether these are only the rows of the load, without stored rows of the table.
    pub(super) alone: bool,
}

/// A table whose rows are being moved.
pub(super) struct Move {
    inner: Arc<Inner>,
    of: LoadTable,
    /// The state from which the stored rows are read.
    state: Arc<State>,
    table: Arc<Table>,
    rows: RowsFrom,
    stamp: Last,
    homes: Vec<(FamilyId, Keyspace)>,
    pieces: Vec<KeyRange>,
}

/// The location of the load's rows.
pub(super) enum RowsFrom {
    Loaded(Arc<Loaded>),
    /// Keyspaces that contain exactly the rows of the load.
    Keyspaces(Arc<NewKeyspaces>),
}

impl Move {
    /// Creates the keyspaces and splits the rows into pieces for at most `threads` threads. The move is complete when
    /// all pieces are written.
    ///
    /// # Errors
    /// I/O failures; [`store::StoreError::NoSuchTable`].
    pub(super) fn begin(
        inner: &Arc<Inner>,
        of: &LoadTable,
        rows: RowsFrom,
        threads: usize,
    ) -> StoreResult<(Self, Moved)> {
        let state = inner.pipeline.publisher.newest().clone();
        let table = state.tables.table(of.table)?.clone();
        let stamp = inner.pipeline.reserve_stamp()?;
        let mut homes = NewKeyspaces::none(inner);
        for family in &table.families {
            homes.make(of.table, family.id, stamp.commit)?;
        }
        let pieces = match &rows {
            RowsFrom::Loaded(loaded) if table.families.len() == 1 => loaded.pieces(of, threads)?,
            _ => vec![KeyRange::all()],
        };
        let fence = Fence { table: of.table, since: state.commit };
        let made = homes.made.clone();
        let moving = Self { inner: inner.clone(), of: of.clone(), state, table, rows, stamp, homes: made, pieces };
        Ok((moving, Moved { stamp, homes, fence, alone: false }))
    }

    /// Number of pieces to write.
    pub(super) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Writes one piece.
    ///
    /// # Errors
    /// As [`store::BulkLoad::finish`].
    pub(super) fn write(&self, piece: usize) -> StoreResult<()> {
        let Some(range) = self.pieces.get(piece) else { return Ok(()) };
        // Stored rows come first, so that rows of the load win.
        let families = self.table.families.iter();
        let mut sources: Vec<_> =
            families.map(|family| stored_rows(&self.state, family.id, &family.place, range)).collect();
        match &self.rows {
            RowsFrom::Loaded(loaded) => sources.extend(loaded.sources(range, self.pieces.len())?),
            RowsFrom::Keyspaces(homes) => sources.extend(rows_of(&self.inner, homes)),
        }
        Writer::with_stamp(self.of.clone(), self.stamp).write_all(Merge::new(sources)?, &self.homes)
    }
}

/// Adds rows to streamed rows, whose keyspace is not in use yet.
///
/// # Errors
/// As [`store::BulkLoad::finish`].
pub(super) fn extend(inner: &Inner, of: LoadTable, loaded: &Loaded, streamed: Streamed) -> StoreResult<Moved> {
    let Streamed { homes, stamp, empty_at } = streamed;
    let fence = Fence { table: of.table, since: empty_at };
    let merge = Merge::new(loaded.sources(&KeyRange::all(), 1)?)?;
    if !merge.is_empty() {
        add(inner, Writer::with_stamp(of, stamp), merge, homes.only()?)?;
    }
    Ok(Moved { stamp, homes, fence, alone: true })
}

fn add(inner: &Inner, mut writer: Writer, merge: Merge, home: &Keyspace) -> StoreResult<()> {
    // The keyspace is not in use yet, so this snapshot contains exactly the streamed rows.
    let looks = writer.of.on_duplicate == OnDuplicate::Fail || writer.of.unique.is_some();
    let before = looks.then(|| inner.pipeline.nonces.take(&inner.pipeline.db));
    let place = Place::own(home.clone());
    let mut ingestion = home.start_ingestion().map_err(engine("beginning an ingestion"))?;
    merge.run(|_, key, fragment, origin| {
        writer.check(key, origin)?;
        if let Some(before) = &before {
            absent(&writer.of, before, &place, key)?;
        }
        writer.stamp_new(fragment, origin)?;
        ingestion.write(key, &*fragment).map_err(engine("writing a run"))
    })?;
    ingestion.finish().map_err(engine("installing a run"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::load::bed::{FAMILY, TABLE, create, fragment, store};
    use fjall::{AbstractTree, Readable};
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;
    use store::{LoadRows, LoadTable, OnDuplicate, Store, StoreError, TableId, UniquePrefix};

    const ROWS: u32 = 20_000;

    /// Distinct numbers in no order.
    fn mixed(number: u32) -> [u8; 4] {
        number.wrapping_mul(0x9E37_79B9).to_be_bytes()
    }

    #[tokio::test]
    async fn pieces_of_a_load_are_one_run_of_all_rows() {
        for load_threads in [1, 2, 7] {
            let folder = tempfile::tempdir().unwrap();
            let store = store(folder.path(), load_threads).await;
            let mut load = store.bulk_load(TABLE, OnDuplicate::Fail).await.unwrap();
            for number in 0..ROWS {
                load.write(FAMILY, &mixed(number), &fragment()).await.unwrap();
            }
            load.finish().await.unwrap();
            let state = store.inner().pipeline.publisher.newest().clone();
            let (_, place) = state.tables.place(TABLE, FAMILY).unwrap();
            // fjall may have moved some tables to another level.
            let version = place.keyspace.tree.current_version();
            let runs = version.iter_levels().map(|level| level.run_count()).max();
            assert_eq!(runs, Some(1), "{load_threads} threads");
            assert!(place.keyspace.table_count() >= load_threads.min(2), "{load_threads} threads");
            let keys = state.snapshot.iter(&place.keyspace).map(|row| row.key().unwrap().to_vec());
            assert!(keys.eq((0..ROWS).map(|number| mixed(number).to_vec()).collect::<BTreeSet<_>>()));
        }
    }

    #[tokio::test]
    async fn rows_of_every_shape_come_out_as_they_went_in() {
        let value = |number: u32, same: bool| {
            let (mut out, value) = (Vec::new(), if same { 7 } else { number });
            fragment::encode_sparse(1, &[(1, &value.to_be_bytes())], &mut out).unwrap();
            out
        };
        // Keys of one length with few differing bits, of one length with many, and of many lengths.
        let keys: [fn(u32) -> Vec<u8>; 3] = [
            |number| [[0x80, 0, 0, 0, 1], [number as u8, 0, 0, (number >> 8) as u8, 0]].concat(),
            |number| (0..6).flat_map(|at| mixed(number.wrapping_mul(2 * at + 1))).collect(),
            |number| mixed(number).repeat(1 + number as usize % 20),
        ];
        for (key, same) in keys.into_iter().flat_map(|key| [(key, true), (key, false)]) {
            let folder = tempfile::tempdir().unwrap();
            let store = store(folder.path(), 2).await;
            let mut load = store.bulk_load(TABLE, OnDuplicate::Replace).await.unwrap();
            // In no order, with repetitions.
            let numbers = || (0..ROWS).map(|number| number.wrapping_mul(7919) % ROWS).chain(0..ROWS / 3);
            for (at, number) in numbers().enumerate() {
                load.write(FAMILY, &key(number), &value(at as u32, same)).await.unwrap();
            }
            load.finish().await.unwrap();
            let expected: BTreeMap<_, _> =
                numbers().enumerate().map(|(at, number)| (key(number), value(at as u32, same))).collect();
            let state = store.inner().pipeline.publisher.newest().clone();
            let (_, place) = state.tables.place(TABLE, FAMILY).unwrap();
            let mut found = BTreeMap::new();
            for row in state.snapshot.iter(&place.keyspace) {
                let (key, mut stored) = row.into_inner().map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap();
                // Clears the stamp of the load.
                crate::stamp::write(&mut stored, store::Timestamp(0), store::CommitNo(0)).unwrap();
                found.insert(key, stored);
            }
            assert!(found == expected, "fragments are the same: {same}, {} of {} rows", found.len(), expected.len());
        }
    }

    #[tokio::test]
    async fn two_keys_with_one_unique_prefix_are_found_wherever_the_pieces_are_cut() {
        let other = TableId(2);
        for doubled in [0, 1, ROWS / 2, ROWS - 1] {
            let folder = tempfile::tempdir().unwrap();
            let store = store(folder.path(), 7).await;
            create(&store, other).await;
            let mut load = store.bulk_load(TABLE, OnDuplicate::Fail).await.unwrap();
            let unique: UniquePrefix = Arc::new(|_: &[u8]| Ok(Some(4)));
            let on_duplicate = OnDuplicate::Replace;
            load.add_table(LoadTable { table: other, on_duplicate, unique: Some(unique) }).unwrap();
            for (number, end) in (0..ROWS).map(|number| (number, 0)).chain([(doubled, 1)]) {
                let mut rows = LoadRows::default();
                rows.push(&[mixed(number).as_slice(), &[end]].concat(), &fragment());
                load.write_rows_of(other, FAMILY, rows).await.unwrap();
            }
            let failed = load.finish().await.unwrap_err();
            assert!(matches!(failed, StoreError::DuplicateKey { .. }), "{doubled}: {failed}");
        }
    }
}
