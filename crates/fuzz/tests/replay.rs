//! Replays the corpus and mutations of it through every target.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

use bennu_fuzz::TARGETS;
use std::path::Path;

const MUTATIONS: u64 = 20_000;

#[test]
fn every_target_survives_its_corpus_and_mutations_of_it() {
    for (name, target) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
        let files = std::fs::read_dir(folder).unwrap().map(|f| std::fs::read(f.unwrap().path()).unwrap());
        let corpus: Vec<Vec<u8>> = files.collect();
        assert!(!corpus.is_empty(), "{name} has no corpus");
        corpus.iter().for_each(|bytes| target(bytes));
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..MUTATIONS {
            target(&mutate(&corpus, &mut random));
        }
    }
}

/// Makes one to four edits: changes, inserts or removes a byte, or inserts a piece of another file.
fn mutate(corpus: &[Vec<u8>], random: &mut u64) -> Vec<u8> {
    let mut next = |below: usize| {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        (*random % below.max(1) as u64) as usize
    };
    let mut bytes = corpus[next(corpus.len())].clone();
    for _ in 0..=next(4) {
        let at = next(bytes.len() + 1);
        match next(4) {
            0 if at < bytes.len() => bytes[at] = next(256) as u8,
            1 => bytes.insert(at, next(256) as u8),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            _ => {
                let other = &corpus[next(corpus.len())];
                let start = next(other.len());
                let end = start + next(other.len() - start + 1);
                bytes.splice(at..at, other[start..end].iter().copied());
            }
        }
    }
    bytes
}
