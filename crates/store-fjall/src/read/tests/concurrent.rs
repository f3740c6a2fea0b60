//! Scans concurrent to writes, flushes and compactions: each sees one consistent state.

use super::bed::{Bed, Form, Kind, collect, fragment, request};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::KeyRange;

const ROWS: u32 = 2000;

fn key(n: u32) -> Vec<u8> {
    n.to_be_bytes().to_vec()
}

/// Each batch moves a row to its other key and rewrites some rows, all with the number of the batch. So every state has
/// the same number of rows, and the rewritten ones are equal.
fn write(bed: &Bed, commit: &Mutex<()>, stop: &AtomicBool) {
    let mut at = 0;
    while !stop.load(Ordering::Relaxed) {
        let (row, there) = (at * 7 % ROWS, (at / ROWS).is_multiple_of(2));
        let (from, to) = if there { (row, row + ROWS) } else { (row + ROWS, row) };
        let mut batch = bed.db.batch();
        batch.remove(&bed.keyspace, key(from));
        batch.insert(&bed.keyspace, key(to), fragment(at, 9, Form::Dense));
        for marked in 0..8 {
            batch.insert(&bed.keyspace, [b"mark".as_slice(), &[marked]].concat(), fragment(at, 0, Form::Dense));
        }
        {
            let _commit = commit.lock().unwrap();
            batch.commit().unwrap();
        }
        at += 1;
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn reorganise(bed: &Bed, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..5 {
            bed.flush();
            std::thread::sleep(Duration::from_millis(15));
        }
        bed.compact();
    }
}

/// Scans once. Returns whether the rows came from blocks.
fn scan_once(bed: &Bed, commit: &Mutex<()>) -> bool {
    let source = {
        let _commit = commit.lock().unwrap();
        bed.source()
    };
    let found = collect(&source, request(vec![KeyRange::all()]));
    assert_eq!(found.rows, ROWS as usize + 8);
    assert!(found.keys.is_sorted_by(|a, b| a < b));
    let marks: Vec<_> = found.keys.iter().zip(&found.fragments).filter(|(key, _)| key.starts_with(b"mark")).collect();
    assert_eq!(marks.len(), 8);
    assert!(marks.iter().all(|(_, fragment)| *fragment == marks[0].1));
    let mut count = request(vec![KeyRange::all()]);
    (count.keys, count.values) = (false, false);
    assert_eq!(collect(&source, count).rows, ROWS as usize + 8);
    found.counters.block_rows > 0
}

#[test]
fn a_scan_sees_one_state_whatever_happens_meanwhile() {
    let mut bed = Bed::new(Kind::OWN);
    bed.ingest((0..ROWS).map(|n| (key(n), fragment(n, 9, Form::Dense))).collect());
    (0..8).for_each(|n| bed.put([b"mark".as_slice(), &[n]].concat(), fragment(0, 0, Form::Dense)));
    let (commit, stop) = (Mutex::new(()), AtomicBool::new(false));
    let by_blocks = std::thread::scope(|scope| {
        scope.spawn(|| write(&bed, &commit, &stop));
        scope.spawn(|| reorganise(&bed, &stop));
        let begun = Instant::now();
        let mut by_blocks = 0;
        let scanned = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            while begun.elapsed() < Duration::from_secs(2) || by_blocks < 5 {
                by_blocks += usize::from(scan_once(&bed, &commit));
            }
        }));
        stop.store(true, Ordering::Relaxed);
        scanned.map(|()| by_blocks).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    assert!(by_blocks >= 5);
}
