//! Cached views: reused while the tree is unchanged, and never outdated.

use super::bed::{Bed, Form, Kind, collect, fragment, request};
use crate::read::{Image, Position, ReadSource};
use fjall::AbstractTree;
use std::sync::Arc;
use store::KeyRange;

fn put(bed: &mut Bed, key: &[u8]) {
    bed.put(key.to_vec(), fragment(1, 0, Form::Dense));
}

fn keys(source: &ReadSource) -> Vec<Vec<u8>> {
    collect(source, request(vec![KeyRange::all()])).keys
}

#[test]
fn a_view_is_kept_until_the_tree_changes() {
    let mut bed = Bed::new(Kind::OWN);
    put(&mut bed, b"a");
    bed.flush();
    let first = bed.source().view().unwrap();
    put(&mut bed, b"b");
    assert!(Arc::ptr_eq(&first, &bed.source().view().unwrap()), "a write is in the same memtable");
    assert_eq!(keys(&bed.source()), [b"a", b"b"]);
    bed.flush();
    assert!(!Arc::ptr_eq(&first, &bed.source().view().unwrap()), "a flush makes another memtable");
    assert_eq!(keys(&bed.source()), [b"a", b"b"]);
}

#[test]
fn an_older_snapshot_is_not_read_by_a_newer_view() {
    let mut bed = Bed::new(Kind::OWN);
    put(&mut bed, b"a");
    let before = bed.source();
    assert_eq!(keys(&before), [b"a"]);
    bed.delete(b"a");
    put(&mut bed, b"b");
    bed.flush();
    bed.compact();
    let after = bed.source();
    assert_eq!(keys(&after), [b"b"]);
    assert_eq!(keys(&before), [b"a"], "compaction has dropped this row from the newer view");
    assert!(Arc::ptr_eq(&after.view().unwrap(), &bed.source().view().unwrap()), "the newer one is kept");
}

#[test]
fn views_that_nobody_uses_are_forgotten() {
    let mut bed = Bed::new(Kind::OWN);
    put(&mut bed, b"a");
    let source = bed.source();
    let view = Arc::downgrade(&source.view().unwrap());
    source.views.forget_unused();
    assert!(view.upgrade().is_some(), "it was used");
    source.views.forget_unused();
    assert!(view.upgrade().is_none());
    assert_eq!(keys(&source), [b"a"]);
}

#[test]
fn an_image_that_is_held_for_long_has_no_memtable_of_later_rows() {
    let mut bed = Bed::new(Kind::OWN);
    put(&mut bed, b"a");
    bed.flush();
    put(&mut bed, b"b");
    let source = bed.source();
    let first = bed.keyspace.tree.active_memtable();
    bed.keyspace.tree.rotate_memtable();
    put(&mut bed, b"c");
    let later = Arc::downgrade(&bed.keyspace.tree.active_memtable());
    let image = Arc::new(Image::take_alone(&bed.keyspace, source.seqno()));
    assert_eq!((image.memtable.id(), image.memtable.len()), (first.id(), 0));
    assert_eq!(image.memtable_bytes(), first.size());
    let position = Position::Image { seqno: source.seqno(), image };
    let alone = ReadSource { position, ..source };
    bed.keyspace.tree.rotate_memtable();
    bed.keyspace.tree.flush(&bed.keyspace.tree.get_flush_lock(), 0).unwrap();
    assert!(later.upgrade().is_some(), "the version of the snapshot has it");
    bed.keyspace.tree.get_version_history_lock().maintenance(bed.keyspace.path(), bed.db.visible_seqno()).unwrap();
    assert!(later.upgrade().is_none());
    assert_eq!(keys(&alone), [b"a", b"b"]);
}
