//! PostgreSQL's messages, positions and hints. `tests/errors.txt` has a statement and, below it, its error.

use crate::support::Tables;
use std::path::Path;

#[test]
fn errors_have_the_words_of_postgresql() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors.txt");
    let tables =
        Tables::of("CREATE TABLE t (k int PRIMARY KEY, a int, b text); CREATE TABLE u (k int PRIMARY KEY, c int)");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    let mut shown = String::new();
    while let Some(statement) = lines.next() {
        let _ = lines.next();
        shown.push_str(&format!("{statement}\n   {}\n", tables.error(statement)));
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &shown).unwrap();
    }
    assert_eq!(shown, text, "set BLESS=1 to record the errors anew");
}
