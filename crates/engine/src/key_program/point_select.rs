//! Tier 1 for reading: columns of the row with a given full key. No plan, no Arrow, no other thread.

use crate::dml::{FAMILY, KeyMatch, Target};
use crate::error::EngineResult;
use txn::ReadView;
use types::Datum;

/// `SELECT columns FROM t WHERE key = …`, compiled.
#[derive(Debug)]
pub(crate) struct PointSelect {
    target: Target,
    key: KeyMatch,
    wanted: Vec<usize>,
}

impl PointSelect {
    pub(super) fn new(target: Target, key: KeyMatch, wanted: Vec<usize>) -> Self {
        Self { target, key, wanted }
    }

    /// The row, if it exists.
    pub(crate) async fn run(&self, view: &ReadView, params: &[Datum]) -> EngineResult<Vec<Vec<Datum>>> {
        let Some(key) = self.key.key(&self.target, params)? else { return Ok(Vec::new()) };
        match view.get(self.target.storage, FAMILY, &key).await? {
            None => Ok(Vec::new()),
            Some(fragment) => Ok(vec![self.target.codec.decode_row(&key, &fragment, &self.wanted)?]),
        }
    }
}
