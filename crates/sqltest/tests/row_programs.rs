//! Runs every query below `sql-tests` in two modes and compares columns, types and rows:
//!
//! - As a row program and as a DataFusion plan. Row programs scan whole tables here, so that nearly every shape is
//!   tried.
//! - With its literals replaced by parameters, and as written.
//!
//! The file of periodically refreshed indexes is skipped: plans may read stale entries if a session allows it, row
//! programs never do.
//!
//! `make test` runs a tenth of the files, chosen by a seed that is printed; `BENNU_ROWS=all` runs all.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod corpus;

use bennu_sqltest::{Ways, compare_file};
use corpus::Corpus;
use libtest_mimic::Arguments;
use std::path::Path;

async fn run(ways: Ways, file: &Path) -> Result<(), String> {
    let db = corpus::open().await?;
    compare_file(&db, ways, file).await?.into_result()
}

fn main() {
    let arguments = Arguments::from_args();
    let corpus = Corpus::of("BENNU_ROWS");
    let ways = [("rows", Ways::RowPrograms), ("literals", Ways::Literals)];
    let mut trials = Vec::new();
    for (salt, ways) in ways {
        let is_asked = |name: &str| corpus.takes(salt, name) && name != "index/refreshed.slt";
        for (name, file) in corpus.files().into_iter().filter(|(name, _)| is_asked(name)) {
            trials.push(corpus.trial(format!("{salt}::{name}"), async move { run(ways, &file).await }));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}
