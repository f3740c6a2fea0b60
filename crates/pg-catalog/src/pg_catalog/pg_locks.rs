//! `pg_locks`: table, row and advisory locks, held or waited for.
//!
//! Tables have two modes: DML holds its table in RowExclusiveLock, DDL and LOCK TABLE in AccessExclusiveLock. All row
//! locks are listed as ExclusiveLock. A row is identified by its rowkey and has no file position: `page` and `tuple`
//! are NULL.

use crate::live_state::{LockInfo, LockedObject};
use crate::rows::Rows;
use crate::source::Source;
use catalog::DATABASE_OID;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for lock in source.live.locks() {
        let relation = |storage: u32| source.catalog.tables().find(|table| table.storage == storage);
        let (kind, relation) = match lock.object {
            LockedObject::Table(storage) => ("relation", relation(storage)),
            LockedObject::Row(storage) => ("tuple", relation(storage)),
            LockedObject::Number(_) | LockedObject::Numbers(..) => ("advisory", None),
        };
        let numbers = numbers(lock.object);
        rows.add([
            ("locktype", kind.into()),
            ("database", DATABASE_OID.into()),
            ("relation", relation.map(|table| table.oid.0).into()),
            ("classid", numbers.map(|(first, ..)| first).into()),
            ("objid", numbers.map(|(_, second, _)| second).into()),
            ("objsubid", numbers.map(|(.., form)| i64::from(form)).into()),
            ("virtualtransaction", format!("{}/{}", lock.process_id.unwrap_or_default(), lock.owner).into()),
            ("pid", lock.process_id.into()),
            ("mode", mode(&lock).into()),
            ("granted", lock.granted.into()),
            ("fastpath", false.into()),
        ]);
    }
}

/// An advisory lock's two numbers, and `objsubid`: 1 for the halves of one 64-bit number, 2 for two numbers.
fn numbers(object: LockedObject) -> Option<(u32, u32, u8)> {
    match object {
        LockedObject::Table(_) | LockedObject::Row(_) => None,
        LockedObject::Number(number) => Some(((number >> 32) as u32, number as u32, 1)),
        LockedObject::Numbers(first, second) => Some((first as u32, second as u32, 2)),
    }
}

fn mode(lock: &LockInfo) -> &'static str {
    match (lock.object, lock.exclusive) {
        (LockedObject::Table(_), true) => "AccessExclusiveLock",
        (LockedObject::Table(_), false) => "RowExclusiveLock",
        (LockedObject::Row(_), _) | (_, true) => "ExclusiveLock",
        (_, false) => "ShareLock",
    }
}
