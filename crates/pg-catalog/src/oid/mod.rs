//! Oids and the names of their objects.

mod catalogs;
mod names;
mod row_types;

pub(crate) use builtins::lists::{attribute_typmod, format_type};
pub(crate) use catalogs::{PG_ATTRDEF, PG_CLASS, PG_CONSTRAINT, PG_DATABASE, PG_NAMESPACE, PG_REWRITE, PG_TYPE};
pub(crate) use names::{relation_name, split_name};
pub(crate) use row_types::{find_type, is_row_type_visible, relation_of_type, row_type_oid, row_types, type_name};
