//! Every query below `sql-tests`, planned from the bound tree and from its syntax: the same columns, types and rows.
//!
//! `make test` runs a tenth of the files, chosen by a seed that is printed; `BENNU_BINDER=all` runs all, and tells at the
//! end how many queries were planned both ways and why the others were not. Where the answers of the syntax are wrong is in
//! `binder/differences.txt`, by cause.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout, missing_docs)]

mod corpus;

use bennu_sqltest::{Report, Ways, compare_file};
use corpus::Corpus;
use libtest_mimic::Arguments;
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
    let db = corpus::open().await?;
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
    let corpus = Corpus::of("BENNU_BINDER");
    let found = Arc::new(Mutex::new(Found::default()));
    let chosen = corpus.files().into_iter().filter(|(name, _)| corpus.takes("binder", name));
    let trials = chosen.map(|(name, file)| {
        let found = found.clone();
        corpus.trial(name, async move { run(&file, &found).await })
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
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
