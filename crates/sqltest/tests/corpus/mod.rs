//! The files of the corpus.

use std::path::{Path, PathBuf};

/// Every file below `root`, sorted.
pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(root, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "slt") {
            files.push(path);
        }
    }
}

/// One file in ten, by its name and the seed.
pub(crate) fn is_chosen(name: &str, seed: u64) -> bool {
    // FNV-1a: the same everywhere.
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325 ^ seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    (hash ^ (hash >> 29)) % 10 == 0
}
