//! A row of the system table: its key, and the fragment around its JSON.

use super::format::json_of;
use crate::{CatalogError, CatalogResult, SYSTEM_TABLE};
use fragment::{Fragment, Layout, LayoutColumn};
use serde::Serialize;
use store::{Bytes, FamilyId, Mutation};

pub(crate) const FAMILY: FamilyId = FamilyId(0);

/// The kind of a row: the first byte of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Counters = 0,
    Schema = 1,
    Table = 2,
    /// Storage of a table that is not published yet.
    Staged = 3,
    /// The mark of the hidden row ids of one node.
    RowIdMark = 4,
    View = 5,
    Sequence = 6,
    /// The position of a sequence.
    SequenceValue = 7,
    /// Comments of one object.
    Comments = 8,
    /// The record of a job.
    Job = 9,
    /// The results of ANALYZE for a table.
    Statistics = 10,
}

impl Kind {
    const ALL: [Self; 11] = [
        Self::Counters,
        Self::Schema,
        Self::Table,
        Self::Staged,
        Self::RowIdMark,
        Self::View,
        Self::Sequence,
        Self::SequenceValue,
        Self::Comments,
        Self::Job,
        Self::Statistics,
    ];

    pub(crate) fn key(self, id: u32) -> Bytes {
        let mut key = vec![self as u8];
        if self != Self::Counters {
            key.extend_from_slice(&id.to_be_bytes());
        }
        key.into()
    }

    pub(super) fn of(key: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| key.first() == Some(&(*kind as u8)))
    }
}

/// A row's fragment, without a commit stamp.
pub(crate) fn fragment_of(json: &[u8]) -> CatalogResult<Vec<u8>> {
    let mut fragment = Vec::new();
    fragment::encode_dense(&layout(), &[Some(json)], &mut fragment)
        .map_err(|error| corrupted("a row to be written", error))?;
    Ok(fragment)
}

pub(super) fn json_in<'a>(fragment: &Fragment<'a>, what: &dyn Fn() -> String) -> CatalogResult<&'a [u8]> {
    let layout = layout();
    let view = fragment.dense(&layout).map_err(|error| corrupted(what(), error))?;
    view.cell(0).ok_or_else(|| corrupted(what(), "it has no value"))
}

pub(super) fn put<T: Serialize>(kind: Kind, id: u32, value: &T) -> CatalogResult<Mutation> {
    put_json(kind, id, &json_of(kind, id, value)?)
}

pub(super) fn put_json(kind: Kind, id: u32, json: &[u8]) -> CatalogResult<Mutation> {
    Ok(Mutation::Replace { table: SYSTEM_TABLE, family: FAMILY, key: kind.key(id), fragment: fragment_of(json)? })
}

pub(super) fn layout() -> Layout {
    Layout::new(0, vec![LayoutColumn { qualifier: 0, width: None }])
}

pub(crate) fn corrupted(what: impl std::fmt::Display, reason: impl std::fmt::Display) -> CatalogError {
    CatalogError::Corrupted { detail: format!("{what}: {reason}") }
}
