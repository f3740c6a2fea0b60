//! Writes, each in a transaction that is rolled back: the rows of RETURNING, the command tag, and the table after the
//! write.

use crate::random::Random;

/// Marks a transaction with writes.
pub(crate) const MARK: &str = "BEGIN; ";

pub(crate) const TABLE: &str = "DROP TABLE IF EXISTS w;
    CREATE TABLE w (k integer, j varchar(4), a integer DEFAULT 5, b numeric(6,2), c char(3), d date, f boolean NOT NULL DEFAULT true,
        s smallint, h timestamp(0), PRIMARY KEY (k, j));
    INSERT INTO w SELECT k, left(c, 4), a, d, left(p, 3), g, coalesce(f, true), s, h FROM t WHERE c IS NOT NULL AND k < 40;\n";

/// One or two writes, and the table after them.
pub(crate) fn query(random: &mut Random) -> String {
    let mut text = format!("{MARK}{}", statement(random));
    if random.once_in(3) {
        text.push_str("; ");
        text.push_str(&statement(random));
    }
    text + "; SELECT * FROM w; ROLLBACK"
}

fn statement(random: &mut Random) -> String {
    match random.below(6) {
        0..3 => insert(random),
        3 | 4 => update(random),
        _ => delete(random),
    }
}

fn returning(random: &mut Random) -> &'static str {
    random.of(&[
        "",
        "",
        " RETURNING *",
        " RETURNING k, j AS x, a + 1",
        " RETURNING w.d, b * 2, upper(c), coalesce(a, 0)",
    ])
}

fn value(column: &str, random: &mut Random) -> &'static str {
    match column {
        "k" => random.of(&["1", "2", "7", "100", "200", "NULL", "'3'", "DEFAULT", "4.5", "2147483648"]),
        "j" => random.of(&["''", "'a'", "'zeb'", "'abcde'", "'abcd  '", "12", "NULL", "lower('AB')", "true"]),
        "a" => random.of(&["1", "NULL", "DEFAULT", "2.5", "'7'", "'x'", "3000000000", "(SELECT max(x) FROM n)"]),
        "b" => random.of(&["1.255", "99999", "-0.005", "7", "NULL", "1e2", "'1.5'", "2.5::float8", "DEFAULT"]),
        "c" => random.of(&["'x'", "'abc'", "'abcd'", "'abc '", "NULL", "7", "'b€'"]),
        "d" => random.of(&[
            "'2024-02-29'",
            "date '2024-01-01' + 3",
            "timestamp '2024-05-05 10:00'",
            "NULL",
            "'yesterday?'",
            "5",
        ]),
        "f" => random.of(&["true", "'no'", "NULL", "DEFAULT", "1", "1 > 2"]),
        "s" => random.of(&["1", "32768", "-5.5", "NULL", "'12'", "70000 - 69999"]),
        _ => random.of(&["timestamp '2024-01-01 10:00:00.5'", "date '2024-01-02'", "'2024-03-03 04:05:06.7'", "NULL"]),
    }
}

const COLUMNS: [&str; 9] = ["k", "j", "a", "b", "c", "d", "f", "s", "h"];

