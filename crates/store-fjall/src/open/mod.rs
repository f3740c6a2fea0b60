//! Opening a folder: lock, recovery, fjall, the tables, the background threads.

pub(crate) mod archive;
pub(crate) mod folder;
pub(crate) mod keyspace_files;
pub(crate) mod keyspace_folders;
pub(crate) mod keyspace_names;
pub(crate) mod manifests;
pub(crate) mod recovery;

use crate::commit::group_sync::GroupSync;
use crate::commit::journal_file::JournalFile;
use crate::commit::pipeline::{Dropped, Last, Parts, Pipeline};
use crate::commit::publish::{Publisher, State};
use crate::commit::seqnos::Seqnos;
use crate::disk_room::DiskRoom;
use crate::error::{engine, io};
use crate::housekeeping::compaction;
use crate::inner::Inner;
use crate::journal::new_journal;
use crate::journal::replay_floors::ReplayFloors;
use crate::journal::watermark::{Mark, Watermark};
use crate::large::redo;
use crate::meta;
use crate::open::folder::{Folder, sync_folder};
use crate::open::keyspace_files::PlaceholderFiles;
use crate::open::keyspace_folders::KeyspaceFolders;
use crate::open::keyspace_names::Names;
use crate::options::{FEWEST_FILES, Options};
use crate::read_only::ReadOnly;
use crate::seam::engine_threads;
use crate::snapshots::Nonces;
use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use store::{CommitNo, StoreError, StoreResult, Timestamp};

/// Opens the store in `path`, and creates it if it does not exist.
///
/// # Errors
/// As [`crate::FjallStore::open`].
pub(crate) fn open(path: &Path, options: Options) -> StoreResult<Inner> {
    let folder = Folder::open(path)?;
    let fresh = recovery::clear_interrupted_creation(&folder)?;
    let watermark = Arc::new(Watermark::open(&folder.watermark(), fresh)?);
    let mark = watermark.mark();
    // Before the first commit a creation may have been interrupted, for example by a power loss.
    let written = mark.commit_ceiling > 0;
    manifests::check(&folder.database())?;
    let folders = KeyspaceFolders::of(&folder);
    let names = folders.names()?.map(|names| Names::open(&names)).transpose()?;
    let meta_id = names.as_ref().map_or(Ok(None), |names| folders.find(names, meta::META))?;
    let journals = recovery::repair_journals(&folder.database(), &mark, meta_id)?;
    let floors = ReplayFloors::open(&folder)?;
    let prepared = prepare(&folders, names, &mark, journals.next_seqno)?;
    watermark.marks_begin_behind(journals.active.unwrap_or(0))?;
    let placeholder_files =
        if written { PlaceholderFiles::put(&folder.database())? } else { PlaceholderFiles::default() };
    if let Some(last) = prepared.last_id {
        watermark.reserve_keyspace_id(last)?;
        folders.reserve(last)?;
    }
    let db = open_database(&folder, &options).map_err(|error| placeholder_files.explain(error))?;
    drop(placeholder_files);
    advance_seqno(&db, prepared.next_seqno);
    if written {
        meta::check_keyspaces_exist(&db)?;
    }
    let meta = keyspace(&db, &watermark, meta::META)?;
    let shared = keyspace(&db, &watermark, meta::SHARED)?;
    let found = meta::load(&db, &meta, &shared, &db.snapshot())?;
    let journal = Arc::new(JournalFile::open(&db, &folder.database())?);
    // Replayed batches may never have been synced. They are published now, so they must be durable first.
    journal.sync()?;
    let read_only = Arc::new(ReadOnly::new(folder.path().to_owned()));
    if written && engine_threads::BEGIN_JOURNALS && has_room(&folder, &options) {
        let begun = new_journal::begin(&db, &meta, &journal, &folder.database());
        // The store stays readable.
        begun.unwrap_or_else(|error| drop(read_only.set(&error)));
    }
    let seqnos = Seqnos::new(journals.last_seqno);
    if let Some(intent) = &found.intent {
        let home = |name: &str| meta::existing_keyspace(&db, name);
        redo::redo(&db, &meta, &seqnos, &folder.staged(), intent, home)?;
        journal.sync()?;
    }
    redo::delete_staged(&folder.staged())?;
    folders.delete_unnamed()?;
    delete_orphans(&db, &found)?;

    let last = Last {
        commit: CommitNo(mark.commit_ceiling.saturating_sub(1)),
        stamp: options.clock.now().max(Timestamp(mark.last_stamp)),
    };
    let nonces = Nonces::default();
    let snapshot = nonces.take(&db);
    let state = State { commit: last.commit, snapshot, tables: Arc::new(found.tables), views: Arc::default() };
    let publisher = Arc::new(Publisher::new(state));
    let group_sync = Arc::new(GroupSync::new(publisher.clone(), journal, read_only.clone()));
    let clock = options.clock.clone();
    let parts = Parts { db, meta, shared, publisher, read_only, group_sync, watermark, nonces, clock, last, seqnos };
    let pipeline = Pipeline::new(parts);
    let reclaim = Dropped { slots: found.purges, keyspaces: Vec::new() };
    Ok(Inner::new(pipeline, folder, floors, options, reclaim))
}

