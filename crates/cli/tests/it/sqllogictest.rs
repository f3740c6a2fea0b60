//! `bennu sqllogictest`: third-party files, in process and on a server.

use crate::server::{Server, bennu};
use std::path::{Path, PathBuf};

fn run(arguments: &[&str]) -> (bool, String) {
    let output = bennu().arg("sqllogictest").args(arguments).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

const RIGHT: &str = "\
statement ok
CREATE TABLE t (a integer, b text)

statement ok
INSERT INTO t VALUES (1, 'x y'), (2, NULL)

query IT rowsort
SELECT a, b FROM t
----
1 x y
2 NULL

query IT nosort
SELECT a, b FROM t WHERE a = 1
----
1
x y

statement error (42703)
SELECT nosuch FROM t

onlyif mysql
statement ok
SELECT no SQL of ours

statement ok
DROP TABLE t
";

const WRONG: &str = "\
query I
SELECT 1
----
1

query I
SELECT 4
----
5
";

#[test]
fn files_run_in_process_by_each_front() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "right.test", RIGHT);
    for front in ["library", "simple", "extended"] {
        let (ok, out) = run(&["--front", front, path.to_str().unwrap()]);
        assert!(ok && out.ends_with("right.test: ok, 6 records\n1 file, 6 records, 0 failed\n"), "{front}: {out}");
    }
}

#[test]
fn a_record_that_fails_is_shown_with_its_place_and_the_others_still_run() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "a.slt", WRONG);
    file(folder.path(), "b.slt", RIGHT);
    file(folder.path(), "notes.txt", "no records");
    let (ok, out) = run(&[folder.path().to_str().unwrap()]);
    assert!(!ok && out.contains("a.slt: 1 FAILED, 2 records"), "{out}");
    assert!(out.contains("-   5\n+   4\n") && out.contains("a.slt:6"), "{out}");
    assert!(out.ends_with("b.slt: ok, 6 records\n2 files, 8 records, 1 failed\n"), "{out}");
}

#[test]
fn separators_count_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "blank.slt", "query II\nSELECT 1, 2\n----\n1 2\n");
    let path = path.to_str().unwrap();
    assert!(run(&[path]).0);
    assert!(!run(&["--exact", path]).0);
}

#[test]
fn files_run_on_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "right.slt", RIGHT);
    let server = Server::start(&folder.path().join("data"));
    for (front, port) in [("simple", server.port), ("extended", server.port)] {
        let address = format!("127.0.0.1:{port}");
        let (ok, out) = run(&["--address", &address, "--front", front, path.to_str().unwrap()]);
        assert!(ok && out.contains("ok, 6 records"), "{out}");
    }
    let (ok, out) = run(&["--address", "127.0.0.1:1", path.to_str().unwrap()]);
    assert!(!ok && out.contains("right.slt: 08000") && out.contains("1 failed"), "{out}");
}

#[test]
fn a_file_that_is_not_there_or_not_readable_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "bad.slt", "quarry I\nSELECT 1\n");
    for path in [path.to_str().unwrap(), "/nonexistent.slt"] {
        let (ok, out) = run(&[path]);
        assert!(!ok && out.contains(path) && out.ends_with("1 file, 0 records, 1 failed\n"), "{out}");
    }
}

#[test]
fn files_that_cannot_be_run_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let copy = "statement ok\nCREATE TABLE t (k integer)\n\nstatement error (0A000)\nCOPY t FROM stdin\n\n\
                statement error (0A000)\nCOPY t FROM\n  STDIN;\n\nquery I\nSELECT count(*) FROM t\n----\n0\n";
    let copy = file(folder.path(), "copy.slt", copy);
    for front in ["simple", "extended"] {
        let (ok, out) = run(&["--front", front, copy.to_str().unwrap()]);
        assert!(ok && out.contains("4 records"), "{out}");
    }
    let marked = file(folder.path(), "marked.slt", "\u{feff}include part*.slt\n\nquery I\nSELECT 1\n----\n1\n");
    file(folder.path(), "part1.slt", "statement ok\nSELECT 1\n");
    let (ok, out) = run(&[marked.to_str().unwrap()]);
    assert!(ok && out.contains("2 records"), "{out}");
    let itself = file(folder.path(), "itself.slt", "include itself.slt\n");
    let (ok, out) = run(&[itself.to_str().unwrap()]);
    assert!(!ok && out.contains("files include each other"), "{out}");
    let bytes = folder.path().join("bytes.slt");
    std::fs::write(&bytes, b"# \xff\n").unwrap();
    let (ok, out) = run(&[bytes.to_str().unwrap()]);
    assert!(!ok && out.contains("UTF-8"), "{out}");
}
