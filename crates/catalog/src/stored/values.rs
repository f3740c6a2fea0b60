//! Rows that change independently of catalog versions: marks of hidden row ids, and positions of sequences.

use super::format::{json_of, nothing};
use super::row::{FAMILY, Kind, corrupted, fragment_of, json_in};
use super::rows::value;
use crate::{CatalogResult, SYSTEM_TABLE, SequenceValue, TableOid, intent};
use fragment::Fragment;
use serde::de::DeserializeOwned;
use store::{CommitNo, PointRead, Store};

/// Writes a mark of hidden row ids durably if its row still has the commit stamp `expect`. Returns the new stamp.
pub(crate) async fn write_row_id_mark(
    store: &dyn Store,
    node: u32,
    mark: u64,
    expect: Option<CommitNo>,
) -> CatalogResult<CommitNo> {
    let json = json_of(Kind::RowIdMark, node, &mark)?;
    Ok(intent::replace(store, Kind::RowIdMark.key(node), fragment_of(&json)?, expect).await?)
}

/// Reads the mark of a node's hidden row ids, and the commit stamp of its row.
pub(crate) async fn read_row_id_mark(store: &dyn Store, node: u32) -> CatalogResult<Option<(u64, CommitNo)>> {
    read_row(store, Kind::RowIdMark, node).await
}

/// Writes the position of a sequence durably, as [`write_row_id_mark`].
pub(crate) async fn write_sequence_value(
    store: &dyn Store,
    oid: TableOid,
    value: &SequenceValue,
    expect: Option<CommitNo>,
) -> CatalogResult<CommitNo> {
    let json = json_of(Kind::SequenceValue, oid.0, value)?;
    Ok(intent::replace(store, Kind::SequenceValue.key(oid.0), fragment_of(&json)?, expect).await?)
}

/// Reads the position of a sequence, and the commit stamp of its row.
pub(crate) async fn read_sequence_value(
    store: &dyn Store,
    oid: TableOid,
) -> CatalogResult<Option<(SequenceValue, CommitNo)>> {
    read_row(store, Kind::SequenceValue, oid.0).await
}

async fn read_row<T: DeserializeOwned>(store: &dyn Store, kind: Kind, id: u32) -> CatalogResult<Option<(T, CommitNo)>> {
    let what = || format!("{kind:?} {id}");
    let Some(row) = store.get_newest(SYSTEM_TABLE, FAMILY, &kind.key(id)).await? else { return Ok(None) };
    let fragment = Fragment::parse(&row).map_err(|error| corrupted(what(), error))?;
    let json = json_in(&fragment, &what)?;
    if json == nothing().as_bytes() {
        return Ok(None);
    }
    Ok(Some((value(json, &what)?, fragment.commit())))
}
