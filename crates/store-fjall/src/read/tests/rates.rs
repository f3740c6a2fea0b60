//! Read throughput: `cargo test --release -p bennu-store-fjall rates -- --ignored --nocapture`.

use super::bed::{Bed, Form, Kind, between, fragment, request};
use crate::read::blocks::Points;
use crate::read::{ReadSource, get, scan};
use bytes::Bytes;
use std::time::{Duration, Instant};
use store::{KeyRange, Scan, ScanRequest};

const ROWS: u32 = 1_000_000;

fn key(n: u32) -> Vec<u8> {
    [u64::from(n / 4).to_be_bytes().as_slice(), &(n % 4).to_be_bytes()].concat()
}

/// The best time of five runs.
fn time(source: &ReadSource, request: &ScanRequest) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let run = |_| {
        let begun = Instant::now();
        let mut scan = scan::open(source.clone(), request.clone()).unwrap();
        let mut rows = 0;
        while let Some(batch) = runtime.block_on(scan.next()).unwrap() {
            rows += batch.fragments().filter(|fragment| !fragment.is_empty()).count();
        }
        std::hint::black_box(rows);
        begun.elapsed()
    };
    (0..5).map(run).min().unwrap()
}

#[test]
#[ignore = "prints figures; only a release build tells something"]
#[allow(clippy::print_stdout)]
fn rates_of_scans() {
    let mut bed = Bed::with_cache(Kind { block_bytes: 16_384, ..Kind::OWN }, 1 << 30);
    bed.ingest((0..ROWS).map(|n| (key(n), fragment(n, 88, Form::Dense))).collect());
    for (state, changes) in [("one run", 0), ("and 0.5 % changed in memory", ROWS / 200)] {
        for n in 0..changes {
            let n = n.wrapping_mul(2_654_435_761) % ROWS;
            bed.put(key(n), fragment(n, 88, Form::Dense));
        }
        let all = request(vec![KeyRange::all()]);
        let show = |what: &str, request: ScanRequest| {
            let each = time(&bed.source(), &request).as_secs_f64() * 1e9 / f64::from(ROWS);
            println!("{state:30} {what:22} {each:6.1} ns a row");
        };
        show("count", ScanRequest { keys: false, values: false, ..all.clone() });
        show("fragments", ScanRequest { keys: false, ..all.clone() });
        show("fragments and keys", all.clone());
        show("filter that 2 % pass", ScanRequest { filter: Some(between(0, ROWS / 50)), ..all.clone() });
        show("reverse, by iterator", ScanRequest { reverse: true, keys: false, ..all.clone() });
    }
}

/// Nanoseconds per get, with `each` keys per call at an average distance of half of `gap` rows; with `alone` one key
/// per call. The best of five runs.
fn time_of_gets(source: &ReadSource, each: u32, gap: u32, alone: bool) -> f64 {
    let runs = 200_000 / each;
    let run = |_| {
        let (begun, mut random) = (Instant::now(), store_testkit::Random::new(7));
        for _ in 0..runs {
            let mut row = random.below(u64::from(ROWS - each * gap)) as u32;
            let keys = (0..each).map(|_| {
                row += random.below(u64::from(gap)) as u32;
                key(row)
            });
            let keys: Vec<Vec<u8>> = keys.collect();
            if alone {
                let (view, mut points) = (source.view(), Points::default());
                let rows = keys.iter().map(|key| source.get(key, view.as_deref(), &mut points).unwrap().unwrap());
                rows.for_each(|row| drop(std::hint::black_box(Bytes::copy_from_slice(row.bytes()))));
            } else {
                drop(std::hint::black_box(get(source, keys.iter().map(Vec::as_slice)).unwrap()));
            }
        }
        begun.elapsed().as_secs_f64() * 1e9 / f64::from(runs * each)
    };
    (0..5).map(run).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "prints figures; only a release build tells something"]
#[allow(clippy::print_stdout)]
fn rates_of_gets() {
    let mut bed = Bed::with_cache(Kind { block_bytes: 16_384, ..Kind::OWN }, 1 << 30);
    bed.ingest((0..ROWS).map(|n| (key(n), fragment(n, 88, Form::Dense))).collect());
    let mut written = Bed::with_cache(Kind { block_bytes: 16_384, ..Kind::OWN }, 1 << 30);
    for n in 0..ROWS {
        written.put(key(n), fragment(n, 88, Form::Dense));
    }
    written.keyspace.rotate_memtable_and_wait().unwrap();
    for (how, bed) in [("loaded", &bed), ("written and flushed", &written)] {
        for (each, gap) in [(1, 1), (8, 20_000), (16, 20_000), (1000, 900), (1000, 200), (1000, 20)] {
            let [alone, together] = [true, false].map(|alone| time_of_gets(&bed.source(), each, gap, alone));
            println!("{how:20} {each:4} rows, {gap:5} apart: {alone:6.1} ns a get, {together:6.1} together");
        }
    }
}
