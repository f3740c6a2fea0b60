//! Records of the corpus that some stores skip.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A record that is skipped on stores without a capability.
#[derive(Debug)]
pub(crate) struct Skipped {
    label: String,
    file: String,
    /// The comment before the record.
    reason: String,
}

/// All `skipif without_…` and `onlyif without_…` records, in the order of `files`.
pub(crate) fn skipped(files: &[(String, PathBuf)]) -> Vec<Skipped> {
    let mut found = Vec::new();
    for (name, file) in files {
        let text = std::fs::read_to_string(file).unwrap();
        let mut reason = String::new();
        for line in text.lines() {
            if let Some(comment) = line.strip_prefix('#') {
                reason = comment.trim().to_owned();
            } else if let Some(label) = line.strip_prefix("skipif ").filter(|label| label.starts_with("without_")) {
                found.push(Skipped { label: label.trim().to_owned(), file: name.clone(), reason: reason.clone() });
            } else if line.is_empty() {
                reason.clear();
            }
        }
    }
    found
}

/// The expected content of the committed list.
fn list(skipped: &[Skipped]) -> String {
    let mut text = String::from(
        "# Records that a store skips\n\nBy what it lacks. Written by `BENNU_STORES_WRITE=1 cargo test -p bennu-sqltest --test stores skipped`.\n\n| lacks | file | why |\n|---|---|---|\n",
    );
    for Skipped { label, file, reason } in skipped {
        let lacks = label.trim_start_matches("without_");
        writeln!(text, "| {lacks} | {file} | {reason} |").unwrap();
    }
    writeln!(text, "\n{} records.", skipped.len()).unwrap();
    text
}

/// Checks that the committed list matches the files, and that each record has a reason.
pub(crate) fn compare_list(root: &Path, skipped: &[Skipped]) -> Result<(), String> {
    if let Some(Skipped { file, label, .. }) = skipped.iter().find(|skipped| skipped.reason.is_empty()) {
        return Err(format!("{file}: a record is skipped by {label} and no comment before it says why"));
    }
    let (path, wanted) = (root.join("skipped.md"), list(skipped));
    if std::env::var_os("BENNU_STORES_WRITE").is_some() {
        std::fs::write(&path, &wanted).map_err(|error| error.to_string())?;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    if found == wanted { Ok(()) } else { Err(format!("sql-tests/skipped.md is not the list of the files:\n{wanted}")) }
}
