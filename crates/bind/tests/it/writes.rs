//! Statements that write rows: their trees and errors.

use crate::support::Tables;

const TABLES: &str =
    "CREATE TABLE t (k integer PRIMARY KEY, a varchar(3), n numeric(5,2)); CREATE TABLE u (k bigint, b text)";

#[test]
fn values_are_cast_for_assignment_to_types_without_their_limits() {
    let tree = Tables::of(TABLES).tree("INSERT INTO t (n, k) VALUES ('1.5', 2), (DEFAULT, $1)");
    assert!(tree.starts_with("insert into t columns [2, 0]\n"), "{tree}");
    assert!(tree.contains("row '1.5'::numeric, 2\n") && tree.contains("row default, $1"), "{tree}");
    assert!(tree.contains("$1: integer"), "{tree}");
}

#[test]
fn returning_reads_the_row_as_written_and_conditions_the_one_that_is_there() {
    let tree = Tables::of(TABLES).tree("UPDATE t SET a = 'x' WHERE a = 'y' RETURNING a");
    let read = tree.lines().find(|line| line.contains("Filter")).unwrap_or_default().to_owned();
    let answered = tree.lines().find(|line| line.starts_with("returning")).unwrap_or_default();
    let written = answered.split_whitespace().nth(1).unwrap_or_default();
    assert!(written.starts_with('c') && !read.contains(written), "{tree}");
    assert!(tree.starts_with("change t by c") && tree.contains(" alone\n"), "{tree}");
}

#[test]
fn what_reads_other_rows_is_not_judged_alone() {
    let tables = Tables::of(TABLES);
    for text in [
        "UPDATE t SET n = (SELECT max(k) FROM u)",
        "DELETE FROM t USING u WHERE t.k = u.k",
        "DELETE FROM t WHERE k IN (SELECT k FROM u)",
        "DELETE FROM t ORDER BY k LIMIT 1",
    ] {
        let tree = tables.tree(text);
        assert!(tree.starts_with("change t by c") && !tree.contains(" alone\n"), "{text}\n{tree}");
    }
}

#[test]
fn what_is_wrong_with_targets_is_told_in_postgresqls_words() {
    let tables = Tables::of(TABLES);
    for (text, error) in [
        ("INSERT INTO t (z) VALUES (1)", "42703 column \"z\" of relation \"t\" does not exist"),
        ("INSERT INTO t (k, k) VALUES (1, 2)", "42701 column \"k\" specified more than once"),
        ("INSERT INTO t (k) VALUES (1, 2)", "42601 INSERT has more expressions than target columns"),
        ("INSERT INTO t (k, a) SELECT 1", "42601 INSERT has more target columns than expressions"),
        ("UPDATE t SET a = 'x', a = 'y'", "42601 multiple assignments to same column \"a\""),
        ("UPDATE t SET k = true", "42804 column \"k\" is of type integer but expression is of type boolean at true"),
        ("UPDATE t SET (k, a) = (SELECT 1)", "42601 number of columns does not match number of values"),
        ("UPDATE t SET k = count(*)", "42803 aggregate functions are not allowed in UPDATE at count(*)"),
        ("DELETE FROM t RETURNING max(k)", "42803 aggregate functions are not allowed in RETURNING at max(k)"),
        ("DELETE FROM t USING u AS t", "42712 table name \"t\" specified more than once"),
        ("UPDATE t SET a = b FROM u WHERE k = 1", "42702 column reference \"k\" is ambiguous at k"),
        (
            "INSERT INTO t VALUES (1) ON CONFLICT (k) DO UPDATE SET a = a",
            "42702 column reference \"a\" is ambiguous at a",
        ),
    ] {
        let told = tables.error(text);
        assert!(told.starts_with(error), "{text}\n{told}");
    }
}
