//! Every query below `sql-tests` that can be a row program, as one and as a plan: the same columns, types and rows.
//!
//! Row programs scan whole tables here, so that nearly every shape is tried. `make test` runs a tenth of the files,
//! chosen by a seed that is printed; `BENNU_ROWS=all` runs all.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod corpus;

use bennu_sqltest::{Ways, compare_file};
use corpus::Corpus;
use libtest_mimic::Arguments;
use std::path::Path;

async fn run(file: &Path) -> Result<(), String> {
    let db = corpus::open().await?;
    compare_file(&db, Ways::RowPrograms, file).await?.into_result()
}

fn main() {
    let arguments = Arguments::from_args();
    let corpus = Corpus::of("BENNU_ROWS");
    let chosen = corpus.files().into_iter().filter(|(name, _)| corpus.takes("rows", name));
    let trials = chosen.map(|(name, file)| corpus.trial(name, async move { run(&file).await })).collect();
    libtest_mimic::run(&arguments, trials).exit();
}
