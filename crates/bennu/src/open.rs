//! Opens a database: the only place that chooses a store.

use crate::own_folder::ProcessFolder;
use crate::{CheckReport, Error, Options, Session, check};
use engine::{Engine, EngineOptions, SessionStart};
use std::path::Path;
use std::sync::Arc;
use store::Store;
use store_fjall::FjallStore;

/// Bounds of the sort buffer of a bulk load, which is an eighth of the query memory.
const LEAST_LOAD_BUFFER: usize = 1 << 20;
const MOST_LOAD_BUFFER: usize = 64 << 20;

/// An open database, shared by its clones. The folder is released when the last clone and all sessions are dropped.
#[derive(Clone)]
pub struct Bennu {
    engine: Arc<Engine>,
    /// The folder of an in-memory database, removed with the last handle.
    _folder: Option<Arc<ProcessFolder>>,
}

impl Bennu {
    /// Opens the folder `path`, and creates it if it does not exist.
    ///
    /// # Errors
    /// A folder that is in use, not Bennu's, of a newer version or damaged.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with_options(path, &Options::default()).await
    }

    /// Like [`Self::open`], with options.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_with_options(path: impl AsRef<Path>, options: &Options) -> Result<Self, Error> {
        Self::start(path.as_ref(), options, None).await
    }

    /// A database in memory with the default options.
    ///
    /// # Errors
    /// As [`Self::open_in_memory`].
    pub async fn in_memory() -> Result<Self, Error> {
        Self::open_in_memory(&Options::default()).await
    }

    /// Opens a database in a temporary folder, which is removed with the last handle. It runs the same code as a stored
    /// one.
    ///
    /// # Errors
    /// When the temporary folder cannot be created.
    pub async fn open_in_memory(options: &Options) -> Result<Self, Error> {
        let folder = ProcessFolder::make(&std::env::temp_dir(), "bennu-in-memory-")?;
        let path = folder.path().join("data");
        Self::start(&path, options, Some(Arc::new(folder))).await
    }

    async fn start(path: &Path, options: &Options, folder: Option<Arc<ProcessFolder>>) -> Result<Self, Error> {
        let store = open_store(path, options)?;
        // In the data folder by default: a disk with room for the data has room for spilled runs of it.
        let spill = ProcessFolder::make(options.spill_dir.as_deref().unwrap_or(path), "spill-")?;
        Self::on_store(store, options, spill, folder).await
    }

    /// Opens a database on the program's own store; [`Options`] of the embedded store do not apply.
    ///
    /// # Errors
    /// A catalog that cannot be read, or an error of the store.
    pub async fn with_store(store: Arc<dyn Store>, options: &Options) -> Result<Self, Error> {
        let temporary = std::env::temp_dir();
        let spill = ProcessFolder::make(options.spill_dir.as_deref().unwrap_or(&temporary), "bennu-spill-")?;
        Self::on_store(store, options, spill, None).await
    }

    async fn on_store(
        store: Arc<dyn Store>,
        options: &Options,
        spill: ProcessFolder,
        folder: Option<Arc<ProcessFolder>>,
    ) -> Result<Self, Error> {
        let engine_options = EngineOptions {
            memory_bytes: options.query_memory_bytes,
            spill_dir: Some(spill.path().to_owned()),
            spill_guard: Some(Arc::new(spill)),
            query_threads: options.query_threads,
            dual_write: options.dual_write_indexes,
            auto_analyze: options.auto_analyze,
            ..EngineOptions::default()
        };
        let engine = Engine::open(store, engine_options).await?;
        Ok(Self { engine, _folder: folder })
    }

    /// Begins a session in the database `bennu`.
    ///
    /// # Errors
    /// When the engine is closed.
    pub fn session(&self) -> Result<Session, Error> {
        let start = SessionStart { user: "bennu".into(), database: "bennu".into(), ..SessionStart::default() };
        Ok(Session::new(self.engine.session(start)?, Arc::clone(&self.engine)))
    }

    /// The underlying engine, for front ends.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Reads every block and every row of the folder `path` and verifies checksums and key order.
    /// The folder must not be in use.
    ///
    /// # Errors
    /// When the folder cannot be opened; problems inside it are in the report.
    pub async fn check(path: impl AsRef<Path>) -> Result<CheckReport, Error> {
        let path = path.as_ref();
        let unseen = |error| Error::io(&format!("data folder \"{}\"", path.display()), &error);
        // A separate error, since a parent folder without read permission hides whether `path` exists.
        if !path.try_exists().map_err(unseen)? {
            return Err(unseen(std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such folder")));
        }
        check::run(open_store(path, &Options::default())?).await
    }

    /// Ends all sessions, makes everything durable and closes the folder.
    ///
    /// # Errors
    /// When the last sync fails.
    pub async fn close(&self) -> Result<(), Error> {
        Ok(self.engine.close().await?)
    }
}

fn open_store(path: &Path, options: &Options) -> Result<Arc<FjallStore>, Error> {
    if path.exists() && !path.is_dir() {
        let no_folder = std::io::Error::new(std::io::ErrorKind::NotADirectory, "it is a file, not a folder");
        return Err(Error::io(&format!("data folder \"{}\"", path.display()), &no_folder));
    }
    let store_options = store_fjall::Options {
        cache_bytes: options.cache_bytes,
        memtable_bytes: options.memtable_bytes,
        snapshot_bytes: options.snapshot_memory_bytes,
        snapshot_max_age: options.snapshot_max_age,
        load_buffer_bytes: (options.query_memory_bytes / 8).clamp(LEAST_LOAD_BUFFER, MOST_LOAD_BUFFER),
        ..store_fjall::Options::default()
    };
    Ok(FjallStore::open(path, store_options)?)
}
