//! Relative links of a page.

use std::path::Path;

/// Pages that are linked and not written yet.
const TO_COME: [&str; 4] = ["differences.md", "functions.md", "bench.md", "examples/embed/README.md"];

/// Is each relative link's file there, with the heading that it names?
pub(crate) fn check(page: &Path, text: &str) -> Result<(), String> {
    let folder = page.parent().unwrap();
    let dead: Vec<String> = targets(text).into_iter().filter(|target| !leads_somewhere(folder, page, target)).collect();
    if dead.is_empty() { Ok(()) } else { Err(format!("dead links: {dead:?}")) }
}

fn leads_somewhere(folder: &Path, page: &Path, target: &str) -> bool {
    if target.contains("://") || TO_COME.iter().any(|page| target.ends_with(page)) {
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

/// What stands in `](…)`, outside of code.
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
