//! The tables of the queries, and their rows.

use crate::expr::{Kind, Table};
use crate::random::Random;
use crate::writes;

pub(crate) const TABLES: [Table; 3] = [
    Table {
        name: "t",
        columns: &[
            ("k", Kind::Int),
            ("a", Kind::Int),
            ("b", Kind::Int),
            ("s", Kind::Int),
            ("c", Kind::Text),
            ("p", Kind::Text),
            ("d", Kind::Numeric),
            ("e", Kind::Float),
            ("f", Kind::Bool),
            ("g", Kind::Date),
            ("h", Kind::Timestamp),
        ],
    },
    Table {
        name: "u",
        columns: &[("c1", Kind::Text), ("k2", Kind::Int), ("v", Kind::Int), ("w", Kind::Numeric), ("z", Kind::Date)],
    },
    Table { name: "n", columns: &[("x", Kind::Int), ("y", Kind::Text), ("q", Kind::Bool)] },
];

const WORDS: [&str; 10] = ["", "a", "ab", "B", "foo", "Foo bar", "x%y", "_z", "zebra", "0012"];

/// Creates and fills the tables; in Bennu with salted and descending rowkeys.
pub(crate) fn statements(seed: u64, bennu: bool) -> String {
    let mut random = Random::new(seed, u64::MAX / 2);
    let (descending, salted) = if bennu { (" DESC", " WITH (salt_buckets = 4)") } else { ("", "") };
    let mut text = format!(
        "DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS u; DROP TABLE IF EXISTS n;
        CREATE TABLE t (k integer PRIMARY KEY, a integer, b bigint, s smallint, c varchar(12), p char(4),
            d numeric(8,2), e double precision, f boolean, g date, h timestamp);
        CREATE TABLE u (c1 text, k2 integer, v integer, w numeric(6,1), z date, PRIMARY KEY (c1, k2{descending})){salted};
        CREATE TABLE n (x integer, y text, q boolean);\n"
    );
    for k in 0..60 {
        let row: Vec<String> = TABLES[0].columns[1..].iter().map(|(_, kind)| value(*kind, &mut random)).collect();
        text.push_str(&format!("INSERT INTO t VALUES ({k}, {});\n", row.join(", ")));
    }
    for word in WORDS {
        for k2 in 0..random.below(5) {
            let rest = [Kind::Int, Kind::Numeric, Kind::Date].map(|kind| value(kind, &mut random)).join(", ");
            text.push_str(&format!("INSERT INTO u VALUES ('{word}', {k2}, {rest});\n"));
        }
    }
    for _ in 0..15 {
        let row = [Kind::Int, Kind::Text, Kind::Bool].map(|kind| value(kind, &mut random)).join(", ");
        text.push_str(&format!("INSERT INTO n VALUES ({row});\n"));
    }
    text.push_str(writes::TABLE);
    text
}

fn value(kind: Kind, random: &mut Random) -> String {
    if random.once_in(6) { "NULL".to_owned() } else { literal(kind, random) }
}

/// A constant.
pub(crate) fn literal(kind: Kind, random: &mut Random) -> String {
    let number = random.below(40) as i64 - 10;
    match kind {
        Kind::Int => number.to_string(),
        Kind::Text => {
            let word = WORDS[random.below(WORDS.len())];
            format!("'{}'", word.get(..4).unwrap_or(word))
        }
        Kind::Numeric => format!("{number}.{}", random.below(4) * 25),
        // Sums of quarters are exact in any order.
        Kind::Float => format!("'{}'::float8", number as f64 / 4.0),
        Kind::Bool => if random.once_in(2) { "true" } else { "false" }.to_owned(),
        Kind::Date => format!("date '2024-0{}-{:02}'", random.below(9) + 1, random.below(28) + 1),
        Kind::Timestamp => format!(
            "timestamp '2024-0{}-{:02} {:02}:30:00'",
            random.below(9) + 1,
            random.below(28) + 1,
            random.below(24)
        ),
        Kind::Interval => {
            let unit = random.of(&["month", "days 03:00", "hours", "minutes"]);
            format!("interval '{} {unit}'", random.below(30))
        }
    }
}
