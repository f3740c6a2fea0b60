//! `bennu sql`: scripts, commands and output formats.

use crate::server::bennu;
use bennu::arrow::ipc::reader::FileReader;
use std::io::Write;
use std::process::Stdio;

/// Runs a script and returns exit code, standard output and standard error.
fn script(arguments: &[&str], input: &str) -> (i32, Vec<u8>, String) {
    let mut child = bennu()
        .args(["sql", "--data", ":memory:"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

fn text(arguments: &[&str], input: &str) -> (i32, String, String) {
    let (code, out, err) = script(arguments, input);
    (code, String::from_utf8(out).unwrap(), err)
}

const ROWS: &str = "SELECT * FROM (VALUES (1, 'a,b', true), (2, NULL, false)) AS v (n, \"the word\", yes)";

#[test]
fn an_error_of_a_script_names_its_line_though_it_points_at_no_place() {
    let (code, _, err) = text(&[], "SELECT 1;\n\nSELECT 2 / 0;\n");
    assert!(code != 0 && err.contains("22012") && err.contains("LINE 3: SELECT 2 / 0;"), "{err}");
}

#[test]
fn moments_are_shown_as_the_clocks_of_the_sessions_zone() {
    let sql = "SET TimeZone = 'Europe/Berlin'; SELECT '2026-07-01 12:00+00'::timestamptz AS at";
    for (format, wanted) in [("csv", "at\n2026-07-01 14:00:00+02\n"), ("json", "{\"at\":\"2026-07-01 14:00:00+02\"}\n")]
    {
        let (_, out, _) = text(&["--format", format, "-c", sql], "");
        assert!(out.ends_with(wanted), "{out}");
    }
}

#[test]
fn rows_are_a_table_csv_or_json() {
    let (_, table, _) = text(&["-c", ROWS], "");
    assert_eq!(table, " n | the word | yes\n---+----------+-----\n 1 | a,b      | t\n 2 |          | f\n(2 rows)\n\n");
    let (_, csv, _) = text(&["--format", "csv", "-c", ROWS], "");
    assert_eq!(csv, "n,the word,yes\n1,\"a,b\",t\n2,,f\n");
    let (_, json, _) = text(&["--format", "json", "-c", ROWS], "");
    assert_eq!(json, "{\"n\":1,\"the word\":\"a,b\",\"yes\":true}\n{\"n\":2,\"the word\":null,\"yes\":false}\n");
}

#[test]
fn rows_are_an_arrow_file_that_arrow_reads() {
    let (code, file, err) = script(&["--format", "arrow", "-c", ROWS], "");
    assert_eq!(code, 0, "{err}");
    let reader = FileReader::try_new(std::io::Cursor::new(file), None).unwrap();
    assert_eq!(reader.schema().field(1).name(), "the word");
    assert_eq!(reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 2);
    let (code, _, err) = script(&["--format", "arrow", "-c", "SELECT 1; SELECT 2"], "");
    assert_eq!(code, 1);
    assert!(err.contains("room for the rows of one statement"), "{err}");
}

#[test]
fn a_script_on_standard_input_holds_data_and_commands() {
    let input = "CREATE TABLE t (k integer,\n  v text, PRIMARY KEY (k));\n\
                 COPY t FROM STDIN CSV;\n1,one\n2,\"two;\"\n\\.\n\
                 \\d t\n\\dt\nSELECT v FROM t WHERE k = 2 -- no semicolon\n";
    let (code, out, err) = text(&[], input);
    assert_eq!((code, err.as_str()), (0, ""));
    for part in
        ["COPY 2\n", " k      | integer | not null |", "PRIMARY KEY", " public | t    | table", " two;\n(1 row)"]
    {
        let found = out.contains(part) || (part == "PRIMARY KEY" && out.contains("btree (k)"));
        assert!(found, "{part:?} is not in\n{out}");
    }
}

#[test]
fn a_row_is_shown_with_a_line_for_each_column() {
    let input = "\\x\nSELECT 1 AS n, 'one' AS word UNION ALL SELECT 2, E'two\\nlines' ORDER BY 1;\nSELECT 1 WHERE false;\n\\x off\n\\echo done\n";
    let (code, out, err) = text(&[], input);
    assert_eq!((code, err.as_str()), (0, ""));
    let wanted = "Expanded display is on.\n-[ RECORD 1 ]\nn    | 1\nword | one\n-[ RECORD 2 ]\nn    | 2\nword | two  +\n     | lines\n\n(0 rows)\n\nExpanded display is off.\ndone\n";
    assert_eq!(out, wanted);
}

#[test]
fn lists_take_patterns_and_tell_sizes() {
    let input = "CREATE TABLE first_one (k integer PRIMARY KEY);\nCREATE TABLE other (k integer PRIMARY KEY);\n\
                 CREATE VIEW seen AS SELECT k FROM other;\n\\dt f*\n\\dt+ public.othe?\n\\sv seen\n\\df\n\\dT\n\\dx\n\\d+ other\n";
    let (code, out, err) = text(&[], input);
    assert_eq!((code, err.as_str()), (0, ""));
    for part in [
        " first_one | table\n(1 row)",
        "|  Size\n",
        " bytes\n(1 row)",
        "CREATE OR REPLACE VIEW seen AS",
        "Result data type",
        " Version",
    ] {
        assert!(out.contains(part), "{part:?} is not in\n{out}");
    }
}

#[test]
fn tables_functions_and_types_are_described_by_pattern() {
    let input = "CREATE TABLE first_one (k integer PRIMARY KEY);\nCREATE TABLE first_two (z text PRIMARY KEY);\n\\d first*\n\\df uppe?\n\\dT int4\n";
    let (code, out, err) = text(&[], input);
    assert_eq!((code, err.as_str()), (0, ""));
    for part in ["public.first_one\n", "public.first_two\n", " upper ", " pg_catalog | integer\n(1 row)"] {
        assert!(out.contains(part), "{part:?} is not in\n{out}");
    }
    let (code, _, err) = text(&[], "\\d nothing*\n");
    assert_eq!((code, err.as_str()), (1, "there is no table like \"nothing*\"\n"));
    let (code, _, err) = text(&[], "\\timing foo\n");
    assert_eq!((code, err.as_str()), (1, "\\timing takes on or off\n"));
}

#[test]
fn a_file_that_runs_itself_is_an_error_and_a_mark_in_front_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again.sql");
    std::fs::write(&path, format!("\u{feff}SELECT 1;\n\\i {}\n", path.display())).unwrap();
    let (code, out, err) = text(&["-f", path.to_str().unwrap()], "");
    assert_eq!(code, 1);
    assert!(out.starts_with(" ?column?"), "{out}");
    assert!(err.contains("files run each other"), "{err}");
}

#[test]
fn a_script_ends_at_its_first_error_with_the_line_of_the_script() {
    let (code, out, err) = text(&[], "SELECT 1 AS before;\n\nSELECT\n  nope;\nSELECT 2 AS behind;\n");
    assert_eq!(code, 1);
    assert!(out.contains("before") && !out.contains("behind"), "{out}");
    assert!(err.starts_with("ERROR:  42703:"), "{err}");
    let (code, _, err) = text(&["-f", "-"], "SELECT 1;\nSELECT 1 +;\n");
    assert_eq!(code, 1);
    assert!(err.contains("LINE 2: SELECT 1 +;\n                  ^"), "{err}");
    let (code, _, err) = text(&[], "\\nonsense\nSELECT 1;");
    assert!(code == 1 && err.contains("\\nonsense"), "{err}");
}

#[test]
fn copy_reads_and_writes_files_of_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("in.csv"), folder.path().join("out.csv"));
    std::fs::write(&from, "k,v\n1,a\n2,b\n").unwrap();
    let input = format!(
        "CREATE TABLE t (k integer PRIMARY KEY, v text);\n\\copy t FROM '{}' CSV HEADER\n\
         \\copy (SELECT v, k FROM t ORDER BY k DESC) TO '{}' CSV\n\\timing on\nSELECT 1;\n\\copy t FROM '/nowhere'\n",
        from.display(),
        to.display()
    );
    let (code, out, err) = text(&[], &input);
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "b,2\na,1\n");
    assert!(out.contains("COPY 2\nCOPY 2\nTiming is on.\n") && out.contains("Time: "), "{out}");
    assert!(code == 1 && err.contains("\"/nowhere\" cannot be read"), "{err}");
}

