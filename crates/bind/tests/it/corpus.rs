//! Binds every query of `sql-tests`: it binds, or fails as its record says.

use crate::support::{Tables, UNREADABLE};
use bind::Environment;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use types::Style;
use types::temporal::ZoneRules;

/// The session's rules, which the test files may set differently; records whether the binder used them.
#[derive(Default)]
struct Asked(Cell<bool>);

impl ZoneRules for Asked {
    fn offset_at_local(&self, name: Option<&str>, _: i64) -> Option<i32> {
        self.0.set(true);
        name.is_none().then_some(0)
    }

    fn style(&self) -> Style {
        self.0.set(true);
        Style::default()
    }
}

/// A statement of a file and what its record expects.
struct Case {
    text: String,
    /// SQLSTATE; empty means any; `None` means no error.
    error: Option<String>,
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            files(&entry, into);
        } else if entry.extension().is_some_and(|extension| extension == "slt") {
            into.push(entry);
        }
    }
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for block in text.split("\n\n") {
        let mut lines = block.lines().skip_while(|line| line.is_empty() || line.starts_with('#')).peekable();
        let mut skipped = false;
        while let Some(condition) = lines.next_if(|line| line.starts_with("onlyif ") || line.starts_with("skipif ")) {
            skipped |= condition.starts_with("onlyif ");
        }
        let Some(head) = lines.next() else { continue };
        if skipped || !(head.starts_with("statement ") || head.starts_with("query ")) {
            continue;
        }
        let error = head.split_once(" error").map(|(_, rest)| {
            let rest = rest.trim();
            // The position of the error may be in front.
            let place = rest.strip_prefix("character ").and_then(|rest| rest.split_once(": "));
            let code = place.map_or(rest, |(_, code)| code).trim_start_matches('(').chars();
            code.take_while(char::is_ascii_alphanumeric).take(5).collect()
        });
        let text: Vec<&str> = lines.take_while(|line| *line != "----").collect();
        cases.push(Case { text: text.join("\n"), error });
    }
    cases
}

/// Binds the queries of a file; counts outcomes by cause, and describes unexpected ones.
fn run(path: &Path, counts: &mut BTreeMap<String, usize>, wrong: &mut Vec<String>) {
    let mut tables = Tables::default();
    for case in cases(&std::fs::read_to_string(path).unwrap()) {
        let Ok(parsed) = sql::parse(&case.text) else { continue };
        for one in parsed {
            if case.error.is_none() {
                tables.apply(&one.statement);
            }
            let sql::Statement::Query(_) = one.statement else { continue };
            let asked = Asked::default();
            let env = Environment { text: &case.text, rules: &asked };
            let outcome = match bind::bind(&one.statement, &tables, &env, &[]) {
                Ok(_) if case.error.as_ref().is_some_and(|wanted| wanted.starts_with("42")) => {
                    "bound, though the record expects an error of meaning".to_owned()
                }
                Ok(_) => "bound".to_owned(),
                Err(_) if asked.0.get() => "depends on the session's zone or style".to_owned(),
                Err(error) if UNREADABLE.iter().any(|what| error.to_string().starts_with(what)) => {
                    "reads what these tests have no relations of".to_owned()
                }
                Err(error) => {
                    let expected =
                        case.error.as_ref().is_some_and(|wanted| wanted.is_empty() || wanted == error.sqlstate());
                    if !expected {
                        let file = path.file_name().unwrap().to_string_lossy();
                        wrong.push(format!(
                            "{file}: {} {error}, expected {:?}: {}",
                            error.sqlstate(),
                            case.error,
                            case.text
                        ));
                    }
                    if expected { "error as expected".to_owned() } else { "another error".to_owned() }
                }
            };
            *counts.entry(outcome).or_default() += 1;
        }
    }
}

/// Nested statements need more stack than a test has in a debug build.
const STACK: usize = 64 << 20;

#[test]
fn every_query_of_the_corpus_binds_or_fails_as_expected() {
    std::thread::Builder::new().stack_size(STACK).spawn(bind_the_corpus).unwrap().join().unwrap();
}

fn bind_the_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql-tests");
    let mut all = Vec::new();
    files(&folder, &mut all);
    assert!(all.len() > 100, "the corpus is there");
    let (mut counts, mut wrong) = (BTreeMap::new(), Vec::new());
    for path in &all {
        run(path, &mut counts, &mut wrong);
    }
    let shown: String = counts.iter().map(|(cause, count)| format!("{count:5} {cause}\n")).collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}\n{shown}", wrong.len(), wrong.join("\n"));
    let of = |outcome: &str| counts.get(outcome).copied().unwrap_or_default();
    assert!(of("bound") * 10 > counts.values().sum::<usize>() * 6, "few are bound:\n{shown}");
}
