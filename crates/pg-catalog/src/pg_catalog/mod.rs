//! Tables of `pg_catalog`: `data/pg_catalog.txt` defines them, and one file per table computes the rows.

mod pg_aggregate;
mod pg_am;
mod pg_attrdef;
mod pg_attribute;
mod pg_authid;
mod pg_cast;
mod pg_class;
mod pg_collation;
mod pg_constraint;
mod pg_cursors;
mod pg_database;
mod pg_depend;
mod pg_description;
mod pg_get_keywords;
mod pg_index;
mod pg_indexes;
mod pg_language;
mod pg_locks;
mod pg_matviews;
mod pg_namespace;
mod pg_opclass;
mod pg_operator;
mod pg_prepared_statements;
mod pg_proc;
mod pg_rewrite;
mod pg_roles;
mod pg_sequence;
mod pg_settings;
mod pg_stat;
mod pg_stat_activity;
mod pg_stat_progress;
mod pg_stats;
mod pg_tables;
mod pg_tablespace;
mod pg_timezone;
mod pg_type;
mod pg_user;
mod pg_views;

use crate::definition::{Definition, Fill, read};
pub(crate) use pg_collation::COLLATIONS;
pub(crate) use pg_description::description;
use std::sync::LazyLock;

/// Set-returning functions in FROM, by the name that the parser gives them there.
pub(crate) static SETS: &[Definition] = &[pg_get_keywords::PG_GET_KEYWORDS];

/// All tables of the schema.
pub(crate) static TABLES: LazyLock<Vec<Definition>> =
    LazyLock::new(|| read(include_str!("../data/pg_catalog.txt"), ROWS));

/// The function that computes the rows of each table, except of tables that are always empty.
pub(crate) const ROWS: &[(&str, Fill)] = &[
    ("pg_aggregate", pg_aggregate::rows),
    ("pg_cast", pg_cast::rows),
    ("pg_opclass", pg_opclass::rows),
    ("pg_operator", pg_operator::rows),
    ("pg_opfamily", pg_opclass::families),
    ("pg_am", pg_am::rows),
    ("pg_attrdef", pg_attrdef::rows),
    ("pg_attribute", pg_attribute::rows),
    ("pg_authid", pg_authid::rows),
    ("pg_class", pg_class::rows),
    ("pg_collation", pg_collation::rows),
    ("pg_constraint", pg_constraint::rows),
    ("pg_cursors", pg_cursors::rows),
    ("pg_database", pg_database::rows),
    ("pg_depend", pg_depend::rows),
    ("pg_description", pg_description::rows),
    ("pg_index", pg_index::rows),
    ("pg_indexes", pg_indexes::rows),
    ("pg_language", pg_language::rows),
    ("pg_matviews", pg_matviews::rows),
    ("pg_locks", pg_locks::rows),
    ("pg_namespace", pg_namespace::rows),
    ("pg_prepared_statements", pg_prepared_statements::rows),
    ("pg_proc", pg_proc::rows),
    ("pg_rewrite", pg_rewrite::rows),
    ("pg_roles", pg_roles::rows),
    ("pg_sequence", pg_sequence::plain),
    ("pg_sequences", pg_sequence::named),
    ("pg_settings", pg_settings::rows),
    ("pg_shadow", pg_user::rows),
    ("pg_shdescription", pg_description::shared_rows),
    ("pg_stat_activity", pg_stat_activity::rows),
    ("pg_stat_all_indexes", pg_stat::indexes),
    ("pg_stat_all_tables", pg_stat::all_tables),
    ("pg_stat_database", pg_stat::database),
    ("pg_stat_gssapi", pg_stat::gssapi),
    ("pg_stat_progress_create_index", pg_stat_progress::rows),
    ("pg_stat_user_indexes", pg_stat::indexes),
    ("pg_stat_user_tables", pg_stat::user_tables),
    ("pg_statio_user_tables", pg_stat::table_blocks),
    ("pg_statistic", pg_stats::kept),
    ("pg_stats", pg_stats::shown),
    ("pg_tables", pg_tables::rows),
    ("pg_tablespace", pg_tablespace::rows),
    ("pg_timezone_abbrevs", pg_timezone::abbrevs),
    ("pg_timezone_names", pg_timezone::names),
    ("pg_type", pg_type::rows),
    ("pg_user", pg_user::rows),
    ("pg_views", pg_views::rows),
];
