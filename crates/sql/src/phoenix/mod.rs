//! Syntax that only Phoenix has, one construct per file.

pub(crate) mod hint;
pub(crate) mod next_value;
pub(crate) mod on_duplicate;
pub(crate) mod options;
pub(crate) mod parameter;
pub(crate) mod refused;
pub(crate) mod show_tables;
pub(crate) mod split_on;
