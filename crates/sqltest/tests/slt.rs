//! Every file below `sql-tests`, in every front.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

use bennu_sqltest::{Compare, Front, run_file};
use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let mut trials = Vec::new();
    for file in files {
        for front in Front::ALL {
            let (runtime, path) = (runtime.clone(), file.clone());
            let name = format!("{}::{}", front.name(), file.strip_prefix(&root).unwrap().display());
            trials.push(Trial::test(name, move || {
                // On a worker, so that it has the worker's stack.
                let task = runtime.spawn(async move { run_file(front, Compare::Exact, &path).await });
                runtime.block_on(task).unwrap()?.into_result().map_err(Into::into)
            }));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
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
