//! A simulated file system, as strict as POSIX allows: a file's contents are durable after a sync of the file, a name
//! after a sync of its folder, and nothing else.

use super::file::{Contents, File, Syncing};
use super::log::Event;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The fate of changes that were not synced.
pub enum Unsynced<'a> {
    /// All are lost.
    Lost,
    /// Each page, length and name survives if the function returns true.
    Torn(&'a mut dyn FnMut() -> bool),
}

/// A file or folder by number, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Folder(u64),
    File(u64),
}

/// The number of the root.
const ROOT: u64 = 0;

/// Names in one folder.
type Names = BTreeMap<OsString, Node>;
/// Names by folder.
type Tree = HashMap<u64, Names>;

/// Whether syncs of a path have no effect.
type Skip = Box<dyn Fn(&Path) -> bool>;

enum Pending {
    File(u64, Syncing),
    Folder(u64, Names),
}

/// The state after a prefix of a log.
#[derive(Default)]
pub struct Disk {
    root: PathBuf,
    files: HashMap<u64, File>,
    next: u64,
    seen: BTreeMap<PathBuf, Node>,
    durable: Tree,
    open: HashMap<i32, Node>,
    /// Running syncs, by number. Several may run, even of one file, and they end in any order.
    pending: HashMap<u64, Pending>,
    skip: Option<Skip>,
    /// The last name of each file and folder.
    names: HashMap<u64, PathBuf>,
    /// The newest finished sync, by folder.
    folders_ended: HashMap<u64, u64>,
    skipped: usize,
}

impl Disk {
    /// An empty disk with the durable root `root`.
    pub fn new(root: &Path) -> Self {
        let names = HashMap::from([(ROOT, root.to_path_buf())]);
        Self { root: root.to_path_buf(), names, ..Self::default() }
    }

    /// Ignores syncs of the files and folders that `matches` accepts, as if the code did not sync them.
    pub fn without_syncs_of(mut self, matches: impl Fn(&Path) -> bool + 'static) -> Self {
        self.skip = Some(Box::new(matches));
        self
    }

