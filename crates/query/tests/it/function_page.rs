//! Generates `docs/sql/functions.md` from the registry of functions: which functions of PostgreSQL and Phoenix exist.
//!
//! `BENNU_WRITE_PAGES=1 cargo test -p bennu-query function_page` rewrites the page.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sql/functions.md");
const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sql-tests");

/// Calls and keywords that are part of the grammar.
const FORMS: [&str; 16] = [
    "coalesce",
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "first_values",
    "greatest",
    "grouping",
    "last_values",
    "least",
    "localtime",
    "localtimestamp",
    "nullif",
    "trim",
    "user",
];

/// The text of all sqllogictest files, in lower case.
fn records(folder: &Path, out: &mut String) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            records(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "slt") {
            out.push_str(&std::fs::read_to_string(&path).unwrap().to_lowercase());
        }
    }
}

fn is_called(records: &str, name: &str) -> bool {
    let mut rest = records;
    while let Some((before, after)) = rest.split_once(name) {
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if begins && after.trim_start().starts_with('(') {
            return true;
        }
        rest = after;
    }
    false
}

fn page() -> String {
    let ours: BTreeSet<&str> = builtins::functions().iter().map(|function| function.name).chain(FORMS).collect();
    let mut tested = String::new();
    records(Path::new(RECORDS), &mut tested);
    let mut page = String::from(
        "# Functions\n\nMade from the registry by `crates/query/tests/it/function_page.rs`; do not edit by hand. The list is \
         that of PostgreSQL 15's manual, for the types that are here, and below it Phoenix's.\n\n- **compared**: it is \
         here, and records in `sql-tests` hold its answers against PostgreSQL's (of Phoenix's own: against answers \
         worked out by hand)\n- **here**: it is here\n- **missing**: it is not built, and why\n",
    );
    let state = |name: &str| match (ours.contains(name), is_called(&tested, name)) {
        (true, true) => "compared".to_owned(),
        (true, false) => "here".to_owned(),
        (false, _) => format!("missing. {}", query::hint_for_missing_function(name).unwrap_or("")).trim().to_owned(),
    };
    for line in include_str!("postgres_functions.txt").lines().filter(|line| !line.is_empty()) {
        if let Some(title) = line.strip_prefix("# ") {
            write!(page, "\n## {title}\n\n| function | state |\n|---|---|\n").unwrap();
            continue;
        }
        for name in line.split(' ') {
            writeln!(page, "| `{name}` | {} |", state(name)).unwrap();
        }
    }
    page.push_str("\n# Phoenix's functions\n\nWhere the two disagree PostgreSQL wins: the note says how.\n");
    for line in include_str!("phoenix_functions.txt").lines().filter(|line| !line.is_empty()) {
        if let Some(title) = line.strip_prefix("# ") {
            write!(page, "\n## {title} in Phoenix\n\n| function | state | note |\n|---|---|---|\n").unwrap();
            continue;
        }
        let (name, note) = line.split_once(" | ").unwrap_or((line, ""));
        writeln!(page, "| `{name}` | {} | {note} |", state(name)).unwrap();
    }
    page
}

#[test]
fn what_is_missing_says_why() {
    let made = page();
    let silent: Vec<&str> = made.lines().filter(|line| line.ends_with("| missing. |")).collect();
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn the_page_is_up_to_date() {
    let made = page();
    if std::env::var_os("BENNU_WRITE_PAGES").is_some() {
        std::fs::create_dir_all(Path::new(PAGE).parent().unwrap()).unwrap();
        std::fs::write(PAGE, &made).unwrap();
    }
    let kept = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(kept == made, "docs/sql/functions.md is out of date: run with BENNU_WRITE_PAGES=1");
}
