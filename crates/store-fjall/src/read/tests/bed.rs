//! Fixtures: a keyspace with small blocks, a map of the expected rows, and scans collected into vectors.

use crate::read::{Position, ReadSource, Views, scan};
use bytes::Bytes;
use fjall::config::{BlockSizePolicy, CompressionPolicy, PartitioningPolicy, PinningPolicy};
use fjall::{AbstractTree, CompressionType, Database, Keyspace, KeyspaceCreateOptions, Snapshot};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{FamilyId, Filter, FixedPredicate, KeyRange, Scan, ScanCounters, ScanRequest, TableId};
use tempfile::TempDir;

pub(super) type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

/// The kind of keyspace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// Rows have a slot prefix, with rows of other slots on both sides.
    pub(super) shared: bool,
    /// Indexes have two levels, and none of their blocks is pinned.
    pub(super) partitioned: bool,
    pub(super) block_bytes: u32,
}

impl Kind {
    pub(super) const OWN: Self = Self { shared: false, partitioned: false, block_bytes: 256 };
}

/// A database in a temporary folder.
pub(super) struct Bed {
    pub(super) db: Database,
    pub(super) keyspace: Keyspace,
    pub(super) prefix: Bytes,
    /// The rows that a reader must see now.
    pub(super) rows: Rows,
    pub(super) folder: TempDir,
    /// Shared by all readers, as in a store.
    views: Arc<Views>,
}

/// The rows of a scan.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) keys: Vec<Vec<u8>>,
    pub(super) fragments: Vec<Vec<u8>>,
    pub(super) rows: usize,
    pub(super) batches: usize,
    pub(super) undecided: bool,
    pub(super) counters: ScanCounters,
}

impl Bed {
    pub(super) fn new(kind: Kind) -> Self {
        Self::with_cache(kind, 1 << 20)
    }

    pub(super) fn with_cache(kind: Kind, bytes: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = Database::builder(folder.path()).cache_size(bytes).open().unwrap();
        let options = || {
            let options = KeyspaceCreateOptions::default()
                .data_block_size_policy(BlockSizePolicy::all(kind.block_bytes))
                .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4));
            if kind.partitioned {
                options
                    .index_block_partitioning_policy(PartitioningPolicy::all(true))
                    .index_block_pinning_policy(PinningPolicy::all(false))
            } else {
                options
            }
        };
        let keyspace = db.keyspace("rows", options).unwrap();
        let prefix = if kind.shared { Bytes::from_static(&[0, 0, 1, 0xFF]) } else { Bytes::new() };
        let bed = Self { db, keyspace, prefix, rows: Rows::new(), folder, views: Arc::default() };
        if kind.shared {
            bed.put_neighbours();
        }
        bed
    }

    /// Writes rows of the slots before and after.
    fn put_neighbours(&self) {
        for slot in [[0, 0, 1, 0xFE], [0, 0, 2, 0]] {
            for n in 0..40_u16 {
                let key = [slot.as_slice(), &n.to_be_bytes()].concat();
                self.keyspace.insert(key, fragment(u32::from(n), 9, Form::Dense)).unwrap();
            }
        }
    }

    fn stored(&self, key: &[u8]) -> Vec<u8> {
        [self.prefix.as_ref(), key].concat()
    }

    pub(super) fn put(&mut self, key: Vec<u8>, fragment: Vec<u8>) {
        self.keyspace.insert(self.stored(&key), fragment.clone()).unwrap();
        self.rows.insert(key, fragment);
    }

    pub(super) fn delete(&mut self, key: &[u8]) {
        self.keyspace.remove(self.stored(key)).unwrap();
        self.rows.remove(key);
    }

    pub(super) fn ingest(&mut self, rows: Rows) {
        let mut ingestion = self.keyspace.start_ingestion().unwrap();
        for (key, fragment) in &rows {
            ingestion.write(self.stored(key), fragment.clone()).unwrap();
        }
        ingestion.finish().unwrap();
        self.rows.extend(rows);
    }

    /// Seals the memtable without a flush, as a store does.
    pub(super) fn seal(&self) {
        self.views.memtables.note(&self.keyspace);
        self.keyspace.tree.rotate_memtable().unwrap();
    }

    pub(super) fn flush(&self) {
        self.keyspace.rotate_memtable_and_wait().unwrap();
    }

    pub(super) fn compact(&self) {
        self.keyspace.major_compact().unwrap();
    }

    pub(super) fn source_at(&self, snapshot: Snapshot) -> ReadSource {
        let (keyspace, views) = (self.keyspace.clone(), Arc::clone(&self.views));
        ReadSource { keyspace, prefix: self.prefix.clone(), position: Position::Live(Arc::new(snapshot)), views }
    }

    pub(super) fn source(&self) -> ReadSource {
        self.source_at(self.db.snapshot())
    }
}

/// A request over `ranges`.
pub(super) fn request(ranges: Vec<KeyRange>) -> ScanRequest {
    ScanRequest::new(TableId(1), FamilyId(0), ranges)
}

/// Runs a scan to its end.
pub(super) fn collect(source: &ReadSource, request: ScanRequest) -> Collected {
    let mut scan = scan::open(source.clone(), request).unwrap();
    let mut collected = Collected::default();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        while let Some(batch) = Scan::next(scan.as_mut()).await.unwrap() {
            assert!(!batch.is_empty(), "a batch has rows");
            collected.keys.extend(batch.keys().map(<[u8]>::to_vec));
            collected.fragments.extend(batch.fragments().map(<[u8]>::to_vec));
            collected.rows += batch.len();
            collected.batches += 1;
            collected.undecided |= batch.undecided();
        }
    });
    collected.counters = scan.counters();
    assert_eq!(collected.counters.rows_returned, collected.rows as u64);
    collected
}

/// How a filter on layout 7 sees a fragment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Dense,
    /// The only column is NULL.
    Null,
    OtherLayout,
    Sparse,
}

/// A fragment with one column of 4 bytes, and `pad` further bytes.
pub(super) fn fragment(value: u32, pad: usize, form: Form) -> Vec<u8> {
    let (flags, layout) = match form {
        Form::Sparse => (0, 7),
        Form::OtherLayout => (1, 8),
        Form::Dense | Form::Null => (1, 7),
    };
    let mut bytes = vec![1, flags, 0, layout];
    bytes.extend([0; 16]);
    bytes.push(u8::from(matches!(form, Form::Null)));
    bytes.extend(if matches!(form, Form::Null) { [0; 4] } else { value.to_be_bytes() });
    bytes.resize(bytes.len() + pad, b'p');
    bytes
}

/// A filter `lo <= value <= hi` on [`fragment`].
pub(super) fn between(lo: u32, hi: u32) -> Filter {
    let bound = |value: u32| Bytes::copy_from_slice(&value.to_be_bytes());
    let predicate = FixedPredicate { offset: 21, width: 4, null_bit: (20, 1), lo: bound(lo), hi: bound(hi) };
    Filter { layout: 7, predicates: vec![predicate], nulls: Vec::new() }
}
