//! Numbers of things and the names that they stand for.

mod format_type;
mod names;
pub(crate) mod types;

pub(crate) use format_type::format_type;
pub(crate) use names::{relation_name, split_name, type_oid};
