//! The views of `information_schema`, a file for each; those that are always empty share one.

mod absent_objects;
mod check_constraints;
mod columns;
mod constraint_column_usage;
mod enabled_roles;
mod information_schema_catalog_name;
mod key_column_usage;
mod schemata;
mod sequences;
mod table_constraints;
mod tables;
mod views;

use crate::definition::Definition;

/// All of them.
pub(crate) static TABLES: &[&Definition] = &[
    &check_constraints::CHECK_CONSTRAINTS,
    &columns::COLUMNS,
    &constraint_column_usage::CONSTRAINT_COLUMN_USAGE,
    &absent_objects::DOMAINS,
    &absent_objects::ELEMENT_TYPES,
    &enabled_roles::ENABLED_ROLES,
    &information_schema_catalog_name::INFORMATION_SCHEMA_CATALOG_NAME,
    &key_column_usage::KEY_COLUMN_USAGE,
    &absent_objects::PARAMETERS,
    &absent_objects::REFERENTIAL_CONSTRAINTS,
    &absent_objects::ROUTINES,
    &schemata::SCHEMATA,
    &sequences::SEQUENCES,
    &table_constraints::TABLE_CONSTRAINTS,
    &tables::TABLES,
    &absent_objects::TRIGGERS,
    &views::VIEW_TABLE_USAGE,
    &views::VIEWS,
];
