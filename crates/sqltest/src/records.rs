//! The records of a file and of the files it includes.

use sqllogictest::{DefaultColumnType, Record, parse_with_name};
use std::path::{Path, PathBuf};

/// Most nested includes. Deeper nesting is mostly a file that includes itself.
const MOST_FILES: usize = 16;

/// Reads all records in order, with those of an included file in place of the include.
///
/// # Errors
/// A file that cannot be read or is not UTF-8, an invalid line, or includes beyond the limit.
pub(crate) fn records(file: &Path) -> Result<Vec<Record<DefaultColumnType>>, String> {
    let mut found = Vec::new();
    collect(file, 1, &mut found)?;
    Ok(found)
}

fn collect(file: &Path, depth: usize, found: &mut Vec<Record<DefaultColumnType>>) -> Result<(), String> {
    let shown = file.display();
    if depth > MOST_FILES {
        return Err(format!("{shown}: more than {MOST_FILES} files include each other"));
    }
    let text = std::fs::read_to_string(file).map_err(|error| format!("{shown} cannot be read: {error}"))?;
    // The byte order mark that some editors write.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    for record in parse_with_name(text, shown.to_string()).map_err(|error| error.to_string())? {
        let Record::Include { filename, .. } = &record else {
            found.push(record);
            continue;
        };
        for included in included(file, filename)? {
            collect(&included, depth + 1, found)?;
        }
    }
    Ok(())
}

/// The files of an `include`, sorted. In its last part, `*` matches any characters and `?` one.
fn included(file: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let path = file.parent().unwrap_or(Path::new("")).join(pattern);
    if !pattern.contains(['*', '?']) {
        return Ok(vec![path]);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unread = |error: std::io::Error| format!("{} cannot be read: {error}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        if matches(name.as_bytes(), entry.file_name().to_string_lossy().as_bytes()) {
            found.push(entry.path());
        }
    }
    found.sort();
    if found.is_empty() { Err(format!("{}: no file is like \"{pattern}\"", file.display())) } else { Ok(found) }
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => {
            matches(rest, name) || name.split_first().is_some_and(|(_, name)| matches(pattern, name))
        }
        ([b'?', rest @ ..], [_, name @ ..]) => matches(rest, name),
        ([letter, rest @ ..], [first, name @ ..]) => letter == first && matches(rest, name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_have_two_signs() {
        for (pattern, name, fits) in [
            ("*.slt", "a.slt", true),
            ("*.slt", "a.test", false),
            ("a?b*", "axb", true),
            ("a?b*", "ab", false),
            ("a", "a", true),
            ("a", "ab", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), fits, "{pattern} {name}");
        }
    }
}
