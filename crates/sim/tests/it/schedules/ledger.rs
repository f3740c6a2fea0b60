//! The operations in one life of the store, their results, and the reads.
//!
//! Commits are ordered by number. So once all results are known, the tables after each commit are known, and with them
//! the expected content of each snapshot, independent of concurrency. Cancelled deeds are recognized by their rows,
//! which no other client writes or deletes.

use super::reading::Found;
use super::tables::{Change, Deed, Read, Tables, difference};
use bennu_sim::scheduler;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;
use store::{CommitNo, StoreError};

/// A commit number after all others.
const END: u64 = u64::MAX - 1;

/// The result of a deed.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    UnderWay,
    /// Acknowledged with this commit number.
    Done(u64),
    Refused(StoreError),
    /// Cancelled by the caller.
    Unknown,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) deed: Deed,
    /// The highest acknowledged commit at its beginning.
    floor: u64,
    begun: u64,
    ended: u64,
    pub(crate) outcome: Outcome,
}

/// A table as read at a snapshot.
#[derive(Clone, Debug)]
struct Seen {
    commit: u64,
    table: u32,
    rows: Option<BTreeMap<u64, Read>>,
}

/// The ledger of one life.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// The tables at its beginning.
    pub(crate) base: Tables,
    /// Number of the first deed. Deeds are numbered across lives.
    pub(crate) first: u64,
    pub(crate) entries: Vec<Entry>,
    seen: Vec<Seen>,
    /// The highest acknowledged commit.
    pub(crate) acknowledged: u64,
    /// The highest commit that was reported as durable, and so is visible.
    pub(crate) durable: u64,
    /// The highest commit that survives a kill of the process: a `Buffered` commit once acknowledged, a `Sync` commit
    /// once reported as durable or published.
    pub(crate) kept: u64,
    /// The highest commit of a snapshot.
    shown: u64,
    /// Set when the store is being closed.
    pub(crate) closing: bool,
    /// The file to which durable commits are written, one per line.
    pub(crate) acks: Option<Arc<File>>,
}

impl Ledger {
    pub(crate) fn new(base: Tables, base_commit: u64, first: u64) -> Self {
        let (acknowledged, durable, kept) = (base_commit, base_commit, base_commit);
        Self { base, first, acknowledged, durable, kept, ..Self::default() }
    }

    /// Records the beginning of a deed. Returns its number.
    pub(crate) fn begin(&mut self, deed: Deed) -> u64 {
        let begun = scheduler::steps();
        let outcome = Outcome::UnderWay;
        self.entries.push(Entry { deed, floor: self.acknowledged, begun, ended: u64::MAX, outcome });
        self.first + self.entries.len() as u64 - 1
    }

    /// Records the result of a deed.
    pub(crate) fn end(&mut self, number: u64, outcome: Outcome) {
        if let Outcome::Done(commit) = outcome {
            self.acknowledged = self.acknowledged.max(commit);
        }
        let told = match &outcome {
            Outcome::Done(commit) => *commit,
            other => format!("{other:?}").len() as u64,
        };
        scheduler::note(told);
        let entry = &mut self.entries[(number - self.first) as usize];
        if let (Outcome::Done(commit), false) = (&outcome, entry.deed.sync) {
            self.kept = self.kept.max(*commit);
        }
        (entry.outcome, entry.ended) = (outcome, scheduler::steps());
    }

    /// Records a successful sync.
    pub(crate) fn synced(&mut self, commit: CommitNo) {
        self.durable = self.durable.max(commit.0);
        self.kept = self.kept.max(commit.0);
        self.say(commit.0);
    }

    fn say(&self, commit: u64) {
        if let Some(acks) = &self.acks {
            acks.as_ref().write_all(format!("{commit}\n").as_bytes()).unwrap();
        }
    }

    /// The minimum commit of a snapshot taken now.
    pub(crate) fn visible(&self) -> u64 {
        self.durable.max(self.shown)
    }

    /// Records a snapshot.
    pub(crate) fn taken(&mut self, commit: u64, at_least: u64) {
        assert!(commit >= at_least, "a snapshot of commit {commit}, though {at_least} was visible before");
        self.shown = self.shown.max(commit);
        // A published `Sync` commit is durable, so it survives.
        let sync = self.last_sync_up_to(commit);
        self.kept = self.kept.max(sync);
        self.say(sync);
    }

