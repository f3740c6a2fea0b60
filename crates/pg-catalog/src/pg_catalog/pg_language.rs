//! `pg_language`: all functions are built in.

use crate::rows::Rows;
use crate::source::{OWNER, Source};

/// The language of built-in functions.
pub(crate) const INTERNAL: u32 = 12;

pub(super) fn rows(_: &Source, rows: &mut Rows) {
    rows.add([("oid", INTERNAL.into()), ("lanname", "internal".into()), ("lanowner", OWNER.into())]);
}
