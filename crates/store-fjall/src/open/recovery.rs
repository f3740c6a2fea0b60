//! Recovery before fjall opens the folder: cuts a torn tail and refuses any other damage.
//!
//! ```text
//!   journals   3.jnl (sealed)      4.jnl (sealed)      5.jnl (active)
//!              durable             durable             durable up to the watermark │ may be torn
//! ```
//! fjall syncs a journal before it begins the next, so every journal except the last one with batches must be
//! undamaged. A journal also ends where a write failed; after that fjall writes no batch, but may create an empty
//! journal. The last journal must be undamaged up to the watermark. Bytes after a damaged place beyond it were not
//! acknowledged as durable before the watermark was written, and are cut. fjall itself would cut silently at any damage
//! or, with values over 4 KiB in the tail, refuse to open.

use crate::commit::journal_file::{journal_ids, journal_path};
use crate::error::io;
use crate::journal::reader::{self, JournalEnd, Rules};
use crate::journal::seqno_chain::{Chain, Wrong};
use crate::journal::watermark::{self, Mark};
use crate::open::file_len;
use crate::open::folder::{Folder, sync_folder};
use crate::seam::files;
use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use store::{StoreError, StoreResult};

/// fjall writes this file when it creates a database, and creates a new database if it is missing.
const FJALL_VERSION_FILE: &str = "version";
/// The content of that file.
const FJALL_VERSION: &[u8] = b"FJL\x03";

/// Deletes the remains of an interrupted first open. Returns whether the store must be created.
///
/// The watermark decides: it is durable before fjall creates a file, and its commit ceiling is raised before the first
/// commit is written. With a ceiling of 0 there are no commits to lose; otherwise nothing is deleted.
///
/// # Errors
/// [`StoreError::Corrupted`] if files of a store with commits are missing; I/O failures.
pub(crate) fn clear_interrupted_creation(folder: &Folder) -> StoreResult<bool> {
    let database = folder.database();
    let there = database.try_exists().map_err(io(format!("reading {}", database.display())))?;
    let path = folder.watermark();
    match watermark::peek(&path)? {
        Some(mark) if mark.commit_ceiling > 0 => must_be_made(&database.join(FJALL_VERSION_FILE)).map(|()| false),
        None if there => Err(StoreError::Corrupted { detail: format!("{} is missing or damaged", path.display()) }),
        _ => clear(folder, &database).map(|()| true),
    }
}

fn must_be_made(marker: &Path) -> StoreResult<()> {
    let wrong = |what: &str| Err(StoreError::Corrupted { detail: format!("{} is {what}", marker.display()) });
    match fs::read(marker) {
        Ok(bytes) if bytes == FJALL_VERSION => Ok(()),
        Ok(_) => wrong("damaged"),
        Err(error) if error.kind() == ErrorKind::NotFound => wrong("missing"),
        Err(error) => Err(io(format!("reading {}", marker.display()))(error)),
    }
}

/// Durable before the watermark is rewritten, so that no database exists without a watermark.
fn clear(folder: &Folder, database: &Path) -> StoreResult<()> {
    for path in [database, &folder.unnamed()] {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(io(format!("clearing {}", path.display()))(error));
            }
            _ => {}
        }
    }
    sync_folder(folder.path())
}

/// The result of reading the journals.
#[derive(Default)]
pub(crate) struct Journals {
    /// The sequence number after those of all batches.
    pub(crate) next_seqno: u64,
    /// The sequence number of the last batch.
    pub(crate) last_seqno: Option<u64>,
    /// The journal that fjall continues with.
    pub(crate) active: Option<u64>,
}

