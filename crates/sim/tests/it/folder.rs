//! Images of data folders as after a killed process, in memory and on disk.

use bennu_sim::power_loss::Event;
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A folder where syncs are fast.
pub(crate) fn in_memory() -> tempfile::TempDir {
    bennu_sim::power_loss::in_memory().unwrap()
}

/// A sparse file without its holes.
#[derive(Clone, Debug)]
pub(crate) struct Sparse {
    pub(crate) length: u64,
    /// Data by offset.
    pub(crate) data: BTreeMap<u64, Vec<u8>>,
}

/// The files and folders below a folder, by relative path; `None` for a folder.
pub(crate) type Image = BTreeMap<PathBuf, Option<Sparse>>;

/// A consistent copy of `folder` at one point in time, as after killing the process.
pub(crate) fn image(folder: &Path) -> Image {
    for _ in 0..1_000 {
        let before = listing(folder);
        let image = before.as_ref().ok().map(|names| read(folder, names));
        if let (Ok(before), Some(Ok(image)), Ok(after)) = (&before, image, listing(folder))
            && *before == after
        {
            return image;
        }
        // Something was written during the copy, so it is not consistent.
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("{} is never at rest", folder.display());
}

/// Writes an image to the folder `target`, which is created if it does not exist.
pub(crate) fn store(image: &Image, target: &Path) {
    fs::create_dir_all(target).unwrap();
    for (path, file) in image {
        let at = target.join(path);
        let Some(file) = file else {
            fs::create_dir_all(at).unwrap();
            continue;
        };
        let made = File::create(at).unwrap();
        made.set_len(file.length).unwrap();
        for (offset, data) in &file.data {
            made.write_all_at(data, *offset).unwrap();
        }
    }
}

/// The events that create an image below `root` on a disk, durably.
pub(crate) fn events(image: &Image, root: &Path) -> Vec<Event> {
    let mut events = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    let synced = |number: u64| [Event::SyncBegin { fd: 1, number }, Event::SyncEnd { number }, Event::Close { fd: 1 }];
    for (number, (path, file)) in image.iter().enumerate() {
        let path = root.join(path);
        let Some(file) = file else {
            events.push(Event::MakeFolder { path: path.clone() });
            folders.push(path);
            continue;
        };
        events.push(Event::Open { fd: 1, path, truncate: false });
        events.extend(file.data.iter().map(|(at, data)| Event::Write { fd: 1, offset: *at, data: data.clone() }));
        events.push(Event::Truncate { fd: 1, length: file.length });
        events.extend(synced(number as u64));
    }
    for (number, path) in folders.into_iter().enumerate() {
        events.push(Event::Open { fd: 1, path, truncate: false });
        events.extend(synced((image.len() + number) as u64));
    }
    events
}

type Listing = BTreeMap<PathBuf, Option<(u64, SystemTime)>>;

fn listing(folder: &Path) -> io::Result<Listing> {
    let mut found = Listing::new();
    let mut left = vec![folder.to_path_buf()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            let metadata = fs::symlink_metadata(&path)?;
            if metadata.is_dir() {
                left.push(path.clone());
            }
            let told = (!metadata.is_dir()).then_some((metadata.len(), metadata.modified()?));
            found.insert(path, told);
        }
    }
    Ok(found)
}

fn read(folder: &Path, names: &Listing) -> io::Result<Image> {
    let inside = |path: &Path| path.strip_prefix(folder).unwrap().to_path_buf();
    let one = |(path, told): (&PathBuf, &Option<_>)| Ok((inside(path), told.map(|_| sparse(path)).transpose()?));
    names.iter().map(one).collect()
}

fn sparse(path: &Path) -> io::Result<Sparse> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut data = BTreeMap::new();
    let mut at = 0;
    loop {
        let start = match seek(&file, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(Errno::NXIO) => return Ok(Sparse { length, data }),
            Err(error) => return Err(error.into()),
        };
        let end = seek(&file, SeekFrom::Hole(start))?;
        let mut bytes = vec![0; (end - start) as usize];
        file.read_exact_at(&mut bytes, start)?;
        data.insert(start, bytes);
        at = end;
    }
}
