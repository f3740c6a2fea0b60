//! No statement that parses makes the binder panic.

use crate::support::Tables;
use proptest::prelude::*;

const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "HAVING",
    "LIMIT",
    "t",
    "u",
    "t.k",
    "u.k",
    "a",
    "b",
    "k",
    "*",
    "t.*",
    ",",
    "(",
    ")",
    "=",
    "<",
    "+",
    "-",
    "||",
    "1",
    "'x'",
    "NULL",
    "$1",
    "$2",
    "AND",
    "OR",
    "NOT",
    "IN",
    "BETWEEN",
    "CASE WHEN",
    "THEN",
    "ELSE",
    "END",
    "count(*)",
    "sum(a)",
    "max(b)",
    "coalesce(a, 1)",
    "JOIN",
    "LEFT JOIN",
    "ON",
    "USING (k)",
    "NATURAL JOIN",
    "LATERAL",
    "(SELECT a FROM t)",
    "EXISTS (SELECT 1 FROM u WHERE u.k = t.k)",
    "AS x",
    "UNION",
    "EXCEPT ALL",
    "VALUES (1, 2), (3, NULL)",
    "DISTINCT",
    "DISTINCT ON (a)",
    "WITH w AS (SELECT 1 AS k)",
    "w",
    "ARRAY[1, 2]",
    "[1]",
    "[1:2]",
    "::text",
    "::int",
    "IS NULL",
    "LIKE",
    "ANY (ARRAY[1])",
    "(a, b) = (1, 'x')",
    "DESC",
    "OFFSET 1",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn statements_of_any_words_never_panic(words in prop::collection::vec(prop::sample::select(WORDS), 1..24)) {
        let tables = Tables::of("CREATE TABLE t (k int PRIMARY KEY, a int, b text); CREATE TABLE u (k int PRIMARY KEY, c int)");
        let text = format!("SELECT {}", words.join(" "));
        if let Ok(parsed) = sql::parse(&text) {
            for one in parsed {
                if let Ok(bound) = tables.bind_statement(&one.statement, &text) {
                    let _ = bound.to_string();
                }
            }
        }
    }
}
