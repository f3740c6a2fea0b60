//! A bulk load of entries in random order, as in an index build: `cargo bench -p bennu-store-fjall --bench
//! index_build`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, missing_docs)]

mod bed;

use bed::{FAMILY, TABLE, cpu};
use std::path::Path;
use std::time::Instant;
use store::{CommitNo, KeyRange, LoadRows, OnDuplicate, ScanRequest, Store};

const ENTRIES: u64 = 6_000_000;
/// Entries per call.
const HANDED_ON: u64 = 4096;

/// Part, supplier, order and line: two values with few distinct digits before a rowkey.
fn push_entry(n: u64, fragment: &[u8], rows: &mut LoadRows) {
    let part = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16;
    let mut key = [0; 28];
    for (to, value) in key.chunks_mut(8).zip([part % 200_000, (part + n % 4 * 2501) % 10_000, n / 4 * 4, (n % 4) << 32])
    {
        to.copy_from_slice(&(value | (1 << 63)).to_be_bytes().as_slice()[..to.len()]);
    }
    rows.push(&key, fragment);
}

async fn load(folder: &Path) {
    let store = bed::store(folder).await;
    let mut fragment = Vec::new();
    fragment::encode_sparse(1, &[], &mut fragment).unwrap();
    let (begun, before) = (Instant::now(), cpu());
    let mut load = store.bulk_load(TABLE, OnDuplicate::Replace).await.unwrap();
    for from in (0..ENTRIES).step_by(HANDED_ON as usize) {
        let mut rows = LoadRows::with_capacity(260 << 10);
        (from..(from + HANDED_ON).min(ENTRIES)).for_each(|n| push_entry(n, &fragment, &mut rows));
        load.write_rows(FAMILY, rows).await.unwrap();
    }
    println!("{} bytes of fragment; collected: {:?}, {:?} of CPU", fragment.len(), begun.elapsed(), cpu() - before);
    load.finish().await.unwrap();
    println!("loaded: {:?}, {:?} of CPU", begun.elapsed(), cpu() - before);
    let at = store.snapshot(CommitNo(0)).await.unwrap();
    let mut scan = store.scan(ScanRequest::new(TABLE, FAMILY, vec![KeyRange::all()]), &at).await.unwrap();
    let mut found = 0;
    while let Some(batch) = scan.next().await.unwrap() {
        found += batch.keys().count() as u64;
    }
    assert_eq!(found, ENTRIES);
    store.close().await.unwrap();
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    for _ in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        load(folder.path()).await;
    }
}
