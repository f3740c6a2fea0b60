//! Behaviour of fjall's threads for which the store has a workaround: `docs/architecture/fjall.md`. Uses Linux's
//! `/proc`.

#![cfg(target_os = "linux")]

use fjall::Database;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

const ALONE: &str = "BENNU_TEST_ALONE";

/// CPU time of each fjall thread in this process, in system ticks (mostly 10 ms).
fn ticks_of_workers() -> Vec<u64> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let of_fjall = tasks.filter(|task| fs::read_to_string(task.join("comm")).unwrap_or_default() == "fjall:worker\n");
    let ticks = |stat: String| {
        // After the name in parentheses, user time is the 12th field and system time the 13th.
        let fields: Vec<u64> =
            stat.rsplit(')').next().unwrap().split_whitespace().skip(11).take(2).map(|n| n.parse().unwrap()).collect();
        fields.iter().sum()
    };
    of_fjall.map(|task| ticks(fs::read_to_string(task.join("stat")).unwrap())).collect()
}

/// Runs in a process of its own, without other fjall threads.
#[test]
fn one_of_two_threads_of_fjall_turns_round_while_the_other_compacts() {
    if std::env::var_os(ALONE).is_none() {
        let name = "fjall_threads::one_of_two_threads_of_fjall_turns_round_while_the_other_compacts";
        let alone = Command::new(std::env::current_exe().unwrap()).args(["--exact", name]).env(ALONE, "1").output();
        let alone = alone.unwrap();
        assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stdout));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let db = Database::builder(folder.path()).worker_threads(2).open().unwrap();
    let rows = db.keyspace("rows", Default::default).unwrap();
    let begun = Instant::now();
    // There is work for one thread only, so the CPU time of the other is wasted.
    while ticks_of_workers().into_iter().min() < Some(5) {
        assert!(begun.elapsed() < Duration::from_secs(60), "fjall's threads rest while there is nothing to do");
        let mut ingestion = rows.start_ingestion().unwrap();
        (0..50_000_u32).for_each(|row| ingestion.write(row.to_be_bytes(), "some value of a row").unwrap());
        ingestion.finish().unwrap();
    }
}
