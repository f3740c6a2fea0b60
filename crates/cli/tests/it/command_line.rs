//! Arguments of the command line, and errors about invalid ones.

use crate::server::{Server, bennu};
use std::path::Path;
use std::process::Output;

fn run(arguments: &[&str]) -> (bool, String, String) {
    let Output { status, stdout, stderr } = bennu().args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.success(), text(stdout), text(stderr))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn version_is_told() {
    let (ok, out, _) = run(&["version"]);
    assert!(ok && out.starts_with("bennu 0."), "{out}");
}

#[test]
fn sql_runs_in_process_and_check_counts_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let data = shown(&folder.path().join("data"));
    let sql =
        "CREATE TABLE t (k integer PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a'), (2, NULL); SELECT * FROM t";
    let (ok, out, err) = run(&["sql", "--data", &data, "-c", sql]);
    assert!(ok, "{err}");
    assert!(out.contains(" 1 | a\n 2 |\n(2 rows)"), "{out}");
    let (ok, out, err) = run(&["check", "--data", &data]);
    assert!(ok && out.contains("public.t: 2 rows\n") && out.contains(" 0 problems"), "{out}{err}");
}

#[test]
fn texts_run_one_after_the_other() {
    let (ok, out, err) =
        run(&["sql", "--data", ":memory:", "-c", "CREATE TABLE t (k int)", "-c", "\\dt", "-c", "SELECT 7;"]);
    assert!(ok && out.contains("CREATE TABLE\n") && out.contains(" public | t    | table\n"), "{out}{err}");
    assert!(out.contains(" 7\n(1 row)"), "{out}");
    let (ok, out, err) = run(&["sql", "--data", ":memory:", "-c", "SELECT 1\n", "-c", "SELEC 2", "-c", "SELECT 3"]);
    assert!(!ok && err.contains("LINE 1: SELEC 2") && !out.contains('3'), "{out}{err}");
}

#[test]
fn a_failed_statement_points_at_its_place_and_fails_the_run() {
    let (ok, _, err) = run(&["sql", "--data", ":memory:", "-c", "SELECT 1;\nSELEC 2"]);
    assert!(!ok && err.contains("42601") && err.contains("LINE 2: SELEC 2\n        ^"), "{err}");
}

#[test]
fn a_folder_in_use_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let _server = Server::start(&data);
    let (ok, _, err) = run(&["check", "--data", &shown(&data)]);
    assert!(!ok && err.contains("in use by another process") && err.contains(&shown(&data)), "{err}");
    assert!(err.contains("HINT:  If that is a server"), "{err}");
}

#[test]
fn a_foreign_folder_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("letter.txt"), "dear reader").unwrap();
    let (ok, _, err) = run(&["sql", "--data", &shown(folder.path()), "-c", "SELECT 1"]);
    assert!(!ok && err.contains("letter.txt"), "{err}");
}

#[test]
fn an_unknown_setting_and_a_missing_file_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bennu.toml");
    std::fs::write(&file, "cash_mib = 1\n").unwrap();
    let (ok, _, err) = run(&["serve", "--config", &shown(&file)]);
    assert!(!ok && err.contains("cash_mib"), "{err}");
    let (ok, _, err) = run(&["serve", "--config", "/nonexistent.toml"]);
    assert!(!ok && err.contains("/nonexistent.toml"), "{err}");
}

#[test]
fn sql_and_check_open_what_serve_would_open_and_say_when_it_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("served");
    std::fs::write(folder.path().join("bennu.toml"), format!("data = '{}'\n", shown(&data))).unwrap();
    let there = |arguments: &[&str]| {
        let output = bennu().args(arguments).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (_, err) = there(&["sql", "-c", "CREATE TABLE t (k integer PRIMARY KEY); INSERT INTO t VALUES (1)"]);
    assert_eq!(err, format!("bennu: \"{}\" was not there: it is a new, empty database\n", shown(&data)));
    assert!(data.is_dir() && !folder.path().join("bennu-data").exists());
    assert!(there(&["check"]).0.contains("public.t: 1 rows\n"));
    assert_eq!(there(&["sql", "--format", "csv", "-c", "SELECT k FROM t"]), ("k\n1\n".into(), String::new()));
    let other = shown(&folder.path().join("other"));
    assert!(there(&["sql", "--data", &other, "-c", "SELECT 1"]).1.contains(&other));
}

