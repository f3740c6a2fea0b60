//! Runs every file below `sql-tests` on two more stores: one with few capabilities, and a mirror of two stores. Both
//! reverse the bits of commit numbers, so that no layer above can rely on their order.
//!
//! `make test` runs a tenth of the files on each, chosen by a seed that is printed; `BENNU_STORES=all` (`make
//! test-stores`) runs all. Records that need a missing capability are marked `skipif without_…`; they are listed in
//! `sql-tests/skipped.md`, which this test compares with the files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    missing_docs
)]

mod corpus;
mod skipped;

use bennu::{Bennu, Options, Store};
use bennu_sqltest::{Compare, Front, Server, run_file_on};
use corpus::Corpus;
use libtest_mimic::{Arguments, Trial};
use std::path::Path;
use std::sync::Arc;
use store::{Capabilities, Scope};
use store_testkit::{LimitedStore, MirrorStore, ModelStore, UnorderedStore, Without};

/// Longest rowkey of the limited store.
const SMALL_KEY: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Limited,
    Mirror,
}

impl Which {
    fn name(self) -> &'static str {
        match self {
            Self::Limited => "limited",
            Self::Mirror => "mirror",
        }
    }

    /// Creates an empty store; its folder is removed with it.
    fn make(self) -> Arc<dyn Store> {
        Arc::new(UnorderedStore::new(self.ordered()))
    }

    fn ordered(self) -> Arc<dyn Store> {
        match self {
            Self::Limited => {
                let without = Without { keys_beyond: Some(SMALL_KEY), ..Without::everything() };
                Arc::new(LimitedStore::new(Arc::new(ModelStore::new()), without))
            }
            Self::Mirror => {
                let options = store_fjall::Options {
                    cache_bytes: 8 << 20,
                    memtable_bytes: 8 << 20,
                    temporary: true,
                    ..store_fjall::Options::default()
                };
                let folder = tempfile::tempdir().unwrap().keep();
                let fjall = store_fjall::FjallStore::open(&folder, options).unwrap();
                Arc::new(MirrorStore::new(fjall, Arc::new(ModelStore::new())))
            }
        }
    }
}

/// The `skipif` labels of a store's missing capabilities.
fn labels(can: &Capabilities) -> Vec<&'static str> {
    let lacks = [
        ("without_atomic_batch", can.atomic_batch < Scope::Store),
        ("without_snapshot", can.snapshot < Scope::Store),
        ("without_filter", !can.filter),
        ("without_bulk_load", !can.bulk_load),
        ("without_long_keys", can.max_key_bytes <= SMALL_KEY),
    ];
    lacks.into_iter().filter(|(_, lacks)| *lacks).map(|(label, _)| label).collect()
}

async fn run(which: Which, file: &Path) -> Result<(), String> {
    let store = which.make();
    let labels = labels(&store.capabilities());
    let options =
        Options { query_memory_bytes: 256 << 20, auto_analyze: bennu::AutoAnalyzeOptions::off(), ..Options::default() };
    let db = Bennu::with_store(store, &options).await.map_err(|e| e.to_string())?;
    let server = Server::start_with(db.clone()).map_err(|e| e.to_string())?;
    let report = run_file_on(&server, &labels, Front::Library, Compare::Exact, file).await?;
    drop(server);
    db.close().await.map_err(|e| e.to_string())?;
    report.into_result()
}

/// Plan goldens that depend on the embedded store's estimates.
const ESTIMATES: &str = "stats/";

/// Files, by prefix, that a single-row store does not run. It has no foreign keys, no rewrites of indexed tables and no
/// jobs (builds and refreshes), checks unique constraints per row, and keeps a transaction's writes in memory.
const NOT_ON_SINGLE_ROWS: [&str; 18] = [
    // Jobs.
    "index/concurrently",
    "index/jobs",
    "index/refreshed",
    "view/materialized_schedule",
    // Foreign keys.
    "constraint/foreign_key",
    "constraint/unique_with_actions",
    "ddl/comment",
    "ddl/like",
    "ddl/migrations",
    // Rewrites of indexed tables.
    "constraint/alter_type",
    "constraint/change_key",
    "constraint/generated",
    // Deferred unique constraints.
    "constraint/primary_key_deferrable",
    "constraint/unique_deferrable",
    // Incremental view maintenance, which records changed groups with their rows.
    "view/incremental",
    // A plan that depends on the embedded store's estimates.
    "plan/index_kinds",
    // Transactions larger than memory.
    "plan/dynamic_filter",
    "plan/sample",
];

fn main() {
    let arguments = Arguments::from_args();
    let corpus = Corpus::of("BENNU_STORES");
    let files = corpus.files();
    let skipped = skipped::skipped(&files);
    let root = corpus.root.clone();
    let listed = move || skipped::compare_list(&root, &skipped).map_err(Into::into);
    let mut trials = vec![Trial::test("skipped_records_are_listed", listed)];
    for (name, file) in &files {
        for which in [Which::Limited, Which::Mirror] {
            let refused = NOT_ON_SINGLE_ROWS.iter().any(|prefix| name.starts_with(prefix));
            if name.starts_with(ESTIMATES) || (which == Which::Limited && refused) || !corpus.takes(which.name(), name)
            {
                continue;
            }
            let file = file.clone();
            let trial = corpus.trial(format!("{}::{name}", which.name()), async move { run(which, &file).await });
            trials.push(trial);
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}
