//! Tests every page of the documentation: its SQL runs, the results shown are correct, and its links are valid.
//!
//! Each page runs in one session on a new database. Blocks fenced as `sql` run in order; `sql fails=42P01` must fail
//! with that code; a `text` block directly after is the result of the last statement; `csv NAME` is a file for `\copy`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod links;
mod page;
mod session;
mod settings;

use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    // DataFusion's planner recurses: debug builds need a larger stack than the default.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(32 << 20)
        .enable_all()
        .build()
        .unwrap();
    let runtime = Arc::new(runtime);
    let mut trials = Vec::new();
    for file in pages(&root) {
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        let text = std::fs::read_to_string(&file).unwrap();
        let blocks = page::blocks(&text);
        let (here, shown) = (file.clone(), text.clone());
        trials.push(Trial::test(format!("links::{name}"), move || links::check(&here, &shown).map_err(Into::into)));
        if blocks.iter().any(page::Block::runs) {
            let (runtime, root) = (runtime.clone(), root.clone());
            trials.push(Trial::test(format!("sql::{name}"), move || {
                // Runs on a worker, for its larger stack.
                let task = runtime.spawn(async move { session::run(&root, blocks).await });
                runtime.block_on(task).unwrap().map_err(Into::into)
            }));
        }
    }
    let (runtime, page) = (runtime.clone(), root.join("docs/sql/settings.md"));
    trials.push(Trial::test("settings::docs/sql/settings.md", move || {
        let text = std::fs::read_to_string(page).unwrap();
        let task = runtime.spawn(async move { settings::check(&text).await });
        runtime.block_on(task).unwrap().map_err(Into::into)
    }));
    libtest_mimic::run(&arguments, trials).exit();
}

/// README.md and all pages below `docs` and `examples`.
fn pages(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs"), root.join("examples")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