fn insert(random: &mut Random) -> String {
    let mut columns = vec!["k", "j"];
    let rest = &COLUMNS[2..];
    for _ in 0..random.below(4) {
        let column = rest[random.below(rest.len())];
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    let good = |column: &str, random: &mut Random| match column {
        "k" => random.of(&["1", "2", "7", "100", "200", "k"]).replace('k', "17"),
        "j" => random.of(&["''", "'a'", "'zeb'", "'B'", "'foo'"]).to_owned(),
        _ => value(column, random).to_owned(),
    };
    let source = if random.once_in(4) {
        let list: Vec<&str> = columns
            .iter()
            .map(|column| match *column {
                "k" => random.of(&["k", "k + 20", "k % 5"]),
                "j" => random.of(&["left(c, 4)", "'q'", "p"]),
                "a" => random.of(&["s", "b", "sum(a) OVER ()", "d"]),
                "b" => random.of(&["d", "e", "a"]),
                "c" => random.of(&["p", "left(c, 2)", "'x'"]),
                "d" => random.of(&["g", "h", "g + 1"]),
                "f" => random.of(&["f IS TRUE", "true"]),
                "s" => random.of(&["s", "a", "k"]),
                _ => random.of(&["h", "g", "NULL"]),
            })
            .collect();
        format!(
            "SELECT {} FROM t WHERE {}",
            list.join(", "),
            random.of(&["k < 5", "c IS NOT NULL", "a > 20", "k > 55"])
        )
    } else {
        let odd = random.once_in(5);
        let rows: Vec<String> = (0..=random.below(3))
            .map(|_| {
                let cells: Vec<String> = columns
                    .iter()
                    .map(|column| if odd { value(column, random).to_owned() } else { good(column, random) })
                    .collect();
                format!("({})", cells.join(", "))
            })
            .collect();
        format!("VALUES {}", rows.join(", "))
    };
    let conflict = random.of(&[
        "",
        "",
        " ON CONFLICT DO NOTHING",
        " ON CONFLICT (k, j) DO NOTHING",
        " ON CONFLICT (j, k) DO UPDATE SET a = excluded.a",
        " ON CONFLICT (k, j) DO UPDATE SET a = w.a + excluded.k, b = excluded.b WHERE w.a > 3",
        " ON CONFLICT (k, j) DO UPDATE SET (a, d) = (excluded.s, DEFAULT)",
        " ON CONFLICT (k, j) DO UPDATE SET c = excluded.c || 'x', f = NOT w.f",
        " ON CONFLICT (k, j) DO UPDATE SET s = (SELECT max(x) FROM n), k = w.k + 1000",
        " ON CONFLICT (k) DO NOTHING",
    ]);
    format!("INSERT INTO w ({}) {source}{conflict}{}", columns.join(", "), returning(random))
}

fn condition(random: &mut Random) -> &'static str {
    random.of(&[
        "w.k = 7",
        "w.k < 10",
        "w.k IN (1, 2, 3) AND w.j > 'a'",
        "w.j = 'foo'",
        "w.a > 5",
        "w.b IS NULL OR w.d > '2024-04-01'",
        "w.c = 'a'",
        "EXISTS (SELECT 1 FROM n WHERE n.x = w.a)",
        "w.k > (SELECT avg(k) FROM w)",
        "(w.k, w.j) IN (SELECT k, c FROM t)",
        "NOT w.f",
        "true",
    ])
}

fn update(random: &mut Random) -> String {
    let set = match random.below(8) {
        0 => "a = a + 1, b = b * 2".to_owned(),
        1 => "a = DEFAULT, b = NULL".to_owned(),
        2 => "(a, s) = (s, a)".to_owned(),
        3 => "(a, b) = (SELECT max(x), count(*) FROM n WHERE n.x < w.k)".to_owned(),
        4 => "k = k + 1000".to_owned(),
        5 => "j = left(c, 2), c = j".to_owned(),
        6 => "d = d + s, h = d, f = a > 3".to_owned(),
        _ => {
            let column = random.of(&COLUMNS);
            format!("{column} = {}", value(column, random))
        }
    };
    match random.below(4) {
        0 => format!(
            "UPDATE w SET {set} FROM u WHERE u.k2 = 1 AND u.c1 = w.j AND ({}){}",
            condition(random),
            returning(random)
        ),
        1 => format!("UPDATE w SET {set}{}", returning(random)),
        _ => format!("UPDATE w SET {set} WHERE {}{}", condition(random), returning(random)),
    }
}

fn delete(random: &mut Random) -> String {
    match random.below(3) {
        0 => format!("DELETE FROM w USING u WHERE u.v = w.a AND ({}){}", condition(random), returning(random)),
        _ => format!("DELETE FROM w WHERE {}{}", condition(random), returning(random)),
    }
}
