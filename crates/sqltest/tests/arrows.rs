//! Compares the dependencies in `docs/architecture/crates.md` with those that cargo reports.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The table rows `| crate | … | may depend on |` of the document, with short names for our crates.
fn allowed(document: &str) -> BTreeMap<String, BTreeSet<String>> {
    let rows = document.lines().filter(|l| l.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(String::from).collect::<BTreeSet<_>>();
        (names(cells[0]).into_iter().next().unwrap(), names(cells[2]))
    })
    .collect()
}

/// The packages of the workspace, as cargo describes them.
fn packages() -> Vec<serde_json::Value> {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn every_dependency_is_an_arrow_of_the_document() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let document = std::fs::read_to_string(root.join("docs/architecture/crates.md")).unwrap();
    let allowed = allowed(&document);
    let short = |name: &str| name.strip_prefix("bennu-").unwrap_or(name).to_string();
    let packages = packages();
    let ours: BTreeSet<String> = packages.iter().map(|p| short(p["name"].as_str().unwrap())).collect();
    let walls = ["sqlparser", "fjall", "lsm-tree", "datafusion", "arrow", "pgwire", "axum", "clap"];
    let mut wrong = Vec::new();
    for package in &packages {
        let from = short(package["name"].as_str().unwrap());
        let Some(may) = allowed.get(&from) else {
            wrong.push(format!("{from} is not in docs/architecture/crates.md"));
            continue;
        };
        // Dev-dependencies are not restricted.
        for dependency in package["dependencies"].as_array().unwrap().iter().filter(|d| d["kind"].is_null()) {
            let to = short(dependency["name"].as_str().unwrap());
            if (ours.contains(&to) || walls.contains(&to.as_str())) && !may.contains(&to) {
                wrong.push(format!("{from} -> {to}"));
            }
        }
    }
    assert!(wrong.is_empty(), "not allowed by docs/architecture/crates.md: {wrong:#?}");
}

/// The non-optional dependencies of a package.
fn needed(packages: &[serde_json::Value], name: &str) -> BTreeSet<String> {
    let package = packages.iter().find(|package| package["name"] == name).unwrap();
    let dependencies = package["dependencies"].as_array().unwrap().iter();
    let needed = dependencies.filter(|dependency| dependency["kind"].is_null() && dependency["optional"] == false);
    needed.map(|dependency| dependency["name"].as_str().unwrap().to_string()).collect()
}

#[test]
fn the_embedding_crate_is_checked_without_its_features() {
    let packages = packages();
    assert_eq!(needed(&packages, "bennu"), needed(&packages, "bennu-embedded"));
}

/// The dependency tree of `bennu` with these features.
fn tree(features: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO"))
        .args(["tree", "-p", "bennu", "-e", "normal", "--prefix", "none", "--offline", "--no-default-features"])
        .args(features)
        .current_dir(root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn who_embeds_bennu_gets_no_server_and_no_console_unless_asked_for() {
    let brings = |tree: &str, name: &str| tree.lines().any(|line| line.split(' ').next() == Some(name));
    let none = tree(&[]);
    for absent in ["bennu-pg-server", "pgwire", "bennu-console", "axum", "clap", "rustyline", "sqllogictest"] {
        assert!(!brings(&none, absent), "{absent} comes without being asked for");
    }
    assert!(brings(&none, "bennu-engine"));
    let server = tree(&["--features", "server"]);
    assert!(brings(&server, "bennu-pg-server") && !brings(&server, "axum"));
    let console = tree(&["--features", "console"]);
    assert!(brings(&console, "bennu-console") && !brings(&console, "pgwire"));
}