    /// Records a table read at a snapshot.
    pub(crate) fn read(&mut self, commit: u64, table: u32, rows: Option<BTreeMap<u64, Read>>) {
        scheduler::note(rows.as_ref().map_or(0, |rows| 1 + rows.len() as u64));
        self.seen.push(Seen { commit, table, rows });
    }

    /// The highest commit number in any result or read.
    pub(crate) fn highest(&self) -> u64 {
        let stamps = self.seen.iter().filter_map(|seen| seen.rows.as_ref()).flat_map(BTreeMap::values);
        stamps.map(|row| row.1).max().unwrap_or(0).max(self.acknowledged)
    }

    /// The last `Sync` commit up to this one.
    pub(crate) fn last_sync_up_to(&self, commit: u64) -> u64 {
        let done = self.entries.iter().filter_map(|entry| match entry.outcome {
            Outcome::Done(number) if entry.deed.sync && number <= commit => Some(number),
            _ => None,
        });
        done.max().unwrap_or(0)
    }

    /// The committed deeds by commit number.
    fn commits(&self) -> BTreeMap<u64, usize> {
        let mut commits = BTreeMap::new();
        for (at, entry) in self.entries.iter().enumerate() {
            let commit = match entry.outcome {
                Outcome::Done(commit) => commit,
                // An abandoned load has no effect.
                Outcome::Unknown if entry.deed.loads => continue,
                Outcome::Unknown => match self.sighted(at) {
                    Some(commit) => commit,
                    None => continue,
                },
                Outcome::Refused(_) | Outcome::UnderWay => continue,
            };
            let other = commits.insert(commit, at);
            let told = || [other.unwrap_or(at), at].map(|at| self.tell_deed(at)).join("\n  ");
            assert!(other.is_none(), "commit {commit} is that of two deeds:\n  {}", told());
            assert!(commit > entry.floor, "deed {at} got commit {commit}, though {} was acknowledged", entry.floor);
        }
        commits
    }

    /// The commit of a cancelled deed, if any of its rows was read.
    fn sighted(&self, at: usize) -> Option<u64> {
        let writer = self.first + at as u64;
        let stamps = self.seen.iter().filter_map(|seen| seen.rows.as_ref());
        let mut stamps = stamps.flat_map(BTreeMap::values).filter(|row| row.0 == writer).map(|row| row.1);
        stamps.next()
    }

    /// Checks all results and reads, once all results are known.
    pub(crate) fn verify(&self) {
        let commits = self.commits();
        let mut seen: Vec<&Seen> = self.seen.iter().collect();
        seen.sort_by_key(|seen| seen.commit);
        let mut seen = seen.into_iter().peekable();
        let mut tables = self.base.clone();
        let mut check = |tables: &Tables, before: u64| {
            while let Some(seen) = seen.next_if(|seen| seen.commit < before) {
                let wrong = difference(tables.get(&seen.table), seen.rows.as_ref());
                let about = || self.tell(seen.table);
                assert!(
                    wrong.is_none(),
                    "table {} at commit {}: {}{}",
                    seen.table,
                    seen.commit,
                    wrong.unwrap(),
                    about()
                );
            }
        };
        for (commit, at) in commits {
            check(&tables, commit);
            self.apply(&mut tables, commit, at).unwrap_or_else(|error| panic!("commit {commit}: {error}"));
        }
        check(&tables, u64::MAX);
        self.entries.iter().for_each(|entry| self.judge(entry));
    }

    fn apply(&self, tables: &mut Tables, commit: u64, at: usize) -> Result<(), String> {
        let deed = &self.entries[at].deed;
        deed.apply(tables, self.first + at as u64, commit).map_err(|error| format!("{error}; deed {at}"))
    }

    /// Adds the content that the next life found, as of the end of this one.
    pub(crate) fn found(&mut self, found: &Found) {
        self.sight(found);
        let due: Vec<u32> = self.last().into_keys().collect();
        for table in due.into_iter().filter(|table| !found.contains_key(table)) {
            self.seen.push(Seen { commit: END, table, rows: None });
        }
    }

    /// Adds reads after the end, so that cancelled deeds are recognized by their rows.
    fn sight(&mut self, found: &Found) {
        let seen = found.iter().map(|(table, rows)| Seen { commit: END, table: *table, rows: Some(rows.clone()) });
        self.seen.extend(seen);
    }

    fn tell_deed(&self, at: usize) -> String {
        let Some(Entry { deed, outcome, begun, ended, .. }) = self.entries.get(at) else { return String::new() };
        let changes = (deed.changes.first(), deed.changes.len());
        format!("{at}: {outcome:?}, sync {}, load {}, {changes:?}, steps {begun} to {ended}", deed.sync, deed.loads)
    }

