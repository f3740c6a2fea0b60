//! `pg_locks`: the locks of transactions on tables and rows, held or waited for.
//!
//! Here are two modes: who writes rows shares their table and has the rows alone, who changes a definition or says LOCK
//! TABLE has the table alone. A row is known by its key, which is no place in a file: `page` and `tuple` are NULL.

use crate::live_state::LockInfo;
use crate::rows::Rows;
use crate::source::Source;
use catalog::DATABASE_OID;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for lock in source.live.locks() {
        let table = source.catalog.tables().find(|table| table.storage == lock.storage);
        rows.add([
            ("locktype", if lock.of_row { "tuple" } else { "relation" }.into()),
            ("database", DATABASE_OID.into()),
            ("relation", table.map(|table| table.oid.0).into()),
            ("virtualtransaction", format!("{}/{}", lock.process_id.unwrap_or_default(), lock.owner).into()),
            ("pid", lock.process_id.into()),
            ("mode", mode(&lock).into()),
            ("granted", lock.granted.into()),
            ("fastpath", false.into()),
        ]);
    }
}

fn mode(lock: &LockInfo) -> &'static str {
    match (lock.of_row, lock.exclusive) {
        (true, _) => "ExclusiveLock",
        (false, true) => "AccessExclusiveLock",
        (false, false) => "RowExclusiveLock",
    }
}
