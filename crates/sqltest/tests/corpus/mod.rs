//! The files of the corpus, and a runtime for trials.
#![allow(dead_code, reason = "each test binary uses a part")]

use bennu::{AutoAnalyzeOptions, Bennu, Options};
use libtest_mimic::Trial;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime::Runtime;

/// The corpus, or a tenth of it chosen by a seed, with its own threads.
pub(crate) struct Corpus {
    pub(crate) root: PathBuf,
    runtime: Arc<Runtime>,
    all: bool,
    seed: u64,
}

impl Corpus {
    /// Selects files by the environment: all with `<variable>=all`, otherwise a tenth by the seed `<variable>_SEED`.
    pub(crate) fn of(variable: &str) -> Self {
        let all = std::env::var(variable).is_ok_and(|value| value == "all");
        let seed = std::env::var(format!("{variable}_SEED")).ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
        if !all {
            println!("a tenth of the files, by seed {seed}: {variable}_SEED={seed}; all: {variable}=all");
        }
        Self { root: root(), runtime: runtime(), all, seed }
    }

    /// Selects all files.
    pub(crate) fn whole() -> Self {
        Self { root: root(), runtime: runtime(), all: true, seed: 0 }
    }

    /// All files with their paths relative to the root, selected or not.
    pub(crate) fn files(&self) -> Vec<(String, PathBuf)> {
        let name = |file: &PathBuf| file.strip_prefix(&self.root).unwrap().display().to_string();
        files(&self.root).into_iter().map(|file| (name(&file), file)).collect()
    }

    /// Returns whether a file is selected. `salt` makes test binaries select different files.
    pub(crate) fn takes(&self, salt: &str, name: &str) -> bool {
        self.all || is_chosen(&format!("{salt}{name}"), self.seed)
    }

    /// A trial that runs `test` on a worker thread, for its larger stack.
    pub(crate) fn trial<T>(&self, name: String, test: T) -> Trial
    where
        T: Future<Output = Result<(), String>> + Send + 'static,
    {
        let runtime = self.runtime.clone();
        Trial::test(name, move || {
            let task = runtime.spawn(test);
            runtime.block_on(task).unwrap().map_err(Into::into)
        })
    }
}

/// The folder `sql-tests`.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql-tests").canonicalize().unwrap()
}

/// DataFusion's planner recurses: debug builds need a larger stack than the default.
fn runtime() -> Arc<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    Arc::new(builder.worker_threads(4).thread_stack_size(32 << 20).enable_all().build().unwrap())
}

/// Opens an in-memory database for one file.
pub(crate) async fn open() -> Result<Bennu, String> {
    // Automatic ANALYZE would change plans.
    let auto_analyze = AutoAnalyzeOptions::off();
    let options = Options { cache_bytes: 32 << 20, memtable_bytes: 16 << 20, auto_analyze, ..Options::default() };
    Bennu::open_in_memory(&options).await.map_err(|e| e.to_string())
}

/// Every file below `root`, sorted.
pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(root, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "slt") {
            files.push(path);
        }
    }
}

/// Selects one file in ten by its name and the seed.
fn is_chosen(name: &str, seed: u64) -> bool {
    // FNV-1a, which gives the same hash on every platform.
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325 ^ seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    (hash ^ (hash >> 29)) % 10 == 0
}
