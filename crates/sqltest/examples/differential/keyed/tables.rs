//! The tables and their rows.

use super::Maker;
use super::values::{Kind, value};
use crate::random::Random;
use Kind::{Bool, Bytes, Date, Float, Int, Ints, Num, Stamp, Text, Texts, Zoned};

pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    ty: &'static str,
}

pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [Column],
    /// Column indexes of the key, in key order.
    pub(crate) key: &'static [usize],
    /// The primary key in Bennu; PostgreSQL gets a unique index over the same columns.
    definition: &'static str,
    /// Table options, after the column list.
    options: &'static str,
    nullable: bool,
    /// Indexes in both servers.
    indexes: &'static [&'static str],
}

const fn column(name: &'static str, kind: Kind, ty: &'static str) -> Column {
    Column { name, kind, ty }
}

/// Rows per table: few, so that joins of three tables with subqueries end.
const ROWS: usize = 40;

pub(crate) const TABLES: [Table; 5] = [
    Table {
        name: "ka",
        columns: &[
            column("a", Int, "integer"),
            column("b", Text, "text"),
            column("c", Date, "date"),
            column("n", Num, "numeric(12,2)"),
            column("z", Zoned, "timestamptz"),
            column("y", Bytes, "bytea"),
            column("i", Ints, "integer[]"),
            column("g", Int, "bigint"),
            column("f", Bool, "boolean"),
        ],
        key: &[0, 1, 2],
        definition: "PRIMARY KEY (a DESC, b, c)",
        options: " SALT_BUCKETS = 4",
        nullable: false,
        indexes: &["(n)", "(z DESC, a)", "(y)", "(lower(b))", "(g) WHERE a > 2"],
    },
    Table {
        name: "kb",
        columns: &[
            column("t", Text, "text"),
            column("n", Num, "numeric(8,2)"),
            column("a", Int, "integer"),
            column("d", Zoned, "timestamptz"),
            column("w", Float, "float8"),
        ],
        key: &[0, 1],
        definition: "PRIMARY KEY (t, n DESC)",
        options: "",
        nullable: true,
        indexes: &["(a) INCLUDE (d)", "(d, t)", "(w DESC)"],
    },
    Table {
        name: "kc",
        columns: &[
            column("z", Zoned, "timestamptz"),
            column("id", Int, "bigint"),
            column("s", Text, "varchar(8)"),
            column("l", Texts, "text[]"),
            column("h", Stamp, "timestamp"),
        ],
        key: &[0, 1],
        definition: "PRIMARY KEY (z DESC, id)",
        options: "",
        nullable: false,
        indexes: &["(s DESC NULLS LAST)", "(h) INCLUDE (s)"],
    },
    Table {
        name: "kd",
        columns: &[
            column("y", Bytes, "bytea"),
            column("s", Int, "smallint"),
            column("m", Int, "integer"),
            column("k", Date, "date"),
            column("t", Text, "text"),
        ],
        key: &[0, 1],
        definition: "PRIMARY KEY (y, s DESC)",
        options: " SALT_BUCKETS = 3",
        nullable: true,
        indexes: &["(m, k)", "(k DESC)", "(t) WHERE m IS NOT NULL"],
    },
    Table {
        name: "ke",
        columns: &[
            column("id", Int, "integer"),
            column("a", Int, "integer"),
            column("b", Text, "text"),
            column("n", Num, "numeric(12,2)"),
            column("r", Int, "bigint"),
            column("c", Date, "date"),
        ],
        key: &[0],
        definition: "PRIMARY KEY (id)",
        options: "",
        nullable: false,
        indexes: &["(a, b)", "(r)", "(n DESC)", "((a + 1))", "(c) INCLUDE (a)"],
    },
];

/// Statements that create and fill the tables.
pub(crate) fn statements(seed: u64, bennu: bool) -> String {
    let mut maker = Maker { random: Random::new(seed ^ 0x4B45_5953, u64::MAX / 2), aliases: 0 };
    TABLES.iter().map(|table| made(table, bennu) + &filled(table, &mut maker)).collect()
}

fn made(table: &Table, bennu: bool) -> String {
    let Table { name, columns, key, definition, options, nullable, indexes } = table;
    let list = |(at, column): (usize, &Column)| {
        let null = if !key.contains(&at) || *nullable { " NULL" } else { " NOT NULL" };
        format!("{} {}{null}", column.name, column.ty)
    };
    let list = columns.iter().enumerate().map(list).collect::<Vec<_>>().join(", ");
    let mut text = format!("DROP TABLE IF EXISTS {name};\n");
    text += &if bennu {
        format!("CREATE TABLE {name} ({list}, {definition}){options};\n")
    } else {
        let key = key.iter().map(|at| columns[*at].name).collect::<Vec<_>>().join(", ");
        format!("CREATE TABLE {name} ({list}, UNIQUE NULLS NOT DISTINCT ({key}));\n")
    };
    text + &indexes.iter().map(|index| format!("CREATE INDEX ON {name} {index};\n")).collect::<String>()
}

fn filled(table: &Table, maker: &mut Maker) -> String {
    let mut text = String::new();
    for number in 0..ROWS {
        let row: Vec<String> = (0..table.columns.len())
            .map(|at| {
                let column = &table.columns[at];
                let may_be_null = !table.key.contains(&at) || table.nullable;
                match (table.key, at) {
                    ([0], 0) => number.to_string(),
                    _ if may_be_null && maker.once_in(7) => "NULL".to_owned(),
                    _ => value(column.kind, maker),
                }
            })
            .collect();
        text += &format!("INSERT INTO {} VALUES ({}) ON CONFLICT DO NOTHING;\n", table.name, row.join(", "));
    }
    text
}
