//! Damaged files: an error that names the block, never a wrong row.

use super::bed::{Bed, Form, Kind, fragment, request};
use crate::read::{ReadSource, scan, verify::verify};
use std::fs;
use std::path::PathBuf;
use store::{KeyRange, Scan, StoreError};

fn loaded(n: u32) -> Bed {
    let mut bed = Bed::new(Kind::OWN);
    let rows = (0..n).map(|i| (i.to_be_bytes().to_vec(), fragment(i, 20, Form::Dense)));
    bed.ingest(rows.collect());
    bed
}

fn table_file(bed: &Bed) -> PathBuf {
    let tables = bed.keyspace.path().join("tables");
    let mut files: Vec<_> = fs::read_dir(tables).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1);
    files.remove(0)
}

fn read_all(source: &ReadSource) -> Result<usize, StoreError> {
    let mut scan = scan::open(source.clone(), request(vec![KeyRange::all()]))?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut rows = 0;
    while let Some(batch) = runtime.block_on(scan.next())? {
        rows += batch.len();
    }
    Ok(rows)
}

#[test]
fn a_sound_store_verifies_with_its_rows_and_no_problem() {
    let mut bed = loaded(500);
    (0..10_u32).for_each(|i| bed.delete(&i.to_be_bytes()));
    bed.put(b"zz".to_vec(), fragment(1, 0, Form::Dense));
    let found = verify(&bed.source()).unwrap();
    assert_eq!((found.rows, found.problems), (491, Vec::<String>::new()));
    assert!(found.bytes > 500 * 40);
}

#[test]
fn a_flipped_bit_is_found_by_the_check_and_by_a_scan() {
    let bed = loaded(500);
    let file = table_file(&bed);
    let mut bytes = fs::read(&file).unwrap();
    bytes[2000] ^= 1;
    fs::write(&file, bytes).unwrap();
    let problems = verify(&bed.source()).unwrap().problems;
    assert!(problems.len() == 1 && problems[0].contains("block at"), "{problems:?}");
    assert!(matches!(read_all(&bed.source()), Err(StoreError::Corrupted { .. })));
}

#[test]
fn a_row_that_is_no_fragment_is_named() {
    let mut bed = loaded(10);
    bed.put(b"bad".to_vec(), b"no fragment".to_vec());
    let problems = verify(&bed.source()).unwrap().problems;
    assert!(problems.len() == 1 && problems[0].contains("626164"), "{problems:?}");
    bed.flush();
    let problems = verify(&bed.source()).unwrap().problems;
    assert!(problems.len() == 1 && problems[0].contains("626164"), "{problems:?}");
    assert!(bed.folder.path().exists());
}