    /// The number of ignored syncs.
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
                if let Some(open) = self.open.get(fd).copied() {
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
            Event::MakeFolder { path } => {
                let number = self.name(path);
                self.seen.insert(path.clone(), Node::Folder(number));
            }
            Event::Link { from, to } => {
                if let Some(node) = self.seen.get(from).copied() {
                    self.seen.insert(to.clone(), node);
                }
            }
        }
    }

    /// The current content of the file at `path`.
    pub fn read(&self, path: &Path) -> Option<Vec<u8>> {
        match self.seen.get(path)? {
            Node::File(id) => Some(self.files.get(id)?.seen.bytes()),
            Node::Folder(_) => None,
        }
    }

    /// All current names; folders without contents.
    pub fn entries(&self) -> impl Iterator<Item = (&Path, Option<Vec<u8>>)> {
        self.seen.iter().map(|(path, node)| {
            let bytes = match node {
                Node::File(id) => self.files.get(id).map(|f| f.seen.bytes()),
                Node::Folder(_) => None,
            };
            (path.as_path(), bytes)
        })
    }

    /// Writes the state after a power loss at this point to the empty folder `target`.
    ///
    /// # Errors
    /// I/O failures.
    pub fn store(&self, target: &Path, mut unsynced: Unsynced<'_>) -> io::Result<()> {
        let tree = match &mut unsynced {
            Unsynced::Lost => self.durable.clone(),
            Unsynced::Torn(lucky) => self.torn_names(&mut **lucky),
        };
        // Everything below a lost folder is lost.
        let mut left = vec![(ROOT, target.to_path_buf())];
        while let Some((folder, at)) = left.pop() {
            for (name, node) in tree.get(&folder).into_iter().flatten() {
                let path = at.join(name);
                match node {
                    Node::Folder(inside) => {
                        std::fs::create_dir(&path)?;
                        left.push((*inside, path));
                    }
                    Node::File(id) => {
                        let Some(file) = self.files.get(id) else { continue };
                        let contents: Contents = match &mut unsynced {
                            Unsynced::Lost => file.durable.clone(),
                            Unsynced::Torn(lucky) => file.torn(&mut **lucky),
                        };
                        contents.store(&path)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn torn_names(&self, lucky: &mut dyn FnMut() -> bool) -> Tree {
        let mut tree = self.durable.clone();
        for (path, node) in &self.seen {
            let Some((parent, name)) = self.place(path) else { continue };
            if tree.get(&parent).and_then(|names| names.get(&name)) != Some(node) && lucky() {
                // A folder moves as a whole: it is never in two places.
                forget_folder(&mut tree, *node);
                tree.entry(parent).or_default().insert(name, *node);
            }
        }
        let seen = self.seen_tree();
        for (folder, names) in &self.durable {
            let there = seen.get(folder);
            for (name, node) in names.iter().filter(|(name, _)| there.is_none_or(|names| !names.contains_key(*name))) {
                let moved = matches!(node, Node::Folder(_)) && self.seen.values().any(|other| other == node);
                if !moved && lucky() {
                    tree.entry(*folder).or_default().remove(name);
                }
            }
        }
        tree
    }

    /// The parent folder of a path, and its name there.
    fn place(&self, path: &Path) -> Option<(u64, OsString)> {
        let (parent, name) = (path.parent()?, path.file_name()?.to_os_string());
        if parent == self.root {
            return Some((ROOT, name));
        }
        match self.seen.get(parent)? {
            Node::Folder(number) => Some((*number, name)),
            Node::File(_) => None,
        }
    }

    fn seen_tree(&self) -> Tree {
        let mut tree = Tree::new();
        for (path, node) in &self.seen {
            if let Some((parent, name)) = self.place(path) {
                tree.entry(parent).or_default().insert(name, *node);
            }
        }
        tree
    }

    /// Starts the next process. It sees what the one before has written; that one's running syncs are dropped, and
    /// syncs are numbered from the beginning.
    fn start(&mut self) {
        self.open.clear();
        self.pending.clear();
        self.folders_ended.clear();
    }

    fn file_of(&mut self, fd: i32) -> Option<&mut File> {
        match self.open.get(&fd)? {
            Node::File(id) => self.files.get_mut(id),
            Node::Folder(_) => None,
        }
    }

    /// Allocates a number for a new object at `path`.
    fn name(&mut self, path: &Path) -> u64 {
        self.next += 1;
        self.names.insert(self.next, path.to_path_buf());
        self.next
    }

    fn on_open(&mut self, fd: i32, path: &Path, truncate: bool) {
        let node = match self.seen.get(path) {
            Some(node) => *node,
            None if path == self.root => Node::Folder(ROOT),
            None => {
                let number = self.name(path);
                self.files.insert(number, File::default());
                self.seen.insert(path.to_path_buf(), Node::File(number));
                Node::File(number)
            }
        };
        self.open.insert(fd, node);
        if truncate && let Some(file) = self.file_of(fd) {
            file.truncate(0);
        }
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        // The content of a folder moves with it.
        let moved: Vec<_> = self.seen.keys().filter(|p| p.starts_with(from)).cloned().collect();
        for path in moved {
            let (Some(node), Ok(inside)) = (self.seen.remove(&path), path.strip_prefix(from)) else { continue };
            let target = if inside.as_os_str().is_empty() { to.to_path_buf() } else { to.join(inside) };
            let (Node::File(number) | Node::Folder(number)) = node;
            self.names.insert(number, target.clone());
            self.seen.insert(target, node);
        }
    }

    fn begin_sync(&mut self, fd: i32, number: u64) {
        let Some(node) = self.open.get(&fd).copied() else { return };
        let (Node::File(id) | Node::Folder(id)) = node;
        let path = self.names.get(&id).cloned().unwrap_or_default();
        if self.skip.as_ref().is_some_and(|skip| skip(&path)) {
            self.skipped += 1;
            return;
        }
        let pending = match node {
            Node::File(id) => {
                let Some(file) = self.files.get_mut(&id) else { return };
                Pending::File(id, file.begin_sync())
            }
            Node::Folder(id) => {
                let inside = self.seen.iter().filter(|(inside, _)| inside.parent() == Some(&path));
                let named = inside.filter_map(|(inside, node)| Some((inside.file_name()?.to_os_string(), *node)));
                Pending::Folder(id, named.collect())
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
                let ended = self.folders_ended.entry(folder).or_default();
                if number < *ended {
                    return;
                }
                *ended = number;
                self.sync_names(folder, names);
            }
        }
    }

    /// Makes the names in a folder durable. A folder moves as a whole, whichever of its two parents is synced.
    fn sync_names(&mut self, folder: u64, names: Names) {
        let before = self.durable.remove(&folder).unwrap_or_default();
        for node in names.values() {
            forget_folder(&mut self.durable, *node);
        }
        let left: Vec<Node> = before.into_values().filter(|node| !names.values().any(|other| other == node)).collect();
        self.durable.insert(folder, names);
        for node in left.into_iter().filter(|node| matches!(node, Node::Folder(_))) {
            let moved = self.seen.iter().find(|(_, other)| **other == node).map(|(path, _)| path.clone());
            if let Some((parent, name)) = moved.and_then(|path| self.place(&path)) {
                self.durable.entry(parent).or_default().insert(name, node);
            }
        }
    }
}

/// Removes a folder's name from all parents. Files may have several names.
fn forget_folder(tree: &mut Tree, node: Node) {
    if matches!(node, Node::Folder(_)) {
        tree.values_mut().for_each(|names| names.retain(|_, other| *other != node));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn run(events: &[Event]) -> Disk {
        let mut disk = Disk::new(Path::new("/r"));
        events.iter().for_each(|e| disk.apply(e));
        disk
    }

    /// Durable names in the root.
    fn names(disk: &Disk) -> Vec<String> {
        let names = disk.durable.get(&ROOT).into_iter().flatten();
        names.map(|(name, _)| name.to_string_lossy().into_owned()).collect()
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
        assert!(names(&run(&events)).is_empty());
        events.push(open(4, "/r"));
        events.extend(sync(4));
        let disk = run(&events);
        assert_eq!(names(&disk), ["a"]);
        assert!(disk.files.values().all(|file| file.durable.bytes() == b"x"));
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
        assert_eq!(names(&run(&events)), ["a"]);
        events.extend(sync(4));
        assert_eq!(names(&run(&events)), ["b"]);
    }

    #[test]
    fn a_folder_that_is_moved_keeps_what_is_durable_in_it() {
        let folder = |path: &str| Event::MakeFolder { path: path.into() };
        let mut events = vec![open(2, "/r"), folder("/r/a"), folder("/r/b"), folder("/r/a/x"), open(3, "/r/a/x")];
        events.extend([open(4, "/r/a"), open(5, "/r/b"), open(6, "/r/a/x/file"), write(6, b"x")]);
        [2, 3, 4, 5, 6].into_iter().for_each(|fd| events.extend(sync(fd)));
        events.push(Event::Rename { from: "/r/a/x".into(), to: "/r/b/x".into() });
        let found = |events: &[Event], lucky: bool| {
            let target = tempfile::tempdir().unwrap();
            run(events).store(target.path(), Unsynced::Torn(&mut || lucky)).unwrap();
            ["a/x/file", "b/x/file"].map(|path| target.path().join(path).exists())
        };
        assert_eq!(found(&events, false), [true, false]);
        assert_eq!(found(&events, true), [false, true]);
        for parent in [4, 5] {
            let synced: Vec<Event> = events.iter().cloned().chain(sync(parent)).collect();
            assert_eq!(found(&synced, false), [false, true]);
        }
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