#[test]
fn copy_takes_names_without_quotes_and_the_shells_own_input_and_output() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("in.csv");
    std::fs::write(&from, "1,a\n").unwrap();
    let input = format!(
        "CREATE TABLE t (k integer PRIMARY KEY, v text);\n\\copy t from {} csv\n\\copy t from stdin csv\n2,b\n\\.\n\
         \\copy (SELECT v FROM t ORDER BY k) to stdout csv\n",
        from.display()
    );
    let (code, out, err) = text(&[], &input);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("COPY 1\nCOPY 1\na\nb\n"), "{out}");
}

#[test]
fn a_command_within_a_statement_is_one() {
    let input = "SELECT 1 AS one,\n\\p\n\\echo within\n2 AS two;\nSELECT 'never'\n\\r\nSELECT 'a\n\\r\nb' AS kept;\nSELECT 7 AS ran\n\\g\n\\x auto\n";
    let (code, out, err) = text(&["--format", "csv"], input);
    assert_eq!((code, err.as_str()), (1, "\\x takes on or off\n"));
    let wanted = "SELECT 1 AS one,\nwithin\none,two\n1,2\nQuery buffer reset (cleared).\nkept\n\"a\n\\r\nb\"\nran\n7\n";
    assert_eq!(out, wanted);
    let (code, out, _) = text(&[], "SELECT 'never'\n\\q\n");
    assert_eq!((code, out.as_str()), (0, ""));
}

#[test]
fn data_of_a_command_comes_on_standard_input() {
    let sql = "CREATE TABLE t (k integer PRIMARY KEY); COPY t FROM STDIN; SELECT sum(k) FROM t";
    let (code, out, err) = text(&["-c", sql, "--format", "csv"], "1\n2\n39\n");
    assert_eq!((code, out.as_str()), (0, "sum\n42\n"), "{err}");
}

#[test]
fn a_bad_line_of_data_is_named_and_no_statement_is_made_of_the_rest() {
    let input = "CREATE TABLE t (k integer PRIMARY KEY);\nCOPY t FROM STDIN;\n1\nx\n3\n\\.\n";
    let (code, _, err) = text(&[], input);
    assert_eq!(code, 1);
    assert!(err.contains("22P02") && err.contains("CONTEXT:  COPY t, line 2, column k: \"x\""), "{err}");
}