/// Returns true if there is disk space for a new journal; otherwise the store opens with the old one.
fn has_room(folder: &Folder, options: &Options) -> bool {
    DiskRoom::new(folder.path().to_owned(), options.disk.clone()).take(new_journal::BYTES).is_ok()
}

/// The lower bounds of fjall's counters.
struct Prepared {
    /// The largest keyspace id ever used, if any.
    last_id: Option<u64>,
    next_seqno: u64,
}

fn prepare(folders: &KeyspaceFolders, names: Option<Names>, mark: &Mark, next_seqno: u64) -> StoreResult<Prepared> {
    let Some(names) = names else {
        // The first opening was interrupted early, or keyspace 0 is damaged, which the stand-ins report.
        return Ok(Prepared { last_id: None, next_seqno });
    };
    let highest = folders.prepare(&names)?.max(names.highest_id());
    let last_id = Some(highest.max(mark.keyspace_ceiling.saturating_sub(1))).filter(|&id| id > 0);
    Ok(Prepared { last_id, next_seqno: next_seqno.max(names.next_seqno()) })
}

/// Advances fjall's sequence numbers. fjall continues after the highest in its keyspaces, but ignores those in its own
/// records and those of deleted keyspaces in the journals. A tombstone in the records must be newer than the record
/// that it deletes.
fn advance_seqno(db: &Database, next: u64) {
    db.supervisor.seqno.fetch_max(next);
    db.supervisor.snapshot_tracker.set(next);
}

fn open_database(folder: &Folder, options: &Options) -> StoreResult<Database> {
    let path = folder.database();
    let builder = engine_threads::count(Database::builder(&path), options.worker_threads)
        .cache_size(options.cache_bytes)
        .max_cached_files(Some(options.cached_files.max(FEWEST_FILES)))
        // The store's own limit of memtable entries bounds the journals. Above this size fjall would seal memtables.
        .max_journaling_size(u64::MAX);
    // fjall asserts properties of its files; a manipulated folder must not cause a panic here.
    let opened = catch_unwind(AssertUnwindSafe(|| builder.open()));
    let opened = opened.map_err(|_| StoreError::Corrupted { detail: format!("{} is not sound", path.display()) })?;
    let db = opened.map_err(|error| match error {
        fjall::Error::Locked => StoreError::Locked { path: folder.path().display().to_string() },
        other => engine(format!("opening {}", path.display()))(other),
    })?;
    // fjall syncs the content of its folder, but neither that folder's parent nor the folder of the keyspaces.
    sync_folder(folder.path())?;
    sync_folder(&path.join("keyspaces"))?;
    Ok(db)
}

/// Opens or creates a keyspace.
///
/// # Errors
/// I/O failures.
pub(crate) fn keyspace(db: &Database, watermark: &Watermark, name: &str) -> StoreResult<Keyspace> {
    let opened = db.keyspace(name, keyspace_options).map_err(engine(format!("opening keyspace {name}")))?;
    watermark.reserve_keyspace_id(opened.id())?;
    // fjall syncs the content of a new keyspace's folder, but not its parent: without this sync a power loss may delete
    // the whole keyspace (crates/sim demonstrates it).
    opened.path().parent().map_or(Ok(()), sync_folder)?;
    Ok(opened)
}

/// 16 KiB blocks with LZ4 on every level: fastest for scans in measurements, and half the disk space. The policies must
/// cover all levels, because ingested tables use those of level 1.
fn keyspace_options() -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .data_block_size_policy(BlockSizePolicy::all(16 << 10))
        .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
        // Only the store's own budget seals memtables, see `flush::rotate`.
        .max_memtable_size(u64::MAX)
        .compaction_strategy(compaction::of_fjall())
}

/// Deletes keyspaces of interrupted loads, and of tables that were dropped just before a crash.
fn delete_orphans(db: &Database, found: &meta::Meta) -> StoreResult<()> {
    for name in meta::orphans(db, &found.tables) {
        tracing::info!(keyspace = %name, "deleting a keyspace that no table uses");
        let handle = db.keyspace(&name, keyspace_options).map_err(engine(format!("opening keyspace {name}")))?;
        db.delete_keyspace(handle).map_err(engine(format!("deleting keyspace {name}")))?;
    }
    Ok(())
}

/// Returns the size of a file.
///
/// # Errors
/// I/O failures.
pub(crate) fn file_len(path: &Path) -> StoreResult<u64> {
    Ok(std::fs::metadata(path).map_err(io(format!("reading {}", path.display())))?.len())
}
