//! CHECK INDEX, CHECK TABLE: compares the entries of indexes with the rows of their table.
//!
//! ```text
//!   rows     ──> the entry of each   ──look up──> missing, altered
//!   entries  ──> the row of each     ──look up──> extra
//! ```
//! Rows and entries are read from one snapshot, so that writers may continue. REPAIR locks the table exclusively, and
//! corrects the entries in one transaction.
//!
//! In dual-write mode there is no such snapshot, so an entry that seems wrong is read again on its own. The check
//! also reports unverified entries that writers left behind, and rows without the reservation of their unique value.

use crate::block::work::Work;
use crate::ddl::IndexOrKey;
use crate::dml::{FAMILY, Target};
use crate::error::{EngineResult, Fault, fail};
use crate::session::search_path::qualified;
use crate::statement::stream;
use crate::statement::utility::text_column;
use crate::{Answer, ColumnDesc, Session};
use catalog::{Index, IndexState, Table};
use fragment::header;
use index::{Entry, IndexCodec};
use query::QueryError;
use sql::CheckIndexes;
use std::sync::Arc;
use store::{Bytes, KeyRange, PointRead, RowBatch, Scan, ScanRequest};
use txn::{LockMode, ReadView};
use types::{Datum, interrupt};

/// Steps of an interrupt check that one look-up counts as.
const STEPS_OF_A_LOOK: usize = 512;

/// One difference between an index and its table.
struct Difference {
    index: String,
    what: &'static str,
    key: String,
}

/// Whether the index is built and not disabled.
fn has_all_entries(index: &Index) -> bool {
    matches!(index.state, IndexState::Public | IndexState::Unusable)
}

/// The result columns.
pub(crate) fn columns() -> Arc<Vec<ColumnDesc>> {
    Arc::new(["index", "difference", "key", "repaired"].map(text_column).to_vec())
}

impl Session {
    /// Returns a row for each difference.
    pub(crate) async fn check_indexes(&mut self, check: &CheckIndexes) -> EngineResult<Answer> {
        if check.repair {
            self.refuse_in_block("CHECK ... REPAIR")?;
            self.check_writable("CHECK ... REPAIR")?;
        }
        let mut work = match check.repair {
            true => Some(self.take_transaction()?),
            false => None,
        };
        let found = self.differences(check, work.as_mut()).await?;
        if let Some(work) = work {
            self.end_work(work).await?;
        }
        let text = |text: &str| Datum::Text(text.to_string());
        let repaired = |what: &str| if check.repair && what != DUPLICATE { "yes" } else { "no" };
        let row = |it: Difference| vec![text(&it.index), text(it.what), text(&it.key), text(repaired(it.what))];
        Ok(Answer::Rows(stream::ready(columns(), found.into_iter().map(row).collect(), "CHECK")))
    }

    /// Returns a line for each difference between a table and its indexes, for all tables: `bennu check`.
    ///
    /// # Errors
    /// Errors of reading rows and entries.
    pub async fn index_differences(&mut self) -> Result<Vec<String>, crate::EngineError> {
        let catalog = self.engine.catalog().current();
        let mut lines = Vec::new();
        for table in catalog.tables().filter(|table| table.public_indexes().next().is_some()) {
            let check = CheckIndexes { of_table: true, name: qualified(&catalog, table), repair: false };
            let line = |it: Difference| format!("{}, index {}: {} {}", check.name, it.index, it.what, it.key);
            lines.extend(self.differences(&check, None).await?.into_iter().map(line));
        }
        Ok(lines)
    }

