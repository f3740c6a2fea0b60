//! Arguments of each type: the limits of its range, values that kernels and row-wise bodies may treat differently,
//! and NULL.

use crate::client::Client;
use store_testkit::Random;

/// Number of rows with arguments.
pub(super) const ROWS: i32 = 48;
/// Number of columns of each type, so that a call can have that many different arguments of it.
const COLUMNS: usize = 3;

/// The types that table columns can have, by OID, with some of their values. With other seeds, products and quotients
/// of numerics exceed the limit of 38 digits, 20 of them fractional, which only plans enforce.
const TYPES: [(u32, &str, &[&str]); 29] = [
    (16, "boolean", &["true", "false"]),
    (17, "bytea", &["\\x", "\\x00", "\\xff", "\\x0001", "\\x6162", "\\xffff00", "\\x25"]),
    (
        20,
        "bigint",
        &["0", "1", "-1", "2", "7", "10", "64", "9223372036854775807", "-9223372036854775808", "4294967296"],
    ),
    (21, "smallint", &["0", "1", "-1", "2", "7", "16", "32767", "-32768", "100"]),
    (23, "integer", &["0", "1", "-1", "2", "3", "7", "32", "2147483647", "-2147483648", "65536", "-7"]),
    (
        25,
        "text",
        &[
            "",
            "a",
            "ab",
            "Abc",
            "é",
            "a b",
            "  x ",
            "%",
            "a%",
            "_b",
            "123",
            "-5",
            "2024-01-31",
            "a\\",
            "ÄÖß",
            "abcabc",
            "1 day",
        ],
    ),
    (26, "oid", &["0", "1", "23", "4294967295"]),
    (
        700,
        "real",
        &["0", "-0", "1", "-1.5", "0.1", "2.5", "3.5", "3e38", "1e-40", "NaN", "Infinity", "-Infinity", "16777217"],
    ),
    (
        701,
        "float8",
        &[
            "0",
            "-0",
            "1",
            "-1.5",
            "0.1",
            "2.5",
            "3.5",
            "1e300",
            "1e-300",
            "NaN",
            "Infinity",
            "-Infinity",
            "9007199254740993",
        ],
    ),
    (1042, "char(4)", &["", "a", "ab", "abcd", "é", "  x", "A"]),
    (1043, "varchar(8)", &["", "a", "ab  ", "abcdefgh", "é", "12", "A_b"]),
    (
        1082,
        "date",
        &[
            "2024-01-31",
            "2024-02-29",
            "1999-12-31",
            "0001-01-01",
            "4713-01-01 BC",
            "infinity",
            "-infinity",
            "2024-03-31",
            "1970-01-01",
        ],
    ),
    (1083, "time", &["00:00", "24:00", "12:34:56.789012", "23:59:59.999999", "02:30"]),
    (
        1114,
        "timestamp",
        &[
            "2024-01-31 00:00",
            "2024-02-29 23:59:59.999999",
            "2024-03-31 02:30",
            "1969-12-31 23:59:59.5",
            "infinity",
            "-infinity",
            "0001-01-01",
            "2024-10-27 02:30",
        ],
    ),
    (
        1184,
        "timestamptz",
        &[
            "2024-01-31 00:00+00",
            "2024-03-31 01:00+00",
            "2024-10-27 00:30+00",
            "2024-10-27 01:30+00",
            "1969-12-31 23:59:59.5+00",
            "infinity",
            "-infinity",
            "1900-01-01 00:00+00",
        ],
    ),
    (
        1186,
        "interval",
        &[
            "0",
            "1 day",
            "-1 month 3 days",
            "25:00:00.5",
            "1 year 2 months 3 days 04:05:06.789",
            "-00:00:00.000001",
            "30 days",
            "1 mon -1 days",
        ],
    ),
    (
        1700,
        "numeric",
        &[
            "0",
            "1",
            "-1",
            "2.5",
            "-2.5",
            "0.005",
            "1.50",
            "123456789012.345",
            "99999999999999999999",
            "0.00000000001",
            "-0.5",
            "1000000",
        ],
    ),
    (
        2950,
        "uuid",
        &[
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "12345678-1234-1234-1234-123456789abc",
        ],
    ),
    (1000, "boolean[]", &["{}", "{t}", "{t,f,NULL}"]),
    (1001, "bytea[]", &["{}", "{\"\\\\x00\"}", "{NULL}"]),
    (1005, "smallint[]", &["{}", "{1}", "{2,1,NULL}"]),
    (1007, "integer[]", &["{}", "{1}", "{1,2}", "{2,1,NULL}", "{1,1}", "{3,2,1}"]),
    (1009, "text[]", &["{}", "{a}", "{a,NULL}", "{b,a}", "{\"\"}", "{\"a,b\"}"]),
    (1016, "bigint[]", &["{}", "{1}", "{9223372036854775807,NULL}"]),
    (1022, "float8[]", &["{}", "{0.5}", "{NaN,-0}"]),
    (1115, "timestamp[]", &["{}", "{2024-01-31}", "{infinity,NULL}"]),
    (1182, "date[]", &["{}", "{2024-01-31}", "{NULL,1999-12-31}"]),
    (1185, "timestamptz[]", &["{}", "{2024-01-31 00:00+00}"]),
    (1231, "numeric[]", &["{}", "{1.5}", "{2,NULL,-0.5}"]),
];

