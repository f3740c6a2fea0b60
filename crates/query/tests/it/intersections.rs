//! Intersections of two indexes, compared with a brute-force filter: merged by rowkey and by a set of rowkeys, in
//! either direction.

use crate::fixture::Fixture;
use query::ExplainOptions;

/// Pseudorandom numbers from a seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % sides
    }
}

/// A row: both parts of the key, and the two indexed columns.
type Row = (i32, String, Option<i32>, Option<i32>);

/// A predicate on the two indexed columns.
type Test = fn(Option<i32>, Option<i32>, i32) -> bool;

/// Conditions, their predicates, and whether all parts in front of the rowkey have one value.
fn conditions(x: i32) -> Vec<(String, Test, bool)> {
    vec![
        (format!("a = {x} and b = {x}"), |a, b, x| a == Some(x) && b == Some(x), true),
        (format!("a is null and b = {x}"), |a, b, x| a.is_none() && b == Some(x), true),
        (format!("a = {x} and b between {x} and {}", x + 1), |a, b, x| a == Some(x) && in_two(b, x), false),
        (format!("a in ({x}, {}) and b = {x}", x + 1), |a, b, x| in_two(a, x) && b == Some(x), false),
        (format!("a <> {x} and b = {x}"), |a, b, x| a.is_some_and(|a| a != x) && b == Some(x), false),
    ]
}

fn in_two(value: Option<i32>, x: i32) -> bool {
    value.is_some_and(|value| (x..=x + 1).contains(&value))
}

fn text(row: &Row) -> String {
    let value = |value: &Option<i32>| value.map_or_else(String::new, |value| value.to_string());
    format!("{}|{}|{}|{}", row.0, row.1, value(&row.2), value(&row.3))
}

async fn explained(db: &Fixture, query: &str) -> String {
    let cx = db.context_that("intersect").await;
    let plan = db.plan(query, &[]).await.unwrap();
    db.planner.explain(&cx, &plan, &[], ExplainOptions::default()).await.unwrap().lines().join("\n")
}

async fn run(db: &Fixture, query: &str) -> Vec<String> {
    let plan = db.plan(query, &[]).await.unwrap();
    db.run_in(&db.context_that("intersect").await, &plan, &[]).await.unwrap()
}

async fn round(seed: u64) {
    let mut dice = Dice(seed);
    let db = Fixture::new().await;
    let key = ["k, s", "k desc, s", "s, k"][dice.roll(3) as usize];
    db.table("t", "k integer!, s text!, a integer, b integer, n text", key, None).await;
    let mut rows: Vec<Row> = Vec::new();
    // Enough for several batches of each index.
    for at in 0..dice.roll(1_200) as i32 {
        let mut value = || match dice.roll(5) {
            0 => None,
            value => Some(value as i32),
        };
        let (a, b) = (value(), value());
        rows.push((at, format!("s{}", at % 7), a, b));
    }
    db.index("t", "ia", ["a", "a desc", "a nulls first"][dice.roll(3) as usize], &[], None).await;
    let lines: Vec<String> = rows.iter().map(|row| format!("{}|note {}", text(row), row.0)).collect();
    db.insert("t", &lines.iter().map(String::as_str).collect::<Vec<_>>()).await;
    db.index("t", "ib", ["b", "b desc"][dice.roll(2) as usize], &[], None).await;
    let x = 1 + dice.roll(3) as i32;
    for (condition, test, merges) in conditions(x) {
        let mut expected: Vec<&Row> = rows.iter().filter(|row| test(row.2, row.3, x)).collect();
        let how = explained(&db, &format!("select n from t where {condition}")).await;
        assert!(how.contains(" and i"), "seed {seed}, {condition}: {how}");
        assert_eq!(how.contains("(merged by rowkey)"), merges, "seed {seed}, {condition}: {how}");
        for down in [false, true] {
            expected.sort_by_key(|row| row.0);
            if down {
                expected.reverse();
            }
            let wanted: Vec<String> = expected.iter().map(|row| text(row)).collect();
            let direction = if down { " desc" } else { "" };
            // With a column that is in no index, and with key columns only.
            let found = run(&db, &format!("select k, s, a, b from t where {condition} order by k{direction}")).await;
            assert_eq!(found, wanted, "seed {seed}, {condition}");
            let keys: Vec<String> = expected.iter().map(|row| row.0.to_string()).collect();
            let found = run(&db, &format!("select k from t where {condition} order by k{direction}")).await;
            assert_eq!(found, keys, "seed {seed}, {condition}");
        }
        let count = run(&db, &format!("select count(*) from t where {condition}")).await;
        assert_eq!(count, [expected.len().to_string()], "seed {seed}, {condition}");
        let half = format!("select count(n) from t where {condition} and k < 300");
        let low = expected.iter().filter(|row| row.0 < 300).count();
        assert_eq!(run(&db, &half).await, [low.to_string()], "seed {seed}, {half}");
    }
}

#[tokio::test]
async fn two_indexes_give_the_rows_that_both_have() {
    let seeds = std::env::var("BENNU_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(8);
    for seed in 0..seeds {
        round(seed).await;
    }
}
