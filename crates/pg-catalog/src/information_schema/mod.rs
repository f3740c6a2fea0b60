//! The views of `information_schema`, a file for each; those that are always empty share one.

mod absent_objects;
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

use crate::definition::Definition;

/// All of them.
pub(crate) static TABLES: &[&Definition] = &[
    &absent_objects::APPLICABLE_ROLES,
    &collations::CHARACTER_SETS,
    &check_constraints::CHECK_CONSTRAINTS,
    &collations::COLLATIONS_VIEW,
    &privileges::COLUMN_PRIVILEGES,
    &columns::COLUMNS,
    &constraint_column_usage::CONSTRAINT_COLUMN_USAGE,
    &absent_objects::DOMAINS,
    &absent_objects::ELEMENT_TYPES,
    &enabled_roles::ENABLED_ROLES,
    &information_schema_catalog_name::INFORMATION_SCHEMA_CATALOG_NAME,
    &key_column_usage::KEY_COLUMN_USAGE,
    &absent_objects::PARAMETERS,
    &referential_constraints::REFERENTIAL_CONSTRAINTS,
    &absent_objects::ROUTINES,
    &privileges::ROLE_TABLE_GRANTS,
    &schemata::SCHEMATA,
    &sequences::SEQUENCES,
    &table_constraints::TABLE_CONSTRAINTS,
    &privileges::TABLE_PRIVILEGES,
    &tables::TABLES,
    &absent_objects::TRIGGERS,
    &absent_objects::UDT_PRIVILEGES,
    &views::VIEW_TABLE_USAGE,
    &views::VIEWS,
];
