//! Random statements, blocks, savepoints: after each of them the entries match the rows.

use super::World;
use store_testkit::Random;

fn value(random: &mut Random) -> String {
    match random.below(6) {
        0 => "NULL".to_string(),
        n => format!("{}.{}", random.below(8), "0".repeat(n as usize)),
    }
}

fn statement(random: &mut Random) -> String {
    let (k, a, n) = (random.below(20), random.below(12), value(random));
    let (other, text) = (random.below(20), random.pick(&["x", "y", "", "a\u{e4}"]));
    match random.below(14) {
        0..=2 => format!("INSERT INTO t VALUES ({k}, {a}, {n}, '{text}')"),
        3 => format!("INSERT INTO t VALUES ({k}, {a}, {n}, '{text}'), ({other}, NULL, {n}, NULL)"),
        4 => format!("UPSERT INTO t VALUES ({k}, {a}, {n}, '{text}')"),
        5 => format!("UPSERT INTO t (k, n) VALUES ({k}, {n})"),
        6 => format!(
            "INSERT INTO t VALUES ({k}, {a}, {n}, '{text}') ON CONFLICT (a) DO UPDATE SET n = excluded.n, s = t.s || 'u'"
        ),
        7 => format!("INSERT INTO t VALUES ({k}, {a}, {n}, '{text}') ON CONFLICT DO NOTHING"),
        8 => format!("UPDATE t SET a = a + 1 WHERE k > {k}"),
        9 => format!("UPDATE t SET n = {n}, s = '{text}' WHERE k % 3 = {}", k % 3),
        10 => format!("UPDATE t SET k = k + {} WHERE k < {other}", 1 + k % 3),
        11 => format!("DELETE FROM t WHERE k = {k} OR a = {a}"),
        12 if k == 0 => "DELETE FROM t".to_string(),
        _ => format!("UPDATE t SET k = {other}, a = {a} WHERE k = {k}"),
    }
}

async fn run(seed: u64, mut w: World) {
    w.client
        .ok("CREATE TABLE t (k integer PRIMARY KEY, a integer UNIQUE, n numeric, s text);
             CREATE INDEX ON t (n DESC NULLS LAST, s) INCLUDE (a); CREATE INDEX ON t (s) INCLUDE (n);
             CREATE UNIQUE INDEX ON t (a, n) NULLS NOT DISTINCT")
        .await;
    let mut random = Random::new(seed);
    for _ in 0..60 {
        let mut texts = Vec::new();
        if random.below(3) == 0 {
            w.client.ok("BEGIN").await;
            let mut savepoints = Vec::new();
            for step in 0..6 {
                w.client.ok(&format!("SAVEPOINT s{step}")).await;
                savepoints.push(step);
                let statement = statement(&mut random);
                let failed = w.client.run(&statement).await.contains("ERROR");
                texts.push(statement);
                if failed || random.below(4) == 0 {
                    // ROLLBACK TO drops the later savepoints too.
                    savepoints.truncate(1 + random.below(savepoints.len() as u64) as usize);
                    let back = format!("ROLLBACK TO s{}", savepoints[savepoints.len() - 1]);
                    w.client.ok(&back).await;
                    texts.push(back);
                }
            }
            let end = if random.below(4) == 0 { "ROLLBACK" } else { "COMMIT" };
            w.client.ok(end).await;
            texts.push(end.to_string());
        } else {
            let statement = statement(&mut random);
            let answer = w.client.run(&statement).await;
            assert!(
                !answer.contains("ERROR") || answer.contains("ERROR 23505") || answer.contains("ERROR 21000"),
                "{answer}"
            );
            texts.push(statement);
        }
        match random.below(40) {
            0 => w.client.ok("TRUNCATE t").await,
            1 => w.client.ok("REINDEX TABLE t").await,
            _ => {}
        }
        w.verify_after("t", &format!("seed {seed}: {texts:?}")).await;
    }
}

#[tokio::test]
async fn entries_are_those_of_the_rows_over_the_model() {
    for seed in 1..=12 {
        run(seed, World::new().await).await;
    }
}

#[tokio::test]
async fn entries_are_those_of_the_rows_over_the_embedded_store() {
    for seed in 101..=104 {
        run(seed, World::embedded().await).await;
    }
}
