//! The order and the key that a scan declares hold for every plan above it: the same query on copies of the tables
//! without keys, and so without order, returns the same rows in the same order.

use crate::client::{Client, engine};
use store_testkit::{Random, from_environment};

const COLUMNS: [&str; 4] = ["a", "b", "c", "v"];

/// Tables with all forms of keys of several columns, each with a copy without a key: `t0`, `t0_copy` and so on.
async fn tables(client: &mut Client, numbers: &mut Random) {
    let keys = [
        "PRIMARY KEY (a, b, c)",
        "PRIMARY KEY (a DESC, c)",
        "PRIMARY KEY (b, a) ",
        "PRIMARY KEY (c, a DESC, b) SALT",
        "PRIMARY KEY (b, c)",
    ];
    for (at, key) in keys.iter().enumerate() {
        let nulls = if at % 2 == 0 { "NULL" } else { "NOT NULL" };
        let columns = format!("a integer {nulls}, b integer {nulls}, c integer {nulls}, v integer");
        let (key, salt) = match key.strip_suffix(" SALT") {
            Some(key) => (key, " SALT_BUCKETS = 4"),
            None => (*key, ""),
        };
        client.ok(&format!("CREATE TABLE t{at} ({columns}, {key}){salt}")).await;
        client.ok(&format!("CREATE TABLE t{at}_copy (a integer, b integer, c integer, v integer)")).await;
        for _ in 0..24 {
            let mut value = |may_be_null: bool| match numbers.below(6) {
                5 if may_be_null => "NULL".to_owned(),
                value => (value % 4).to_string(),
            };
            let null = at % 2 == 0;
            let row = [value(null), value(null), value(null), value(true)].join(", ");
            client.ok(&format!("INSERT INTO t{at} VALUES ({row}) ON CONFLICT DO NOTHING")).await;
        }
        client.ok(&format!("INSERT INTO t{at}_copy SELECT * FROM t{at}")).await;
    }
}

/// FROM with one to three tables, and their aliases.
fn from(numbers: &mut Random, suffix: &str) -> (String, Vec<String>) {
    let side = |numbers: &mut Random, alias: &str| {
        let table = format!("t{}{suffix}", numbers.below(5));
        match numbers.below(3) {
            0 => {
                format!("(SELECT * FROM {table} WHERE {} = {}) AS {alias}", numbers.pick(&COLUMNS), numbers.below(4))
            }
            _ => format!("{table} AS {alias}"),
        }
    };
    let mut text = side(numbers, "x0");
    let mut aliases = vec!["x0".to_owned()];
    for at in 1..=numbers.below(3) {
        let alias = format!("x{at}");
        let kind = numbers.pick(&["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
        let other = side(numbers, &alias);
        let before = numbers.pick(&aliases.iter().map(String::as_str).collect::<Vec<_>>()).to_owned();
        let mut conditions = Vec::new();
        for _ in 0..=numbers.below(2) {
            conditions.push(format!("{before}.{} = {alias}.{}", numbers.pick(&COLUMNS), numbers.pick(&COLUMNS)));
        }
        if kind != "FULL JOIN" && numbers.below(3) == 0 {
            conditions.push(format!("{alias}.{} = {}", numbers.pick(&COLUMNS), numbers.below(4)));
        }
        text = format!("{text} {kind} {other} ON {}", conditions.join(" AND "));
        aliases.push(alias);
    }
    (text, aliases)
}

/// A query, the number of its leading columns that ORDER BY names, and whether it has a LIMIT.
fn query(seed: u64, suffix: &str) -> (String, usize, bool) {
    let mut numbers = Random::new(seed);
    let numbers = &mut numbers;
    let (from, aliases) = from(numbers, suffix);
    let aliases: Vec<&str> = aliases.iter().map(String::as_str).collect();
    let column = |numbers: &mut Random| format!("{}.{}", numbers.pick(&aliases), numbers.pick(&COLUMNS));
    let columns: Vec<String> = (0..=1 + numbers.below(3)).map(|_| column(numbers)).collect();
    let ordered = 1 + numbers.index(columns.len());
    let mut order = Vec::new();
    for at in 1..=ordered {
        let direction = numbers.pick(&["", "", " DESC"]);
        let nulls = numbers.pick(&["", "", " NULLS FIRST", " NULLS LAST"]);
        order.push(format!("{at}{direction}{nulls}"));
    }
    let order = order.join(", ");
    let list = columns.join(", ");
    let numbered: Vec<String> = columns.iter().enumerate().map(|(at, name)| format!("{name} AS c{at}")).collect();
    let numbered = numbered.join(", ");
    match numbers.below(5) {
        0 => (
            format!("SELECT {list}, count(*), sum({}) FROM {from} GROUP BY {list} ORDER BY {order}", column(numbers)),
            ordered,
            false,
        ),
        1 => (format!("SELECT DISTINCT {numbered} FROM {from} ORDER BY {order}"), ordered, false),
        2 => {
            let sorts: Vec<String> =
                columns.iter().map(|name| format!("{name}{}", numbers.pick(&["", " DESC"]))).collect();
            let partition =
                if numbers.below(2) == 0 { format!("PARTITION BY {} ", column(numbers)) } else { String::new() };
            let over = format!("OVER ({partition}ORDER BY {})", sorts.join(", "));
            (
                format!(
                    "SELECT {numbered}, rank() {over}, sum({}) {over} FROM {from} ORDER BY {order}",
                    column(numbers)
                ),
                ordered,
                false,
            )
        }
        3 => (format!("SELECT {numbered} FROM {from} ORDER BY {order} LIMIT {}", 1 + numbers.below(9)), ordered, true),
        _ => (format!("SELECT {numbered} FROM {from} ORDER BY {order}"), ordered, false),
    }
}

/// The columns that ORDER BY names, in the order of the answer; and all rows, sorted.
fn seen(answer: &str, ordered: usize) -> (Vec<String>, Vec<String>) {
    let mut rows: Vec<String> = answer.lines().map(str::to_owned).collect();
    let keys = rows.iter().map(|row| row.split('|').take(ordered).collect::<Vec<_>>().join("|")).collect();
    rows.sort_unstable();
    (keys, rows)
}

#[tokio::test]
async fn queries_of_keyed_tables_answer_as_those_of_copies_without_keys() {
    let seed = from_environment("BENNU_SEED", 1);
    let count: u64 = std::env::var("BENNU_QUERIES").ok().and_then(|count| count.parse().ok()).unwrap_or(150);
    let engine = engine().await;
    let mut client = Client::of(&engine);
    tables(&mut client, &mut Random::new(seed)).await;
    for number in 0..count {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(number);
        let (text, ordered, limited) = query(seed, "");
        let (copy, ..) = query(seed, "_copy");
        let (answer, wanted) = (client.run(&text).await, client.run(&copy).await);
        let (answer, wanted) = (seen(&answer, ordered), seen(&wanted, ordered));
        assert_eq!(answer.0, wanted.0, "query {seed}, order: {text}");
        assert!(limited || answer.1 == wanted.1, "query {seed}, rows: {text}\n{:#?}\n{:#?}", answer.1, wanted.1);
        assert!(!answer.1.iter().any(|row| row.contains("ERROR")), "{text}\n{:?}", answer.1);
    }
}
