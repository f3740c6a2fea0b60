//! Large tables are read in partitions whose borders lie between values of a key column, so that grouping by it needs
//! no exchange. The same queries on copies without keys return the same rows.

use crate::client::{Client, engine_with_threads};
use store_testkit::{Random, from_environment};

/// Rows of a table. Tables are split from 20,000 rows on.
const ROWS: u32 = 24_000;

/// Name, end of the definition, and the values of row number `n`.
const TABLES: [(&str, &str, &str); 6] = [
    ("even", "PRIMARY KEY (a, b))", "n / 4, n % 4, n"),
    ("descending", "PRIMARY KEY (a DESC, b))", "n / 7 - 900, n % 7, n"),
    ("skewed", "PRIMARY KEY (a, b))", "CASE WHEN n < 100 THEN n ELSE 5000 END, n, n"),
    ("one", "PRIMARY KEY (a, b))", "1, n, n"),
    ("whole", "PRIMARY KEY (a))", "n, n % 10, n"),
    ("salted", "PRIMARY KEY (a, b)) SALT_BUCKETS = 3", "n / 4, n % 4, n"),
];

const QUERIES: [&str; 14] = [
    "SELECT a, count(*), sum(v) FROM {} GROUP BY a",
    "SELECT a, b % 3, count(*), min(v) FROM {} GROUP BY a, b % 3",
    "SELECT a, sum(v) FROM {} GROUP BY a HAVING count(*) > 3 ORDER BY a DESC LIMIT 50",
    "SELECT DISTINCT a FROM {}",
    "SELECT a, b, rank() OVER (PARTITION BY a ORDER BY b DESC) FROM {}",
    "SELECT count(*), sum(c) FROM (SELECT a, count(DISTINCT b) AS c FROM {} GROUP BY a) AS g",
    "SELECT x.a, count(*), sum(y.v) FROM {} AS x JOIN {} AS y ON x.a = y.a AND x.b = y.b GROUP BY x.a",
    "SELECT coalesce(x.a, y.a), x.s, y.s FROM (SELECT a, sum(v) AS s FROM {} GROUP BY a) AS x
     FULL JOIN (SELECT a, sum(v) AS s FROM {} WHERE v % 5 = 0 GROUP BY a) AS y ON x.a = y.a",
    "SELECT a, count(*) FROM (SELECT a FROM {} UNION ALL SELECT a + 1 FROM {}) AS u GROUP BY a",
    "SELECT a, count(*) FROM (SELECT a FROM {} WHERE v < 900 UNION ALL SELECT a FROM {} WHERE v > 400) AS u GROUP BY a",
    "(SELECT a, v FROM {} WHERE v < 900 UNION ALL SELECT a, v FROM {} WHERE v > 400) ORDER BY a, v LIMIT 70",
    "SELECT a, b, count(*) FROM {} GROUP BY ROLLUP (a, b) HAVING count(*) > 1",
    "SELECT a, v FROM {} AS x WHERE v = (SELECT max(v) FROM {} AS y WHERE y.a = x.a)",
    "SELECT a + 1 AS a, count(*) FROM {} WHERE a BETWEEN 100 AND 2500 GROUP BY a",
];

/// Joins of partitions with equal borders and with different ones.
const JOINS: [&str; 8] = [
    "SELECT {h} x.a, x.b, y.v FROM {x} AS x JOIN {y} AS y ON x.a = y.a AND x.v % 3 = y.b",
    "SELECT {h} x.a, x.v, y.v FROM {x} AS x LEFT JOIN {y} AS y ON x.a = y.a AND y.v % 1000 = 0",
    "SELECT {h} y.a, x.v, y.v FROM {x} AS x RIGHT JOIN {y} AS y ON x.a = y.a AND x.v % 1000 = 0",
    "SELECT {h} x.a, x.v, y.a, y.v FROM (SELECT * FROM {x} WHERE v % 7 = 0) AS x
     FULL JOIN (SELECT * FROM {y} WHERE v % 5 = 0) AS y ON x.a = y.a",
    "SELECT {h} a, v FROM {x} AS x WHERE EXISTS (SELECT 1 FROM {y} AS y WHERE y.a = x.a AND y.v % 50 = 3)",
    "SELECT {h} a, v FROM {x} AS x WHERE NOT EXISTS (SELECT 1 FROM {y} AS y WHERE y.a = x.a AND y.v % 5 = 3)",
    "SELECT {h} x.a, count(*), sum(y.v) FROM {x} AS x JOIN {y} AS y ON x.a = y.a GROUP BY x.a",
    "SELECT {h} x.a, x.v FROM {x} AS x JOIN {y} AS y ON x.a = y.a JOIN {x} AS z ON z.a = y.a AND z.b = y.b WHERE z.v < 300",
];