#[test]
fn an_address_in_use_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (ok, _, err) = run(&["serve", "--data", ":memory:", "--listen", &address]);
    assert!(!ok && err.contains(&format!("cannot listen on \"{address}\" (--listen)")), "{err}");
    assert!(err.contains("HINT:  Choose another one with --listen HOST:PORT."), "{err}");
    let (ok, _, err) = run(&["serve", "--data", ":memory:", "--listen", "127.0.0.1:0", "--http", &address]);
    assert!(!ok && err.contains("(--http)") && err.contains("with --http HOST:PORT, or --http off."), "{err}");
    let (ok, _, err) = run(&["serve", "--data", ":memory:", "--listen", "5843"]);
    assert!(!ok && err.contains("An address is HOST:PORT, such as 127.0.0.1:5433."), "{err}");
}

#[test]
fn check_counts_the_rows_and_names_a_damaged_file() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let sql = "CREATE TABLE t (k integer PRIMARY KEY, v text);
               INSERT INTO t SELECT i, 'row ' || i FROM generate_series(1, 5000) AS g (i); VACUUM t";
    let (ok, _, err) = run(&["sql", "--data", &shown(&data), "-c", sql]);
    assert!(ok, "{err}");
    let (ok, out, _) = run(&["check", "--data", &shown(&data)]);
    assert!(ok && out.contains(": 5000 rows") && out.contains(" 0 problems"), "{out}");
    let largest = files(&data)
        .into_iter()
        .filter(|f| f.to_string_lossy().contains("tables"))
        .max_by_key(|f| f.metadata().unwrap().len());
    let largest = largest.expect("there is a file of sorted rows");
    let mut bytes = std::fs::read(&largest).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 0xFF;
    std::fs::write(&largest, bytes).unwrap();
    let (ok, out, err) = run(&["check", "--data", &shown(&data)]);
    let said = format!("{out}{err}");
    assert!(!ok, "the damage was not seen:\n{said}");
    assert!(
        out.contains("public.t: damaged, its rows are not counted\n") && !out.contains("public.t: 0 rows"),
        "{said}"
    );
    assert!(out.contains("\nproblem: public.t: ") && !said.contains('{'), "{said}");
}

#[test]
fn check_tells_of_a_torn_tail_that_it_cut() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (ok, _, err) = run(&["sql", "--data", &shown(&data), "-c", "CREATE TABLE t (k integer PRIMARY KEY)"]);
    assert!(ok, "{err}");
    let (ok, _, err) = run(&["check", "--data", &shown(&data)]);
    assert!(ok && err.is_empty(), "{err}");
    let journals = files(&data).into_iter().filter(|f| f.extension().is_some_and(|e| e == "jnl"));
    let newest = journals.max().expect("there is a journal");
    let mut bytes = std::fs::read(&newest).unwrap();
    // Journals are preallocated: the tail begins where only zeros follow.
    bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
    bytes.extend([7; 100]);
    std::fs::write(&newest, bytes).unwrap();
    let (ok, _, err) = run(&["check", "--data", &shown(&data)]);
    assert!(ok && err.contains("WARN") && err.contains("was never synced: cut"), "{err}");
}

#[test]
fn check_refuses_what_is_no_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("letter.txt"), "dear reader").unwrap();
    let (ok, _, err) = run(&["check", "--data", &shown(folder.path())]);
    assert!(!ok && err.contains("letter.txt") && err.contains("name a new or an empty one"), "{err}");
    let (ok, _, err) = run(&["check", "--data", "/nonexistent"]);
    assert!(!ok && err.contains("/nonexistent"), "{err}");
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}