/// Checks all journals against the watermark and cuts a torn tail. `meta` is the id of the meta keyspace.
///
/// # Errors
/// [`StoreError::Corrupted`] for damage in the durable part; I/O failures.
pub(crate) fn repair_journals(database: &Path, mark: &Mark, meta: Option<u64>) -> StoreResult<Journals> {
    let mut journals = Journals::default();
    if !database.try_exists().map_err(io(format!("reading {}", database.display())))? {
        return Ok(journals);
    }
    let ids = journal_ids(database)?;
    if ids.last().is_none_or(|active| *active < mark.journal) {
        return missing(mark.journal);
    }
    let mut chain = Chain::default();
    let mut ends = Vec::with_capacity(ids.len());
    for id in ids {
        ends.push((id, check_journal(database, id, mark, meta, &mut chain)?));
        journals.active = Some(id);
    }
    let last = ends.iter().rposition(|(_, end)| end.torn || end.batches > 0);
    for (at, (id, end)) in ends.iter().enumerate() {
        let durable = match id.cmp(&mark.journal) {
            Ordering::Less => !end.torn,
            Ordering::Equal => end.whole_bytes >= mark.journal_bytes,
            Ordering::Greater => true,
        };
        if !durable || end.wrong == Some(Wrong::Previous) || (end.torn && Some(at) != last) {
            return damaged(*id, end);
        }
        if end.torn {
            cut(&journal_path(database, *id), end)?;
        }
        journals.next_seqno = journals.next_seqno.max(end.next_seqno);
    }
    journals.last_seqno = chain.last_seqno();
    Ok(journals)
}

/// Checks the journals of an open store up to the watermark and describes the first damage.
///
/// # Errors
/// I/O failures.
pub(crate) fn find_damage(database: &Path, mark: &Mark, meta: u64) -> StoreResult<Option<String>> {
    let mut chain = Chain::default();
    for id in journal_ids(database)?.into_iter().filter(|id| *id <= mark.journal) {
        let end = match check_journal(database, id, mark, Some(meta), &mut chain) {
            Ok(end) => end,
            // Deleted since the listing, because all of its rows are in tables.
            Err(_) if !journal_path(database, id).exists() => {
                chain = Chain::default();
                continue;
            }
            Err(error) => return Err(error),
        };
        let whole = if id == mark.journal { end.whole_bytes >= mark.journal_bytes } else { !end.torn };
        if !whole {
            return Ok(Some(describe(id, &end)));
        }
    }
    Ok(None)
}

/// Reads a journal that follows those checked with `chain`.
///
/// # Errors
/// I/O failures.
pub(crate) fn check_journal(
    database: &Path,
    id: u64,
    mark: &Mark,
    meta: Option<u64>,
    chain: &mut Chain,
) -> StoreResult<JournalEnd> {
    if id >= mark.marked_from {
        chain.begin_strict();
    }
    let known = mark.last_seqno.filter(|_| id == mark.journal).map(|seqno| (mark.journal_bytes, seqno));
    let path = journal_path(database, id);
    let doing = || io(format!("reading {}", path.display()));
    File::open(&path).and_then(|file| reader::check(file, Rules { chain, meta, known })).map_err(doing())
}

fn missing<T>(journal: u64) -> StoreResult<T> {
    Err(StoreError::Corrupted { detail: format!("journal {journal}.jnl is missing") })
}

fn damaged<T>(journal: u64, end: &JournalEnd) -> StoreResult<T> {
    Err(StoreError::Corrupted { detail: describe(journal, end) })
}

fn describe(journal: u64, end: &JournalEnd) -> String {
    let what = match end.wrong {
        None => "",
        Some(Wrong::This) => ": a batch has a sequence number that is not its own",
        Some(Wrong::Previous) => ": the last batch of the journal before has a sequence number that is not its own",
    };
    format!(
        "journal {journal}.jnl is damaged after byte {}, in a part that was durable ({} batches before it are whole){what}",
        end.whole_bytes, end.batches
    )
}

fn cut(path: &Path, end: &JournalEnd) -> StoreResult<()> {
    let before = file_len(path)?;
    tracing::warn!(
        journal = %path.display(),
        kept_bytes = end.whole_bytes,
        cut_bytes = before.saturating_sub(end.whole_bytes),
        "the journal ends in a commit that was never synced: cut"
    );
    let doing = || io(format!("cutting {}", path.display()));
    let file = File::options().write(true).open(path).map_err(doing())?;
    file.set_len(end.whole_bytes).map_err(doing())?;
    files::sync_all(&file).map_err(doing())
}