/// Creates the tables of [`TABLES`] that `wanted` names.
async fn tables(client: &mut Client, wanted: &[&str]) {
    for (name, key, row) in TABLES.into_iter().filter(|(name, ..)| wanted.contains(name)) {
        client.ok(&format!("CREATE TABLE {name} (a integer, b integer, v integer, {key}")).await;
        client.ok(&format!("INSERT INTO {name} SELECT {row} FROM generate_series(0, {}) AS g(n)", ROWS - 1)).await;
    }
}

/// Creates a copy without a key of each table.
async fn copies(client: &mut Client, of: &[&str]) {
    for name in of {
        client.ok(&format!("CREATE TABLE {name}_copy AS SELECT a, b, v FROM {name}")).await;
    }
}

fn all_tables() -> Vec<&'static str> {
    TABLES.iter().map(|(name, ..)| *name).collect()
}

fn sorted(answer: &str) -> Vec<&str> {
    let mut rows: Vec<&str> = answer.lines().collect();
    rows.sort_unstable();
    rows
}

#[tokio::test]
async fn groups_by_a_key_column_are_those_of_copies_without_keys() {
    let mut numbers = Random::new(from_environment("BENNU_SEED", 1));
    let engine = engine_with_threads(4).await;
    let mut client = Client::of(&engine);
    tables(&mut client, &all_tables()).await;
    copies(&mut client, &all_tables()).await;
    for name in all_tables() {
        // The store's estimates determine the borders. This moves them by rows that are written one by one.
        let some = numbers.below(u64::from(ROWS));
        for table in [name.to_owned(), format!("{name}_copy")] {
            client.ok(&format!("DELETE FROM {table} WHERE v BETWEEN {some} AND {some} + 500")).await;
        }
        for query in QUERIES {
            let of = |table: &str| query.replace("{}", table);
            let (answer, wanted) = (client.run(&of(name)).await, client.run(&of(&format!("{name}_copy"))).await);
            assert!(!answer.contains("ERROR"), "{}\n{answer}", of(name));
            assert_eq!(sorted(&answer), sorted(&wanted), "{}", of(name));
        }
    }
}

#[tokio::test]
async fn borders_between_values_spare_the_exchange_unless_few_values_have_most_rows() {
    let engine = engine_with_threads(4).await;
    let mut client = Client::of(&engine);
    tables(&mut client, &all_tables()).await;
    let spared =
        [("even", true), ("descending", true), ("whole", true), ("skewed", false), ("one", false), ("salted", false)];
    for (table, spares) in spared {
        let plan = client.run(&format!("EXPLAIN VERBOSE SELECT a, sum(v) FROM {table} GROUP BY a")).await;
        assert_eq!(!plan.contains("Spread over tasks"), spares, "{table}\n{plan}");
        let plan = client.run(&format!("EXPLAIN VERBOSE SELECT a, b % 3, sum(v) FROM {table} GROUP BY a, b % 3")).await;
        assert_eq!(!plan.contains("Spread over tasks"), spares, "{table}\n{plan}");
    }
}

/// With this many tasks DataFusion either repartitions both sides of these joins or uses their partitioning.
const MANY_TASKS: usize = 100;

#[tokio::test]
async fn joins_of_aligned_partitions_are_those_of_copies_without_keys() {
    let engine = engine_with_threads(MANY_TASKS).await;
    let mut client = Client::of(&engine);
    tables(&mut client, &["descending", "whole", "even"]).await;
    copies(&mut client, &["descending", "whole", "even"]).await;
    for (x, y) in [("descending", "descending"), ("whole", "even")] {
        for join in JOINS {
            let of = |hint: &str, x: &str, y: &str| join.replace("{h}", hint).replace("{x}", x).replace("{y}", y);
            let wanted = client.run(&of("", &format!("{x}_copy"), &format!("{y}_copy"))).await;
            for hint in ["", "/*+ USE_SORT_MERGE_JOIN */"] {
                let keyed = of(hint, x, y);
                let answer = client.run(&keyed).await;
                assert!(!answer.contains("ERROR"), "{keyed}\n{answer}");
                assert!(sorted(&answer) == sorted(&wanted), "{keyed}");
            }
        }
    }
}

#[tokio::test]
async fn a_table_is_joined_with_itself_partition_by_partition() {
    let engine = engine_with_threads(MANY_TASKS).await;
    let mut client = Client::of(&engine);
    tables(&mut client, &["even", "descending"]).await;
    for (hint, join) in [("", "Hash join"), ("/*+ USE_SORT_MERGE_JOIN */", "Merge join")] {
        let of = |y| format!("EXPLAIN VERBOSE SELECT {hint} x.v, y.v FROM even AS x JOIN {y} AS y ON x.a = y.a");
        let (same, other) = (client.run(&of("even")).await, client.run(&of("descending")).await);
        assert!(same.contains(join) && !same.contains("Spread over tasks"), "{same}");
        assert!(other.contains(join) && other.contains("Spread over tasks"), "{other}");
    }
}
