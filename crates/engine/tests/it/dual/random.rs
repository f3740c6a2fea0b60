//! Two processes write at random and die at random while others read: every index read is correct.
//!
//! The test runs a few cycles; `BENNU_DUAL_CYCLES` and `BENNU_DUAL_SEED` select more.

use super::{
    PATIENCE, Process, every_read_is_right, filled, gone, is_whole_after_repair, limited, written_by_the_dead,
};
use crate::client::Client;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::Store;
use store_testkit::{ModelStore, Point, Random, from_environment};

/// A statement on few rows and few values, so that writers conflict.
fn statement(random: &mut Random) -> String {
    let (k, a, b) = (random.below(6), random.below(7), random.below(7));
    let u = match random.below(8) {
        7 => "NULL".to_string(),
        u => u.to_string(),
    };
    let big = if random.below(2) == 0 { "B" } else { "b" };
    match random.below(9) {
        0 | 1 => format!("INSERT INTO t VALUES ({k}, {a}, '{big}{b}', {u})"),
        2 => format!("UPDATE t SET a = {a} WHERE k = {k}"),
        3 => format!("UPDATE t SET u = {u}, b = '{big}{b}' WHERE a = {a} AND k < 100"),
        4 => format!("DELETE FROM t WHERE k = {k}"),
        5 => format!("UPSERT INTO t VALUES ({k}, {a}, '{big}{b}', {u})"),
        6 => format!("UPDATE t SET k = {k} WHERE u = {a}"),
        7 => format!("INSERT INTO t VALUES ({k}, {a}, '{big}{b}', {u}) ON CONFLICT (u) DO UPDATE SET a = excluded.a"),
        _ => format!("DELETE FROM t WHERE u = {a}"),
    }
}

/// Whether a write may end like this.
fn is_an_end(answer: &str) -> bool {
    !answer.contains("ERROR") || ["23505", "40001", "58030", "40003", "40P01"].iter().any(|code| answer.contains(code))
}

/// A process that writes until it is done or dead.
async fn writer(store: Arc<dyn Store>, mut random: Random, dies: bool) {
    let mut process = Process::on(&store).await;
    if dies {
        let point = if random.below(2) == 0 { Point::Apply } else { Point::AfterApply };
        let step = usize::try_from(random.below(120)).unwrap() + 1;
        process.plan.fail_from(point, step, gone());
    }
    process.plan.delay(Point::Apply, usize::try_from(random.below(3)).unwrap());
    for _ in 0..12 {
        let text = statement(&mut random);
        let answer = process.client.run(&text).await;
        assert!(is_an_end(&answer), "{text}: {answer}");
        if process.plan.struck() > 0 {
            return written_by_the_dead(&store).await;
        }
    }
}

/// Checks at any moment: no row is found by a value that it does not have, and a row that nobody writes is always
/// found.
async fn reader(store: Arc<dyn Store>, done: Arc<AtomicBool>) {
    let process = Process::on(&store).await;
    let mut client = Client::of(&process.engine);
    client.ok("SET bennu.index_choice = force").await;
    while !done.load(Ordering::Relaxed) {
        for a in 0..7 {
            let found = client.run(&format!("SELECT a, k, b, u FROM t WHERE a = {a}")).await;
            assert!(!found.contains("ERROR"), "{found}");
            let rows: Vec<&str> = found.lines().filter(|line| line.contains('|')).collect();
            assert!(rows.iter().all(|row| row.starts_with(&format!("{a}|"))), "{found}");
            assert_eq!(rows.iter().filter(|row| **row == "3|100|b3|100").count(), usize::from(a == 3), "{found}");
            let found = client.run(&format!("SELECT lower(b), a, u FROM t WHERE lower(b) = 'b{a}'")).await;
            assert!(!found.contains("ERROR"), "{found}");
            let mut rows = found.lines().filter(|line| line.contains('|'));
            assert!(rows.all(|row| row.starts_with(&format!("b{a}|"))), "{found}");
            // By the entries of two indexes, with row programs and with plans.
            for programs in ["on", "off"] {
                client.ok(&format!("SET bennu.index_choice = intersect; SET bennu.row_programs = {programs}")).await;
                let found =
                    client.run(&format!("SELECT a, lower(b), k, u FROM t WHERE a = {a} AND lower(b) = 'b{a}'")).await;
                assert!(!found.contains("ERROR"), "{found}");
                let rows: Vec<&str> = found.lines().filter(|line| line.contains('|')).collect();
                assert!(rows.iter().all(|row| row.starts_with(&format!("{a}|b{a}|"))), "{found}");
                assert_eq!(rows.iter().filter(|row| **row == "3|b3|100|100").count(), usize::from(a == 3), "{found}");
            }
            client.ok("SET bennu.index_choice = force; SET bennu.row_programs = on").await;
            let found = client.run(&format!("SELECT u, k FROM t WHERE u = {a}")).await;
            assert!(!found.contains("ERROR"), "{found}");
            let mut rows = found.lines().filter(|line| line.contains('|'));
            assert!(rows.all(|row| row.starts_with(&format!("{a}|"))), "{found}");
        }
    }
}

async fn cycle(model: &ModelStore, seed: u64) {
    let mut random = Random::new(seed);
    let store = limited(model.after_crash());
    for round in 0..3 {
        let done = Arc::new(AtomicBool::new(false));
        let reading = tokio::spawn(reader(Arc::clone(&store), Arc::clone(&done)));
        let writers: Vec<_> = (0..2)
            .map(|_| {
                let (seed, dies) = (random.below(u64::MAX >> 34), random.below(3) > 0);
                tokio::spawn(writer(Arc::clone(&store), Random::new(seed), dies))
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
        done.store(true, Ordering::Relaxed);
        reading.await.unwrap();
        let mut after = Process::on(&store).await;
        every_read_is_right(&mut after.client, &format!("seed {seed}, round {round}")).await;
    }
    tokio::time::sleep(2 * PATIENCE).await;
    let mut after = Process::on(&store).await;
    is_whole_after_repair(&mut after.client, &format!("seed {seed}")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_that_die_leave_no_wrong_answer() {
    let first = from_environment("BENNU_DUAL_SEED", 1);
    let model = filled("(100, 3, 'b3', 100)").await;
    for seed in first..first + from_environment("BENNU_DUAL_CYCLES", 2) {
        cycle(&model, seed).await;
    }
}
