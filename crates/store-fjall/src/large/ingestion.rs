//! An ingestion that can be kept: fjall's own type has no name outside of it (3.1.13).

use crate::error::engine;
use fjall::{Keyspace, Slice};
use store::StoreResult;

/// Rows on their way into tables of a keyspace, of no version yet. Dropping it leaves files that the next open removes.
pub(super) struct Ingestion<'a>(Box<dyn FnMut(Step<'_>) -> fjall::Result<()> + 'a>);

enum Step<'r> {
    Write(Slice, &'r [u8]),
    Delete(Slice),
    Finish,
}

impl<'a> Ingestion<'a> {
    /// # Errors
    /// I/O failures.
    pub(super) fn begin(keyspace: &'a Keyspace) -> StoreResult<Self> {
        let mut under_way = Some(keyspace.start_ingestion().map_err(engine("beginning an ingestion"))?);
        Ok(Self(Box::new(move |step| match (step, &mut under_way) {
            (Step::Write(key, value), Some(ingestion)) => ingestion.write(key, value),
            (Step::Delete(key), Some(ingestion)) => ingestion.write_tombstone(key),
            (Step::Finish, _) => under_way.take().map_or(Ok(()), |ingestion| ingestion.finish()),
            (_, None) => Ok(()),
        })))
    }

    /// The next row: its value, or none where it is deleted. Keys must ascend.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) fn write(&mut self, key: Slice, value: Option<&[u8]>) -> StoreResult<()> {
        let step = match value {
            Some(value) => Step::Write(key, value),
            None => Step::Delete(key),
        };
        (self.0)(step).map_err(engine("writing a run"))
    }

    /// The rows become the newest of their keyspace, durably.
    ///
    /// # Errors
    /// I/O failures; the outcome is unknown.
    pub(super) fn finish(mut self) -> StoreResult<()> {
        (self.0)(Step::Finish).map_err(engine("installing a run"))
    }
}
