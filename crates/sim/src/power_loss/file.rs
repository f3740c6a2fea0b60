//! The contents of a simulated file: pages in memory and durable pages.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

const PAGE: u64 = 4096;
type Page = Arc<[u8; PAGE as usize]>;

/// Pages by number; missing pages are zeros.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    pages: BTreeMap<u64, Page>,
    length: u64,
}

impl Contents {
    fn write(&mut self, offset: u64, data: &[u8], touched: &mut BTreeSet<u64>) {
        let (mut offset, mut data) = (offset, data);
        while !data.is_empty() {
            let (number, start) = (offset / PAGE, (offset % PAGE) as usize);
            let length = data.len().min(PAGE as usize - start);
            let (now, later) = data.split_at(length);
            let page = self.pages.entry(number).or_insert_with(|| Arc::new([0; PAGE as usize]));
            if let Some(target) = Arc::make_mut(page).get_mut(start..start + length) {
                target.copy_from_slice(now);
            }
            touched.insert(number);
            data = later;
            offset += length as u64;
        }
        self.length = self.length.max(offset);
    }

    fn truncate(&mut self, length: u64) {
        self.length = length;
        self.pages.retain(|number, _| number * PAGE < length);
        // If the file grows again, a cut page must read as zeros after the cut.
        let cut = self.pages.get_mut(&(length / PAGE)).map(Arc::make_mut);
        if let Some(behind) = cut.and_then(|page| page.get_mut((length % PAGE) as usize..)) {
            behind.fill(0);
        }
    }

    /// Writes the contents to a new file with the same holes.
    pub(super) fn store(&self, path: &Path) -> io::Result<()> {
        let mut file = std::fs::File::create(path)?;
        file.set_len(self.length)?;
        for (number, page) in &self.pages {
            let start = number * PAGE;
            let length = self.length.saturating_sub(start).min(PAGE) as usize;
            file.seek(SeekFrom::Start(start))?;
            file.write_all(page.get(..length).unwrap_or_default())?;
        }
        Ok(())
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = vec![0; self.length as usize];
        for (number, page) in &self.pages {
            let start = (number * PAGE) as usize;
            let end = out.len().min(start + PAGE as usize);
            if let Some(target) = out.get_mut(start..end) {
                target.copy_from_slice(page.get(..target.len()).unwrap_or_default());
            }
        }
        out
    }
}

/// A file: its current and its durable contents.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) seen: Contents,
    pub(super) durable: Contents,
    /// Pages that may differ, including those of running syncs, because a sync that begins now waits for these, too.
    dirty: BTreeSet<u64>,
    /// Number of syncs begun.
    begun: u64,
    /// The newest finished sync: an older one that ends later has no effect.
    ended: u64,
}

/// What a running sync will make durable.
#[derive(Debug)]
pub(super) struct Syncing {
    number: u64,
    contents: Contents,
    pages: BTreeSet<u64>,
}

impl File {
    pub(super) fn write(&mut self, offset: u64, data: &[u8]) {
        self.seen.write(offset, data, &mut self.dirty);
    }

    pub(super) fn truncate(&mut self, length: u64) {
        self.seen.truncate(length);
        self.dirty.insert(length / PAGE);
    }

    pub(super) fn begin_sync(&mut self) -> Syncing {
        self.begun += 1;
        Syncing { number: self.begun, contents: self.seen.clone(), pages: self.dirty.clone() }
    }

    pub(super) fn end_sync(&mut self, syncing: Syncing) {
        if syncing.number < self.ended {
            return;
        }
        self.ended = syncing.number;
        for number in syncing.pages {
            let page = syncing.contents.pages.get(&number);
            // A page that was written since the sync began stays dirty.
            if page.map(Arc::as_ptr) == self.seen.pages.get(&number).map(Arc::as_ptr) {
                self.dirty.remove(&number);
            }
            match page {
                Some(page) => self.durable.pages.insert(number, page.clone()),
                None => self.durable.pages.remove(&number),
            };
        }
        self.durable.length = syncing.contents.length;
        self.durable.pages.retain(|number, _| number * PAGE < syncing.contents.length);
    }

    /// The contents after a power loss: everything that was synced, and unsynced pages for which `lucky` returns true.
    /// The length may be the current one, too.
    pub(super) fn torn(&self, lucky: &mut dyn FnMut() -> bool) -> Contents {
        let mut left = self.durable.clone();
        if left.length != self.seen.length && lucky() {
            left.length = self.seen.length;
            left.pages.retain(|number, _| number * PAGE < self.seen.length);
        }
        for number in &self.dirty {
            let page = self.seen.pages.get(number).filter(|_| number * PAGE < left.length);
            if let Some(page) = page.filter(|_| lucky()) {
                left.pages.insert(*number, page.clone());
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_written_before_a_sync_began_is_durable_after_it() {
        let mut file = File::default();
        file.write(0, b"abc");
        let syncing = file.begin_sync();
        file.write(1, b"X");
        assert_eq!(file.durable.bytes(), b"");
        file.end_sync(syncing);
        assert_eq!(file.durable.bytes(), b"abc");
        assert_eq!(file.seen.bytes(), b"aXc");
    }

    #[test]
    fn a_sync_covers_what_an_unfinished_one_has_begun_to_write() {
        let mut file = File::default();
        file.write(0, b"a");
        let first = file.begin_sync();
        let second = file.begin_sync();
        file.write(0, b"b");
        file.end_sync(second);
        assert_eq!(file.durable.bytes(), b"a");
        let third = file.begin_sync();
        file.end_sync(third);
        file.end_sync(first);
        assert_eq!(file.durable.bytes(), b"b");
    }

    #[test]
    fn a_cut_page_reads_as_zeros_when_the_file_grows_again() {
        let mut file = File::default();
        file.write(0, b"abcdef");
        file.truncate(2);
        file.truncate(4);
        assert_eq!(file.seen.bytes(), b"ab\0\0");
    }

    #[test]
    fn torn_files_hold_unsynced_pages_that_were_lucky() {
        let mut file = File::default();
        file.write(0, &[1; 5000]);
        let syncing = file.begin_sync();
        file.end_sync(syncing);
        file.write(4096, &[2; 10]);
        assert_eq!(file.torn(&mut || false).bytes(), [1; 5000]);
        assert_eq!(file.torn(&mut || true).bytes(), file.seen.bytes());
    }
}
