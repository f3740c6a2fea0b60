//! A simulated file system, strict as POSIX allows: a file's contents are durable after a sync of the
//! file, a name after a sync of its folder, and nothing else ever is.

use super::file::{Contents, File, Syncing};
use super::log::Event;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

/// What becomes of changes that were not synced.
pub enum Unsynced<'a> {
    /// None is left.
    Lost,
    /// Each page, length and name is left if the function says so.
    Torn(&'a mut dyn FnMut() -> bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Folder,
    File(u64),
}

/// What an open descriptor stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Open {
    Folder(PathBuf),
    File(u64),
}

/// Says whose syncs are left out.
type Skip = Box<dyn Fn(&Path) -> bool>;

enum Pending {
    File(u64, Syncing),
    Folder(PathBuf, BTreeMap<PathBuf, Node>),
}

/// The state after some prefix of a log.
#[derive(Default)]
pub struct Disk {
    root: PathBuf,
    files: HashMap<u64, File>,
    next: u64,
    seen: BTreeMap<PathBuf, Node>,
    durable: BTreeMap<PathBuf, Node>,
    open: HashMap<i32, Open>,
    /// Syncs under way, by number. Several may be, of one file too, and they end in any order.
    pending: HashMap<u64, Pending>,
    skip: Option<Skip>,
    names: HashMap<u64, PathBuf>,
    /// The newest sync that ended, by folder.
    folders_ended: HashMap<PathBuf, u64>,
    skipped: usize,
}