    /// Finds all differences, and repairs them in `work`.
    async fn differences(
        &mut self,
        check: &CheckIndexes,
        mut work: Option<&mut Work>,
    ) -> EngineResult<Vec<Difference>> {
        let (target, only, view) = self.checked_state(check, work.as_deref_mut()).await?;
        let mut found = Vec::new();
        let wanted = |index: &Index| only.is_none_or(|only| index.oid == only) && has_all_entries(index);
        for index in target.indexes.iter().filter(|index| wanted(index.index())) {
            let mut checker = Checker { session: self, view: &view, target: &target, index, found: &mut found };
            checker.unverified(work.is_some()).await?;
            checker.rows(work.as_deref_mut()).await?;
            checker.entries(work.as_deref_mut()).await?;
        }
        Ok(found)
    }

    /// Reports that the entries of a refreshed index are older than the rows, and so are not compared.
    fn notify_refreshed_index(&mut self, index: &Index, repair: bool) -> EngineResult<()> {
        let name = &index.name;
        if repair {
            let message =
                format!("index \"{name}\" is refreshed by a job: ALTER INDEX ... REBUILD makes its entries anew");
            return fail(Fault::Refused { message });
        }
        let refreshed = Datum::TimestampTz(index.refresh.unwrap_or_default().refreshed);
        let mut time = String::new();
        types::text::print(&types::DataType::TimestampTz(None), &refreshed, &mut time);
        let message = format!("index \"{name}\" has the entries of {time}, which are not compared with rows of now");
        self.notices.info("00000", message);
        Ok(())
    }

    /// The table, the OID of the one index to check, and a snapshot with exactly these definitions.
    async fn checked_state(
        &mut self,
        check: &CheckIndexes,
        mut work: Option<&mut Work>,
    ) -> EngineResult<(Target, Option<u32>, ReadView)> {
        loop {
            let (table, only) = self.checked_table(check, work.as_deref_mut()).await?;
            let store = Arc::clone(self.engine.store());
            let snapshot = store.snapshot(self.latest_commit().await?).await?;
            self.engine.catalog().wait_for_changes_in(&snapshot).await?;
            // Meanwhile an index may have been rebuilt in other storage, or have become public.
            let now = self.engine.catalog().current();
            if now.table_by_oid(table.oid).is_none_or(|now| now.version != table.version) {
                continue;
            }
            self.compile_indexes(&now, &table).await?;
            let target = Target::new(&now, &table, self.time_zone())?;
            let disabled = |index: &&Index| Some(index.oid) == only && index.state == IndexState::Disabled;
            if let Some(index) = table.indexes.iter().find(disabled) {
                let message = format!("index \"{}\" is disabled: it has no entries until it is rebuilt", index.name);
                return fail(Fault::Refused { message });
            }
            let refreshed = |index: &&Index| Some(index.oid) == only && index.refresh.is_some();
            if let Some(index) = table.indexes.iter().find(refreshed) {
                self.notify_refreshed_index(index, check.repair)?;
            }
            let building = target.indexes.iter().map(index::IndexCodec::index).find(|it| Some(it.oid) == only);
            if let Some(index) = building.filter(|it| !has_all_entries(it)) {
                return fail(Fault::IndexNotBuilt { name: index.name.clone() });
            }
            return Ok((target, only, ReadView::plain(store, snapshot)));
        }
    }

    /// The table, and the OID of the one index to check.
    async fn checked_table(
        &mut self,
        check: &CheckIndexes,
        work: Option<&mut Work>,
    ) -> EngineResult<(Arc<Table>, Option<u32>)> {
        let catalog = self.engine.catalog().current();
        let (name, index) = match check.of_table {
            true => (check.name.clone(), None),
            false => match self.find_index_or_key(&catalog, &check.name)? {
                Some(IndexOrKey::Index(table, index)) => (qualified(&catalog, &table), Some(index.oid)),
                // The index of a primary key is the table itself, and has no entries to compare.
                Some(IndexOrKey::Key(table)) => (qualified(&catalog, &table), table.key_oid.or(Some(0))),
                None => return fail(Fault::NoSuchIndex { name: check.name.to_string() }),
            },
        };
        let table = match work {
            Some(work) => self.lock_stored_by_name(work.txn.locks(), &name, LockMode::Exclusive).await?,
            None => self.resolve_stored(&catalog, &name)?,
        };
        Ok((table, index))
    }
}