    /// The deeds on a table, as text.
    fn tell(&self, table: u32) -> String {
        let mut told = String::from("\ndeeds:\n");
        for (at, entry) in self.entries.iter().enumerate() {
            let changes: Vec<&Change> = entry.deed.changes.iter().filter(|change| change.table() == table).collect();
            if !changes.is_empty() {
                let (first, last) = (changes[0], changes[changes.len() - 1]);
                let (outcome, writer, count) = (&entry.outcome, self.first + at as u64, changes.len());
                let (sync, loads) = (entry.deed.sync, entry.deed.loads);
                let _ = writeln!(
                    told,
                    "  {writer}: {outcome:?} sync {sync} load {loads}: {count} from {first:?} to {last:?}, steps {} to {}",
                    entry.begun, entry.ended
                );
            }
        }
        told
    }

    /// The tables after all commits.
    pub(crate) fn last(&self) -> Tables {
        let mut tables = self.base.clone();
        for (commit, at) in self.commits() {
            self.apply(&mut tables, commit, at).unwrap();
        }
        tables
    }

    /// The tables after a crash: those after some commit that is at least `floor`.
    pub(crate) fn left(&mut self, floor: u64, read: &Found) -> Result<Tables, String> {
        self.sight(read);
        let mut tables = self.base.clone();
        let mut commits = self.commits().into_iter().peekable();
        while let Some((commit, at)) = commits.next_if(|(commit, _)| *commit <= floor) {
            self.apply(&mut tables, commit, at)?;
        }
        let mut first = None;
        loop {
            let Some(wrong) = differs(&tables, read) else { return Ok(tables) };
            first.get_or_insert(wrong);
            let Some((commit, at)) = commits.next() else { break };
            self.apply(&mut tables, commit, at)?;
        }
        Err(format!("what is left is not what any commit from {floor} on left; {}", first.unwrap_or_default()))
    }

    /// Checks that there was a reason for an error.
    fn judge(&self, entry: &Entry) {
        let Outcome::Refused(error) = &entry.outcome else {
            assert!(!matches!(entry.outcome, Outcome::UnderWay), "no answer to {:?}", entry.deed);
            return;
        };
        // The deeds of others until it ended.
        let others = || self.entries.iter().filter(|other| other.begun < entry.ended);
        let did = |wanted: &dyn Fn(&Change) -> bool| others().any(|other| other.deed.changes.iter().any(wanted));
        let mine: BTreeSet<(u32, u64)> = entry.deed.changes.iter().filter_map(row_of).collect();
        let right = match error {
            StoreError::Closed => self.closing,
            StoreError::NoSuchTable { table } => {
                !self.base.contains_key(&table.0) || did(&|change| *change == Change::Drop(table.0))
            }
            StoreError::TableExists { table } => did(&|change| *change == Change::Create(table.0)),
            StoreError::DuplicateKey { table, key } => {
                let number = crate::history::row::number_of(key).unwrap();
                let twice = entry.deed.changes.iter().filter(|change| row_of(change) == Some((table.0, number)));
                let stored = self.base.get(&table.0).is_some_and(|rows| rows.contains_key(&number));
                let written = others()
                    .filter(|other| !std::ptr::eq(*other, entry))
                    .any(|other| other.deed.changes.contains(&Change::Put(table.0, number)));
                entry.deed.fails_on_duplicates && (twice.count() > 1 || stored || written)
            }
            StoreError::ConditionFailed { table, .. } => entry.deed.conditions.iter().any(|(at, ..)| *at == table.0),
            // Other clients write to the table constantly.
            StoreError::TableChanged { table } => entry.deed.loads && mine.iter().any(|(at, _)| *at == table.0),
            _ => false,
        };
        assert!(right, "refused as {error:?} without a reason: {:?}", entry.deed);
    }
}

fn row_of(change: &Change) -> Option<(u32, u64)> {
    match change {
        Change::Put(table, number) => Some((*table, *number)),
        _ => None,
    }
}

/// Describes the first difference between the tables.
pub(crate) fn differs(due: &Tables, read: &Found) -> Option<String> {
    let all: BTreeSet<&u32> = due.keys().chain(read.keys()).collect();
    all.into_iter().find_map(|table| {
        let wrong = difference(due.get(table), read.get(table))?;
        Some(format!("table {table}: {wrong}"))
    })
}
