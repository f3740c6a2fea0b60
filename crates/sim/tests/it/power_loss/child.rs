//! A recorded process. It writes a line to the file `acks` for each durable step.

use super::plan::{BATCH_STEP, End, Plan, TABLES, WIDTH};
use crate::history::{self, Due};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use store::Store;
use store_fjall::FjallStore;

const WRITERS: u64 = 3;

/// The folder of the store, several levels deep.
pub(crate) fn data(root: &Path) -> std::path::PathBuf {
    root.join("deep/down/data")
}

#[derive(Clone)]
struct Acks(Arc<Mutex<std::fs::File>>);

impl Acks {
    fn say(&self, line: std::fmt::Arguments<'_>) {
        self.0.lock().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

/// Runs one life of the plan below `root`.
pub(crate) fn live(root: &Path, plan: Plan, life: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
    let acks = std::fs::File::options().create(true).append(true).open(root.join("acks")).unwrap();
    let acks = Acks(Arc::new(Mutex::new(acks)));
    let plan = Arc::new(plan);
    runtime.block_on(async {
        let store = FjallStore::open(data(root), history::options()).unwrap();
        acks.say(format_args!("open {life}"));
        if life == 0 {
            history::create_tables(&store, &TABLES).await.unwrap();
            acks.say(format_args!("tables"));
        }
        let next = Arc::new(AtomicU64::new(plan.batches_of(life).start));
        let writers: Vec<_> = (0..WRITERS)
            .map(|_| tokio::spawn(write(store.clone(), acks.clone(), plan.clone(), life, next.clone())))
            .collect();
        for act in plan.acts_of(life) {
            if plan.is_cut_off(life, act) {
                let _load = history::begin_load(&store, &plan.ledgers[act], &plan.acts[act]).await;
                std::process::exit(0);
            }
            perform(&store, &plan, act).await;
            acks.say(format_args!("act {act}"));
        }
        if plan.lives[life].end == End::Killed {
            // Without destructors, while other tasks write.
            std::process::exit(0);
        }
        for writer in writers {
            writer.await.unwrap();
        }
        if plan.lives[life].end == End::Closed {
            store.close().await.unwrap();
        }
    });
}

async fn perform(store: &FjallStore, plan: &Plan, act: usize) {
    let step = &plan.acts[act];
    let outcome = history::perform(store, &plan.ledgers[act], step).await;
    let due = plan.ledgers[act].clone().take(step);
    assert_eq!(outcome.is_err(), due == Due::Duplicate, "{step:?}: {outcome:?}");
}

async fn write(store: Arc<FjallStore>, acks: Acks, plan: Arc<Plan>, life: usize, next: Arc<AtomicU64>) {
    loop {
        let batch = next.fetch_add(1, Ordering::Relaxed);
        if batch >= plan.batches_of(life).end {
            return;
        }
        let rows = TABLES.iter().flat_map(|table| (0..WIDTH).map(|part| (*table, batch * WIDTH + part)));
        history::put_rows(&store, rows, BATCH_STEP + batch).await.unwrap();
        acks.say(format_args!("batch {batch}"));
    }
}
