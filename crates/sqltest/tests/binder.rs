//! Every query below `sql-tests`, planned from the bound tree and from its syntax: the same columns, types and rows.
//!
//! `make test` runs a tenth of the files, chosen by a seed that is printed; `BENNU_BINDER=all` runs all, and tells at the
//! end how many queries were planned both ways and why the others were not. Where the answers of the syntax are wrong is in
//! `binder/differences.txt`, by cause.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout, missing_docs)]

mod corpus;

use bennu::{Bennu, Options};
use bennu_sqltest::{Report, Ways, compare_file};
use libtest_mimic::{Arguments, Trial};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What was found in all files.
#[derive(Default)]
struct Found {
    records: usize,
    compared: usize,
    reasons: BTreeMap<String, usize>,
}

async fn run(file: &Path, found: &Mutex<Found>) -> Result<(), String> {
    let options = Options { cache_bytes: 32 << 20, memtable_bytes: 16 << 20, ..Options::default() };
    let db = Bennu::open_in_memory(&options).await.map_err(|e| e.to_string())?;
    let report = compare_file(&db, Ways::Binder, file).await?;
    {
        let mut found = found.lock().unwrap();
        found.records += report.records;
        found.compared += report.compared;
        for reason in &report.reasons {
            *found.reasons.entry(reason.clone()).or_default() += 1;
        }
    }
    let failures = report.failures.iter().filter(|failure| !is_listed(failure)).cloned().collect();
    Report { failures, ..report }.into_result()
}

/// Is it a difference that is known?
fn is_listed(failure: &str) -> bool {
    let first = failure.lines().next().unwrap_or_default();
    include_str!("binder/differences.txt").lines().any(|line| !line.starts_with('#') && line == first)
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
    let all = std::env::var("BENNU_BINDER").is_ok_and(|binder| binder == "all");
    let seed = std::env::var("BENNU_BINDER_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    if !all {
        println!("a tenth of the files, by seed {seed}: BENNU_BINDER_SEED={seed}; all: BENNU_BINDER=all");
    }
    let found = Arc::new(Mutex::new(Found::default()));
    let mut trials = Vec::new();
    for file in corpus::files(&root) {
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        if !all && !corpus::is_chosen(&format!("binder{name}"), seed) {
            continue;
        }
        let (runtime, found) = (runtime.clone(), found.clone());
        trials.push(Trial::test(name, move || {
            // On a worker, so that it has the worker's stack.
            let task = runtime.spawn(async move { run(&file, &found).await });
            runtime.block_on(task).unwrap().map_err(Into::into)
        }));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    let found = found.lock().unwrap();
    println!("{} of {} records were planned both ways; of others:", found.compared, found.records);
    let mut reasons: Vec<_> = found.reasons.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (reason, count) in reasons {
        println!("{count:>6}  {reason}");
    }
    drop(found);
    conclusion.exit();
}