/// The types of the table's columns.
pub(super) struct Table {
    oids: Vec<u32>,
}

impl Table {
    /// Creates and fills table `v`.
    pub(super) async fn make(client: &mut Client, seed: u64) -> Self {
        let mut oids = Vec::new();
        let mut columns = Vec::new();
        for (oid, ty, _) in TYPES {
            if client.run(&format!("CREATE TABLE probe (n integer PRIMARY KEY, x {ty})")).await.contains("ERROR") {
                continue;
            }
            client.ok("DROP TABLE probe").await;
            oids.push(oid);
            columns.extend((0..COLUMNS).map(|at| format!("{} {ty}", column(oid, at))));
        }
        client.ok(&format!("CREATE TABLE v (n integer PRIMARY KEY, {})", columns.join(", "))).await;
        let mut numbers = Random::new(seed);
        for n in 0..ROWS {
            let mut cells = vec![n.to_string()];
            for (oid, _, values) in TYPES.iter().filter(|(oid, ..)| oids.contains(oid)) {
                for at in 0..COLUMNS {
                    // The first column of a type has each value at least once.
                    let next = if at == 0 && (n as usize) < values.len() {
                        n as usize
                    } else {
                        numbers.index(values.len() + 2)
                    };
                    cells.push(
                        values.get(next).map_or("NULL".to_owned(), |value| format!("'{}'", value.replace('\'', "''"))),
                    );
                }
                let _ = oid;
            }
            client.ok(&format!("INSERT INTO v VALUES ({})", cells.join(", "))).await;
        }
        Self { oids }
    }

    /// The next column of a type, after `at` of them were used.
    pub(super) fn column(&self, oid: u32, at: usize) -> Option<String> {
        self.oids.contains(&oid).then(|| column(oid, at % COLUMNS))
    }

    /// Whether a table's column can have the type.
    pub(super) fn has(&self, oid: u32) -> bool {
        self.oids.contains(&oid)
    }

    /// The columns that a call names, comma-separated.
    pub(super) fn shown(&self, call: &str) -> String {
        let names = self.oids.iter().flat_map(|oid| (0..COLUMNS).map(|at| column(*oid, at)));
        let named: Vec<String> = names.filter(|name| call.contains(name.as_str())).collect();
        if named.is_empty() { "n".to_owned() } else { named.join(", ") }
    }
}

fn column(oid: u32, at: usize) -> String {
    format!("c{oid}_{at}_")
}