impl Disk {
    /// An empty disk below `root`, which is durable itself.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf(), ..Self::default() }
    }

    /// Lets syncs of the files and folders that `matches` have no effect: a build in which they are left out.
    pub fn without_syncs_of(mut self, matches: impl Fn(&Path) -> bool + 'static) -> Self {
        self.skip = Some(Box::new(matches));
        self
    }

    /// How many syncs were left out.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Applies the next event.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Start => self.start(),
            Event::Open { fd, path, truncate } => self.on_open(*fd, path, *truncate),
            Event::Close { fd } => drop(self.open.remove(fd)),
            Event::Duplicate { fd, made } => {
                if let Some(open) = self.open.get(fd).cloned() {
                    self.open.insert(*made, open);
                }
            }
            Event::Write { fd, offset, data } => {
                if let Some(file) = self.file_of(*fd) {
                    file.write(*offset, data);
                }
            }
            Event::Truncate { fd, length } => {
                if let Some(file) = self.file_of(*fd) {
                    file.truncate(*length);
                }
            }
            Event::SyncBegin { fd, number } => self.begin_sync(*fd, *number),
            Event::SyncEnd { number } => self.end_sync(*number),
            Event::Rename { from, to } => self.rename(from, to),
            Event::Unlink { path } | Event::RemoveFolder { path } => drop(self.seen.remove(path)),
            Event::MakeFolder { path } => drop(self.seen.insert(path.clone(), Node::Folder)),
            Event::Link { from, to } => {
                if let Some(node) = self.seen.get(from).copied() {
                    self.seen.insert(to.clone(), node);
                }
            }
        }
    }

    /// What a reader sees in the file at `path` now.
    pub fn read(&self, path: &Path) -> Option<Vec<u8>> {
        match self.seen.get(path)? {
            Node::File(id) => Some(self.files.get(id)?.seen.bytes()),
            Node::Folder => None,
        }
    }

    /// All names a reader sees, folders without contents.
    pub fn entries(&self) -> impl Iterator<Item = (&Path, Option<Vec<u8>>)> {
        self.seen.iter().map(|(path, node)| {
            let bytes = match node {
                Node::File(id) => self.files.get(id).map(|f| f.seen.bytes()),
                Node::Folder => None,
            };
            (path.as_path(), bytes)
        })
    }

    /// Writes what would be found after the power went now into the empty folder `target`.
    ///
    /// # Errors
    /// Those of writing there.
    pub fn store(&self, target: &Path, mut unsynced: Unsynced<'_>) -> io::Result<()> {
        let names = match &mut unsynced {
            Unsynced::Lost => self.durable.clone(),
            Unsynced::Torn(lucky) => self.torn_names(&mut **lucky),
        };
        // In path order a folder comes before what is inside; what hangs below a lost one is lost.
        for (path, node) in &names {
            let Ok(inside) = path.strip_prefix(&self.root) else { continue };
            let at = target.join(inside);
            if !at.parent().is_some_and(Path::is_dir) {
                continue;
            }
            match node {
                Node::Folder => std::fs::create_dir_all(&at)?,
                Node::File(id) => {
                    let Some(file) = self.files.get(id) else { continue };
                    let contents: Contents = match &mut unsynced {
                        Unsynced::Lost => file.durable.clone(),
                        Unsynced::Torn(lucky) => file.torn(&mut **lucky),
                    };
                    contents.store(&at)?;
                }
            }
        }
        Ok(())
    }

    fn torn_names(&self, lucky: &mut dyn FnMut() -> bool) -> BTreeMap<PathBuf, Node> {
        let mut names = self.durable.clone();
        for (path, node) in &self.seen {
            if names.get(path) != Some(node) && lucky() {
                names.insert(path.clone(), *node);
            }
        }
        for path in self.durable.keys().filter(|p| !self.seen.contains_key(*p)) {
            if lucky() {
                names.remove(path);
            }
        }
        names
    }

    /// What a process wrote is there for the next one. Its syncs under way are not waited for, and syncs are
    /// numbered anew.
    fn start(&mut self) {
        self.open.clear();
        self.pending.clear();
        self.folders_ended.clear();
    }

    fn file_of(&mut self, fd: i32) -> Option<&mut File> {
        match self.open.get(&fd)? {
            Open::File(id) => self.files.get_mut(id),
            Open::Folder(_) => None,
        }
    }

    fn on_open(&mut self, fd: i32, path: &Path, truncate: bool) {
        let node = match self.seen.get(path) {
            Some(node) => *node,
            None if path == self.root => Node::Folder,
            None => {
                self.next += 1;
                self.files.insert(self.next, File::default());
                self.names.insert(self.next, path.to_path_buf());
                self.seen.insert(path.to_path_buf(), Node::File(self.next));
                Node::File(self.next)
            }
        };
        let open = match node {
            Node::Folder => Open::Folder(path.to_path_buf()),
            Node::File(id) => Open::File(id),
        };
        self.open.insert(fd, open);
        if truncate && let Some(file) = self.file_of(fd) {
            file.truncate(0);
        }
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        // A folder takes what is inside along.
        let moved: Vec<_> = self.seen.keys().filter(|p| p.starts_with(from)).cloned().collect();
        for path in moved {
            let (Some(node), Ok(inside)) = (self.seen.remove(&path), path.strip_prefix(from)) else { continue };
            let target = if inside.as_os_str().is_empty() { to.to_path_buf() } else { to.join(inside) };
            if let Node::File(id) = node {
                self.names.insert(id, target.clone());
            }
            self.seen.insert(target, node);
        }
    }

    fn begin_sync(&mut self, fd: i32, number: u64) {
        let path = match self.open.get(&fd) {
            Some(Open::Folder(path)) => path.clone(),
            Some(Open::File(id)) => self.names.get(id).cloned().unwrap_or_default(),
            None => return,
        };
        if self.skip.as_ref().is_some_and(|skip| skip(&path)) {
            self.skipped += 1;
            return;
        }
        let pending = match self.open.get(&fd) {
            Some(Open::File(id)) => {
                let id = *id;
                let Some(file) = self.files.get_mut(&id) else { return };
                Pending::File(id, file.begin_sync())
            }
            _ => {
                let inside = self.seen.iter().filter(|(p, _)| p.parent() == Some(&path));
                let names = inside.map(|(p, n)| (p.clone(), *n)).collect();
                Pending::Folder(path, names)
            }
        };
        self.pending.insert(number, pending);
    }

    fn end_sync(&mut self, number: u64) {
        match self.pending.remove(&number) {
            None => {}
            Some(Pending::File(id, syncing)) => {
                if let Some(file) = self.files.get_mut(&id) {
                    file.end_sync(syncing);
                }
            }
            Some(Pending::Folder(folder, names)) => {
                let ended = self.folders_ended.entry(folder.clone()).or_default();
                if number < *ended {
                    return;
                }
                *ended = number;
                self.durable.retain(|path, _| path.parent() != Some(&folder));
                self.durable.extend(names);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(events: &[Event]) -> Disk {
        let mut disk = Disk::new(Path::new("/r"));
        events.iter().for_each(|e| disk.apply(e));
        disk
    }

    fn open(fd: i32, path: &str) -> Event {
        Event::Open { fd, path: path.into(), truncate: false }
    }

    fn sync(fd: i32) -> [Event; 2] {
        let number = fd as u64;
        [Event::SyncBegin { fd, number }, Event::SyncEnd { number }]
    }

    fn write(fd: i32, data: &[u8]) -> Event {
        Event::Write { fd, offset: 0, data: data.to_vec() }
    }

    #[test]
    fn a_synced_file_without_its_name_is_lost() {
        let mut events = vec![open(3, "/r/a"), write(3, b"x")];
        events.extend(sync(3));
        assert!(run(&events).durable.is_empty());
        events.push(open(4, "/r"));
        events.extend(sync(4));
        let disk = run(&events);
        let id = disk.durable.values().next().copied();
        assert!(
            matches!(id, Some(Node::File(id)) if disk.files.get(&id).map(|f| f.durable.bytes()) == Some(b"x".to_vec()))
        );
    }

    #[test]
    fn a_sync_that_overtakes_another_of_its_file_counts() {
        let begin = |number| Event::SyncBegin { fd: 3, number };
        let events = [open(3, "/r/a"), begin(1), write(3, b"x"), begin(2), Event::SyncEnd { number: 2 }];
        let mut disk = run(&events);
        let durable = |disk: &Disk| disk.files.values().map(|f| f.durable.bytes()).collect::<Vec<_>>();
        assert_eq!(durable(&disk), [b"x"]);
        disk.apply(&Event::SyncEnd { number: 1 });
        assert_eq!(durable(&disk), [b"x"]);
    }

    #[test]
    fn a_sync_that_its_process_did_not_live_to_see_end_counts_for_nothing() {
        let begin = Event::SyncBegin { fd: 3, number: 1 };
        let events = [open(3, "/r/a"), write(3, b"x"), begin, Event::Start, Event::SyncEnd { number: 1 }];
        let disk = run(&events);
        assert!(disk.files.values().all(|f| f.durable.bytes().is_empty()));
        assert_eq!(disk.read(Path::new("/r/a")).as_deref(), Some(b"x".as_slice()));
    }

    #[test]
    fn a_rename_is_durable_with_its_folder() {
        let mut events = vec![open(3, "/r/a"), open(4, "/r")];
        events.extend(sync(4));
        events.push(Event::Rename { from: "/r/a".into(), to: "/r/b".into() });
        assert!(run(&events).durable.contains_key(Path::new("/r/a")));
        events.extend(sync(4));
        let disk = run(&events);
        assert!(!disk.durable.contains_key(Path::new("/r/a")) && disk.durable.contains_key(Path::new("/r/b")));
    }

    #[test]
    fn a_sync_left_out_has_no_effect() {
        let mut disk = Disk::new(Path::new("/r")).without_syncs_of(|p| p.ends_with("a"));
        for event in [open(3, "/r/a"), write(3, b"x")].iter().chain(&sync(3)) {
            disk.apply(event);
        }
        assert_eq!(disk.skipped(), 1);
        assert!(disk.files.values().all(|f| f.durable.bytes().is_empty()));
    }
}
