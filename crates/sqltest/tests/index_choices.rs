//! Every query below `sql-tests` without indexes, by an index wherever one can be used, and by the cheapest way: the same
//! rows.
//!
//! Each table has an index on each of its columns here, beside those of the file. `make test` runs a tenth of the files,
//! chosen by a seed that is printed; `BENNU_INDEXES=all` runs all.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod corpus;

use bennu::{Bennu, Options};
use bennu_sqltest::compare_index_choices;
use libtest_mimic::{Arguments, Trial};
use std::path::Path;
use std::sync::Arc;

async fn run(file: &Path) -> Result<(), String> {
    let options = Options { cache_bytes: 32 << 20, memtable_bytes: 16 << 20, ..Options::default() };
    let db = Bennu::open_in_memory(&options).await.map_err(|e| e.to_string())?;
    compare_index_choices(&db, file).await?.into_result()
}

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql-tests").canonicalize().unwrap();
    // The planner recurses; unoptimised builds need more than a thread's usual stack.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .thread_stack_size(32 << 20)
        .enable_all()
        .build()
        .unwrap();
    let runtime = Arc::new(runtime);
    let all = std::env::var("BENNU_INDEXES").is_ok_and(|indexes| indexes == "all");
    let seed = std::env::var("BENNU_INDEXES_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    if !all {
        println!("a tenth of the files, by seed {seed}: BENNU_INDEXES_SEED={seed}; all: BENNU_INDEXES=all");
    }
    let mut trials = Vec::new();
    for file in corpus::files(&root) {
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        // Those of indexes always take part.
        if !all && !name.starts_with("index/") && !corpus::is_chosen(&format!("indexes{name}"), seed) {
            continue;
        }
        let runtime = runtime.clone();
        trials.push(Trial::test(name, move || {
            // On a worker, so that it has the worker's stack.
            let task = runtime.spawn(async move { run(&file).await });
            runtime.block_on(task).unwrap().map_err(Into::into)
        }));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
