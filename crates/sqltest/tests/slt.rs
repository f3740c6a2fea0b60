//! Runs every file below `sql-tests` with every front.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod corpus;

use bennu_sqltest::{Compare, Front, run_file};
use corpus::Corpus;
use libtest_mimic::Arguments;

fn main() {
    let arguments = Arguments::from_args();
    let corpus = Corpus::whole();
    let mut trials = Vec::new();
    for (name, file) in corpus.files() {
        for front in Front::ALL {
            let file = file.clone();
            let trial = async move { run_file(front, Compare::Exact, &file).await?.into_result() };
            trials.push(corpus.trial(format!("{}::{name}", front.name()), trial));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}
