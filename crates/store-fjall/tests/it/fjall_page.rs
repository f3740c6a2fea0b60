//! Each test that `docs/architecture/fjall.md` refers to exists.

use std::path::{Path, PathBuf};

/// The sources of the crates with these tests.
fn sources() -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> =
        ["store-fjall/src", "store-fjall/tests", "sim/tests", "store-testkit/src"].map(|name| crates.join(name)).into();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push((path.clone(), std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    sources
}

/// The texts in backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Returns true if a module or test of this name exists, or unit tests in the module before `tests`.
fn is_there(name: &str, sources: &[(PathBuf, String)]) -> bool {
    let parts: Vec<&str> = name.split("::").collect();
    let is_module = |path: &Path, name: &str| {
        path.file_stem().is_some_and(|stem| stem == name) || path.parent().is_some_and(|folder| folder.ends_with(name))
    };
    match parts.as_slice() {
        [.., module, "tests"] => {
            sources.iter().any(|(path, text)| is_module(path, module) && text.contains("mod tests"))
        }
        [.., module, "tests", test] => {
            let function = format!("fn {test}(");
            let in_file = |(path, text): &(PathBuf, String)| is_module(path, module) && text.contains(&function);
            sources.iter().any(in_file)
                || sources.iter().any(|(path, _)| path.ends_with(format!("{module}/tests/{test}.rs")))
        }
        [module, test] => {
            let function = format!("fn {test}(");
            let in_file = |(path, text): &(PathBuf, String)| is_module(path, module) && text.contains(&function);
            sources.iter().any(in_file) || sources.iter().any(|(path, _)| path.ends_with(format!("suite/{test}.rs")))
        }
        [module] => sources.iter().any(|(path, _)| is_module(path, module)),
        _ => false,
    }
}

#[test]
fn each_trap_has_its_wall_and_a_test_that_is_there() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/architecture/fjall.md");
    let (page, sources) = (std::fs::read_to_string(page).unwrap(), sources());
    let (mut rows, mut wrong) = (0, Vec::new());
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if cells.first() == Some(&"fjall") {
            continue;
        }
        let [trap, wall, test] = cells.as_slice() else {
            wrong.push(format!("{} cells: {line}", cells.len()));
            continue;
        };
        rows += 1;
        let names: Vec<&str> = quoted(test).into_iter().filter(|name| !name.contains('/')).collect();
        wrong.extend(
            names.iter().filter(|name| !is_there(name, &sources)).map(|name| format!("{name} is not there: {trap}")),
        );
        // A row says where else the effect shows, or why it cannot be tested.
        let told = !names.is_empty() || ["none", "power loss", "the compiler"].iter().any(|way| test.contains(way));
        wrong.extend((!told || wall.is_empty()).then(|| format!("no wall or no test: {trap}")));
    }
    assert!(wrong.is_empty() && rows > 40, "{rows} rows; {wrong:#?}");
}
