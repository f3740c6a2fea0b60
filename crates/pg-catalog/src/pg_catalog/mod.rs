//! The tables of `pg_catalog`, a file for each; those that are always empty share three.

mod absent_catalogs;
mod absent_features;
mod absent_objects;
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
mod pg_group;
mod pg_index;
mod pg_indexes;
mod pg_language;
mod pg_locks;
mod pg_matviews;
mod pg_namespace;
mod pg_operator;
mod pg_prepared_statements;
mod pg_proc;
mod pg_rewrite;
mod pg_roles;
mod pg_sequence;
mod pg_settings;
mod pg_shadow;
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

use crate::definition::Definition;
pub(crate) use pg_collation::COLLATIONS;
pub(crate) use pg_description::description;

/// What functions without arguments have in FROM, by the name that the parser gives them there.
pub(crate) static SETS: &[&Definition] = &[&pg_get_keywords::PG_GET_KEYWORDS];

/// All of them.
pub(crate) static TABLES: &[&Definition] = &[
    &pg_aggregate::PG_AGGREGATE,
    &absent_catalogs::PG_AMOP,
    &absent_catalogs::PG_AMPROC,
    &pg_cast::PG_CAST,
    &absent_catalogs::PG_CONVERSION,
    &absent_catalogs::PG_OPCLASS,
    &pg_operator::PG_OPERATOR,
    &absent_catalogs::PG_OPFAMILY,
    &absent_catalogs::PG_TS_CONFIG,
    &absent_catalogs::PG_TS_CONFIG_MAP,
    &absent_catalogs::PG_TS_DICT,
    &absent_catalogs::PG_TS_PARSER,
    &absent_catalogs::PG_TS_TEMPLATE,
    &pg_am::PG_AM,
    &pg_attrdef::PG_ATTRDEF,
    &pg_attribute::PG_ATTRIBUTE,
    &absent_features::PG_AUTH_MEMBERS,
    &pg_authid::PG_AUTHID,
    &absent_features::PG_AVAILABLE_EXTENSION_VERSIONS,
    &absent_features::PG_AVAILABLE_EXTENSIONS,
    &pg_class::PG_CLASS,
    &pg_collation::PG_COLLATION,
    &pg_constraint::PG_CONSTRAINT,
    &pg_cursors::PG_CURSORS,
    &pg_database::PG_DATABASE,
    &absent_features::PG_DB_ROLE_SETTING,
    &absent_features::PG_DEFAULT_ACL,
    &pg_depend::PG_DEPEND,
    &pg_description::PG_DESCRIPTION,
    &absent_objects::PG_ENUM,
    &absent_objects::PG_EVENT_TRIGGER,
    &absent_features::PG_EXTENSION,
    &absent_objects::PG_FOREIGN_DATA_WRAPPER,
    &absent_objects::PG_FOREIGN_SERVER,
    &absent_objects::PG_FOREIGN_TABLE,
    &pg_group::PG_GROUP,
    &pg_index::PG_INDEX,
    &pg_indexes::PG_INDEXES,
    &absent_objects::PG_INHERITS,
    &absent_features::PG_INIT_PRIVS,
    &pg_language::PG_LANGUAGE,
    &absent_features::PG_LARGEOBJECT,
    &absent_features::PG_LARGEOBJECT_METADATA,
    &pg_matviews::PG_MATVIEWS,
    &pg_locks::PG_LOCKS,
    &pg_namespace::PG_NAMESPACE,
    &absent_features::PG_PARAMETER_ACL,
    &absent_objects::PG_PARTITIONED_TABLE,
    &absent_objects::PG_POLICIES,
    &absent_objects::PG_POLICY,
    &absent_features::PG_PREPARED_XACTS,
    &pg_prepared_statements::PG_PREPARED_STATEMENTS,
    &pg_proc::PG_PROC,
    &absent_features::PG_PUBLICATION,
    &absent_features::PG_PUBLICATION_NAMESPACE,
    &absent_features::PG_PUBLICATION_REL,
    &absent_features::PG_PUBLICATION_TABLES,
    &absent_objects::PG_RANGE,
    &absent_features::PG_REPLICATION_ORIGIN,
    &absent_features::PG_REPLICATION_SLOTS,
    &pg_rewrite::PG_REWRITE,
    &pg_roles::PG_ROLES,
    &absent_objects::PG_RULES,
    &absent_features::PG_SECLABEL,
    &absent_features::PG_SECLABELS,
    &pg_sequence::PG_SEQUENCE,
    &pg_sequence::PG_SEQUENCES,
    &pg_settings::PG_SETTINGS,
    &pg_shadow::PG_SHADOW,
    &absent_features::PG_SHDEPEND,
    &pg_description::PG_SHDESCRIPTION,
    &absent_features::PG_SHSECLABEL,
    &pg_stat_activity::PG_STAT_ACTIVITY,
    &pg_stat::PG_STAT_ALL_INDEXES,
    &pg_stat::PG_STAT_ALL_TABLES,
    &pg_stat::PG_STAT_DATABASE,
    &pg_stat::PG_STAT_GSSAPI,
    &pg_stat_progress::PG_STAT_PROGRESS_CREATE_INDEX,
    &absent_features::PG_STAT_REPLICATION,
    &pg_stat::PG_STAT_USER_INDEXES,
    &pg_stat::PG_STAT_USER_TABLES,
    &pg_stat::PG_STATIO_USER_TABLES,
    &pg_stats::PG_STATISTIC,
    &absent_objects::PG_STATISTIC_EXT,
    &pg_stats::PG_STATS,
    &absent_features::PG_SUBSCRIPTION,
    &absent_features::PG_SUBSCRIPTION_REL,
    &pg_tables::PG_TABLES,
    &pg_tablespace::PG_TABLESPACE,
    &pg_timezone::PG_TIMEZONE_ABBREVS,
    &pg_timezone::PG_TIMEZONE_NAMES,
    &absent_objects::PG_TRANSFORM,
    &absent_objects::PG_TRIGGER,
    &pg_type::PG_TYPE,
    &pg_user::PG_USER,
    &absent_objects::PG_USER_MAPPING,
    &absent_objects::PG_USER_MAPPINGS,
    &pg_views::PG_VIEWS,
];
