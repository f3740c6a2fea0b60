//! A process stops between any two steps of a statement: reads are correct at once, and REPAIR removes all remains.

use super::{
    PATIENCE, Process, every_read_is_right, filled, gone, is_whole_after_repair, limited, written_by_the_dead,
};
use store_testkit::Point;

/// Statements that write one row, and one that writes several.
const STATEMENTS: [&str; 6] = [
    "INSERT INTO t VALUES (9, 6, 'B6', 6)",
    "UPDATE t SET a = 6, b = 'b6', u = 4 WHERE k = 2",
    "UPDATE t SET k = 8 WHERE k = 2",
    "DELETE FROM t WHERE k = 2",
    "INSERT INTO t VALUES (1, 4, 'b4', 1) ON CONFLICT (u) DO UPDATE SET a = 6",
    "UPDATE t SET u = u + 1",
];

const ROWS: &str = "(1, 3, 'B3', 1), (2, 4, 'b4', 2), (3, 3, 'b3', NULL)";

/// Stops one statement after each of its steps; returns the number of steps.
async fn stops_of(statement: &str, repairs: bool) -> usize {
    let model = filled(ROWS).await;
    let mut stops = 0;
    for point in [Point::Apply, Point::AfterApply] {
        for step in 1.. {
            let store = limited(model.after_crash());
            let mut dying = Process::on(&store).await;
            dying.client.ok("SELECT * FROM t WHERE a = 1").await;
            dying.plan.fail_from(point, step, gone());
            dying.client.run(statement).await;
            if dying.plan.struck() == 0 {
                break;
            }
            stops += 1;
            drop(dying);
            written_by_the_dead(&store).await;
            let when = format!("{statement}, {point:?} {step}");
            let mut other = Process::on(&store).await;
            every_read_is_right(&mut other.client, &when).await;
            // Other processes can write the rows of the stopped process.
            let again = other.client.run(statement).await;
            assert!(!again.contains("ERROR") || again.contains("23505"), "{when}: {again}");
            if repairs {
                tokio::time::sleep(2 * PATIENCE).await;
                is_whole_after_repair(&mut other.client, &when).await;
            }
        }
    }
    stops
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_between_any_two_steps_gives_no_wrong_answer() {
    // All statements take minutes; the tests of `txn` cover the steps of each kind faster.
    let count = std::env::var("BENNU_DUAL_CYCLES").map_or(1, |_| STATEMENTS.len());
    let mut stops = 0;
    for statement in STATEMENTS.into_iter().take(count) {
        stops += stops_of(statement, false).await;
    }
    // Each statement writes some entries twice, a row, and reservations.
    assert!(stops > count * 10, "{stops}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repair_leaves_nothing_of_a_stop() {
    assert!(stops_of("UPDATE t SET a = 6, b = 'b6', u = 4 WHERE k = 2", true).await > 10);
}
