//! Checks relative links of a page and the repository files that it names.

use std::path::Path;

/// Checks that the file and heading of each relative link exist.
pub(crate) fn check(page: &Path, text: &str) -> Result<(), String> {
    let folder = page.parent().unwrap();
    let dead: Vec<String> = targets(text).into_iter().filter(|target| !leads_somewhere(folder, page, target)).collect();
    let absent: Vec<String> = named_files(text).into_iter().filter(|name| !is_file_of_ours(name)).collect();
    if dead.is_empty() && absent.is_empty() {
        return Ok(());
    }
    Err(format!("dead links: {dead:?}, files that are not there: {absent:?}"))
}

/// Words in backticks, outside of fenced blocks, that look like a source file, test file or folder of the repository.
fn named_files(text: &str) -> Vec<String> {
    let mut code = false;
    let prose: Vec<&str> = text
        .lines()
        .filter(|line| {
            code ^= line.starts_with("```");
            !code && !line.starts_with("```")
        })
        .collect();
    let prose = prose.join("\n");
    let words = prose.split('`').skip(1).step_by(2).filter(|word| !word.contains(char::is_whitespace));
    let folders = ["crates/", "docs/", "examples/", "sql-tests/"];
    let ends = [".rs", ".slt", ".toml", ".md"];
    let path = |word: &&str| {
        word.contains('/') && (word.contains("/src/") || ends.iter().any(|end| word.ends_with(end)))
            || folders.iter().any(|folder| word.starts_with(folder))
    };
    words.filter(path).filter(|word| !word.contains(['<', '*', '…', '~'])).map(str::to_owned).collect()
}

/// Returns whether the file exists. Crates and SQL tests may omit their folder: `engine/src/lib.rs`, `txn/blocks.slt`.
fn is_file_of_ours(name: &str) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    ["", "crates", "sql-tests"].iter().any(|folder| root.join(folder).join(name).exists())
}

fn leads_somewhere(folder: &Path, page: &Path, target: &str) -> bool {
    if target.contains("://") {
        return true;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { page.to_path_buf() } else { folder.join(file) };
    if heading.is_empty() {
        return path.exists();
    }
    let Ok(text) = std::fs::read_to_string(path) else { return false };
    text.lines().filter(|l| l.starts_with('#')).any(|l| anchor(l) == heading)
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let title = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The targets in `](…)`, outside of code.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut code = false;
    for line in text.lines() {
        code ^= line.starts_with("```");
        if code || line.starts_with("    ") {
            continue;
        }
        for piece in line.split("](").skip(1) {
            if let Some((target, _)) = piece.split_once(')') {
                found.push(target.to_owned());
            }
        }
    }
    found
}