const MISSING: &str = "missing entry";
const ALTERED: &str = "altered entry";
const EXTRA: &str = "extra entry";
const DUPLICATE: &str = "duplicate value";
const UNVERIFIED: &str = "unverified entry";
const UNRESERVED: &str = "missing reservation";

/// The check of one index.
struct Checker<'c> {
    session: &'c Session,
    view: &'c ReadView,
    target: &'c Target,
    index: &'c IndexCodec,
    found: &'c mut Vec<Difference>,
}

impl Checker<'_> {
    /// Reports the unverified entries of lost writers, and repairs them if `repair`.
    async fn unverified(&mut self, repair: bool) -> EngineResult<()> {
        let Some(dual) = self.session.engine.dual() else { return Ok(()) };
        for key in dual.repair_index(self.index.index().storage_id(), repair).await? {
            self.note(UNVERIFIED, &key)?;
        }
        Ok(())
    }

    /// Whether the entry of a row is wrong in the newest state of both. In dual-write mode writers may have changed
    /// them since.
    async fn is_still_wrong(&self, rowkey: &[u8], entry: &Bytes) -> EngineResult<bool> {
        if self.session.engine.dual().is_none() {
            return Ok(true);
        }
        let store = self.session.engine.store();
        let row = store.get_newest(self.target.storage, FAMILY, rowkey).await?;
        let expected = match &row {
            Some(row) => self.index.entry(&self.target.decode(rowkey, row)?)?.filter(|expected| expected.key == *entry),
            None => None,
        };
        let there = store.get_newest(self.index.index().storage_id(), FAMILY, entry).await?;
        Ok(match (expected, there) {
            (Some(expected), Some(there)) => !is_same(&there, &expected.fragment),
            (None, None) => false,
            _ => true,
        })
    }

    /// Whether the row has this entry now, without a reservation.
    async fn is_reservation_due(&self, rowkey: &[u8], entry: &Bytes) -> EngineResult<bool> {
        let row = self.session.engine.store().get_newest(self.target.storage, FAMILY, rowkey).await?;
        let Some(row) = row else { return Ok(false) };
        let has_it = self.index.entry(&self.target.decode(rowkey, &row)?)?.is_some_and(|now| now.key == *entry);
        let Some(dual) = self.session.engine.dual().filter(|_| has_it) else { return Ok(false) };
        Ok(!dual.is_reserved(self.index.index().storage_id(), entry).await?)
    }

    /// Checks that each row has its entry.
    async fn rows(&mut self, mut work: Option<&mut Work>) -> EngineResult<()> {
        let mut scan = self.scan(self.target.storage).await?;
        while let Some(batch) = self.next(&mut scan).await? {
            let mut expected: Vec<(&[u8], Entry)> = Vec::with_capacity(batch.len());
            for (key, fragment) in batch.keys().zip(batch.fragments()) {
                interrupt::spend(STEPS_OF_A_LOOK).map_err(QueryError::from)?;
                expected.extend(self.index.entry(&self.target.decode(key, fragment)?)?.map(|entry| (key, entry)));
            }
            let keys: Vec<Bytes> = expected.iter().map(|(_, entry)| entry.key.clone()).collect();
            let storage = self.index.index().storage_id();
            let there = self.view.get_many(storage, FAMILY, &keys).await?;
            for ((rowkey, entry), there) in expected.into_iter().zip(there) {
                let what = match there {
                    Some(there) if is_same(&there, &entry.fragment) => continue,
                    Some(_) => ALTERED,
                    None => MISSING,
                };
                if !self.is_still_wrong(rowkey, &entry.key).await? {
                    continue;
                }
                self.note(what, &entry.key)?;
                if let Some(work) = work.as_deref_mut() {
                    work.txn.put(storage, FAMILY, entry.key, entry.fragment).await?;
                }
            }
        }
        Ok(())
    }

    /// Checks that each entry has a row, and that no two rows have the same unique prefix.
    async fn entries(&mut self, mut work: Option<&mut Work>) -> EngineResult<()> {
        let storage = self.index.index().storage_id();
        let mut scan = self.scan(storage).await?;
        let mut before = Bytes::new();
        while let Some(batch) = self.next(&mut scan).await? {
            let keys: Vec<Bytes> = batch.keys().map(Bytes::copy_from_slice).collect();
            let rowkeys = keys.iter().zip(batch.fragments()).map(|(key, fragment)| self.rowkey(key, fragment));
            let rowkeys: Vec<Bytes> = rowkeys.collect();
            let rows = self.view.get_many(self.target.storage, FAMILY, &rowkeys).await?;
            for (((key, rowkey), row), fragment) in keys.into_iter().zip(&rowkeys).zip(rows).zip(batch.fragments()) {
                interrupt::spend(STEPS_OF_A_LOOK).map_err(QueryError::from)?;
                let expected = match row {
                    Some(row) => self.index.entry(&self.target.decode(rowkey, &row)?)?,
                    None => None,
                };
                if expected.is_none_or(|entry| entry.key != key) {
                    if !self.is_still_wrong(rowkey, &key).await? {
                        continue;
                    }
                    self.note(EXTRA, &key)?;
                    if let Some(work) = work.as_deref_mut() {
                        work.txn.delete(storage, FAMILY, key).await?;
                    }
                    continue;
                }
                let Some(prefix) = self.index.unique_prefix(&key)? else { continue };
                let prefix = key.slice(..prefix.min(key.len()));
                if prefix == before {
                    self.note(DUPLICATE, &key)?;
                } else if let Some(dual) = self.session.engine.dual()
                    && !dual.is_reserved(storage, &key).await?
                    && self.is_reservation_due(rowkey, &key).await?
                {
                    self.note(UNRESERVED, &key)?;
                    if let Some(work) = work.as_deref_mut() {
                        // Writing an entry again reserves its value.
                        work.txn.put(storage, FAMILY, key.clone(), Bytes::copy_from_slice(fragment)).await?;
                    }
                }
                before = prefix;
            }
        }
        Ok(())
    }

    /// The rowkey of an entry. For bytes that do not decode, a key that no row has.
    fn rowkey(&self, key: &[u8], fragment: &[u8]) -> Bytes {
        let mut rowkey = Vec::with_capacity(32);
        match self.index.rowkey_into(&self.target.codec, key, fragment, &mut rowkey) {
            Ok(()) => rowkey.into(),
            Err(_) => Bytes::new(),
        }
    }

    fn note(&mut self, what: &'static str, key: &[u8]) -> EngineResult<()> {
        let key = match self.index.part_values_of_key(key) {
            Ok(values) => {
                let (columns, values) = self.target.key_of(self.index, &values);
                format!("({columns})=({values})")
            }
            Err(_) => format!("{key:02x?}"),
        };
        self.found.push(Difference { index: self.index.index().name.clone(), what, key });
        Ok(())
    }

    async fn scan(&self, table: store::TableId) -> EngineResult<Box<dyn Scan>> {
        Ok(self.view.scan(ScanRequest::new(table, FAMILY, vec![KeyRange::all()])).await?)
    }

    async fn next(&self, scan: &mut Box<dyn Scan>) -> EngineResult<Option<RowBatch>> {
        let guard = self.session.running();
        guard.check()?;
        guard.stoppable(async { Ok(scan.next().await?) }).await
    }
}

/// Whether two fragments are equal except for their commit stamps.
fn is_same(there: &[u8], expected: &[u8]) -> bool {
    there.get(..4) == expected.get(..4) && there.get(header::LEN..) == expected.get(header::LEN..)
}
