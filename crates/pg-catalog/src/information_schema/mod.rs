//! Views of `information_schema`: `data/information_schema.txt` defines them, and one file per view computes the rows.

mod check_constraints;
mod collations;
mod columns;
mod constraint_column_usage;
mod enabled_roles;
mod information_schema_catalog_name;
mod key_column_usage;
mod privileges;
mod referential_constraints;
mod schemata;
mod sequences;
mod table_constraints;
mod tables;
mod views;

use crate::definition::{Definition, Fill, read};
use std::sync::LazyLock;

/// All views of the schema.
pub(crate) static TABLES: LazyLock<Vec<Definition>> =
    LazyLock::new(|| read(include_str!("../data/information_schema.txt"), ROWS));

/// The function that computes the rows of each view, except of views that are always empty.
pub(crate) const ROWS: &[(&str, Fill)] = &[
    ("character_sets", collations::character_sets),
    ("check_constraints", check_constraints::rows),
    ("collations", collations::collations),
    ("column_privileges", privileges::of_columns),
    ("columns", columns::rows),
    ("constraint_column_usage", constraint_column_usage::rows),
    ("enabled_roles", enabled_roles::rows),
    ("information_schema_catalog_name", information_schema_catalog_name::rows),
    ("key_column_usage", key_column_usage::rows),
    ("referential_constraints", referential_constraints::rows),
    ("role_table_grants", privileges::of_tables),
    ("schemata", schemata::rows),
    ("sequences", sequences::rows),
    ("table_constraints", table_constraints::rows),
    ("table_privileges", privileges::of_tables),
    ("tables", tables::rows),
    ("view_table_usage", views::usage),
    ("views", views::views),
];
