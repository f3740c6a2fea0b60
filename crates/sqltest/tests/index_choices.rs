//! Runs every query below `sql-tests` without indexes, with an index wherever one is usable, and with the cheapest
//! access path, and compares the rows.
//!
//! Each table has an index on each of its columns, beside those of the file. `make test` runs a tenth of the files,
//! chosen by a seed that is printed; `BENNU_INDEXES=all` runs all.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod corpus;

use bennu_sqltest::compare_index_choices;
use corpus::Corpus;
use libtest_mimic::Arguments;
use std::path::Path;

async fn run(file: &Path) -> Result<(), String> {
    let db = corpus::open().await?;
    compare_index_choices(&db, file).await?.into_result()
}

fn main() {
    let arguments = Arguments::from_args();
    let corpus = Corpus::of("BENNU_INDEXES");
    // Files about indexes are always selected, except that of indexes with stale entries.
    let takes =
        |name: &str| name != "index/refreshed.slt" && (name.starts_with("index/") || corpus.takes("indexes", name));
    let chosen = corpus.files().into_iter().filter(|(name, _)| takes(name));
    let trials = chosen.map(|(name, file)| corpus.trial(name, async move { run(&file).await })).collect();
    libtest_mimic::run(&arguments, trials).exit();
}
