//! The table of settings. A new setting is a line here, and a field of [`super::Effective`] if statements read it
//! often.

use super::value::Kind;

/// A setting.
#[derive(Debug)]
pub(crate) struct SettingDef {
    /// Its name, as SHOW prints it.
    pub(crate) name: &'static str,
    /// Its default, in canonical form.
    pub(crate) default: &'static str,
    /// The kind of its values.
    pub(crate) kind: Kind,
    /// Whether changes are reported to the client (ParameterStatus).
    pub(crate) reported: bool,
    /// Whether it can only be shown.
    pub(crate) read_only: bool,
    /// The description in SHOW ALL.
    pub(crate) description: &'static str,
}

const fn plain(name: &'static str, default: &'static str, kind: Kind, description: &'static str) -> SettingDef {
    SettingDef { name, default, kind, reported: false, read_only: false, description }
}

const fn reported(name: &'static str, default: &'static str, kind: Kind, description: &'static str) -> SettingDef {
    SettingDef { name, default, kind, reported: true, read_only: false, description }
}

/// A preset of the server, which can only be shown.
const fn fixed(name: &'static str, default: &'static str, kind: Kind, description: &'static str) -> SettingDef {
    SettingDef { name, default, kind, reported: false, read_only: true, description }
}

const fn fixed_reported(
    name: &'static str,
    default: &'static str,
    kind: Kind,
    description: &'static str,
) -> SettingDef {
    SettingDef { name, default, kind, reported: true, read_only: true, description }
}

const ISOLATIONS: Kind = Kind::Word(&["read committed"], &["read uncommitted", "repeatable read", "serializable"]);
const YES_ONLY: Kind = Kind::Word(&["on"], &["off"]);
const NO_ONLY: Kind = Kind::Word(&["off"], &["on"]);

/// All settings by name.
pub(crate) static SETTINGS: &[SettingDef] = &[
    reported("application_name", "", Kind::Name, "Name of the client program."),
    fixed(AUTOVACUUM, "on", Kind::Bool, "Are statistics of tables made by themselves?"),
    fixed(
        AUTOVACUUM_SCALE_FACTOR,
        "0.1",
        Kind::Real,
        "Share of a table's rows that must have changed before its statistics are made again, beside the threshold.",
    ),
    fixed(
        AUTOVACUUM_THRESHOLD,
        "50",
        Kind::Int(0, 2_147_483_647),
        "Rows of a table that must have changed before its statistics are made again.",
    ),
    fixed(AUTOVACUUM_NAPTIME, "1min", Kind::Duration, "Time between two looks at what tables have changed."),
    plain(
        "bennu.index_choice",
        "auto",
        Kind::Word(&["auto", "off", "force", "intersect"], &[]),
        "Which indexes queries are read by.",
    ),
    plain(
        "bennu.job_rate",
        "0",
        Kind::Int(0, 2_147_483_647),
        "Most rows a second of a job that a statement makes. 0 is no limit.",
    ),
    plain(
        "bennu.max_staleness",
        "0",
        Kind::Duration,
        "Age up to which entries of indexes that are refreshed are read in place of rows. 0 is never.",
    ),
    plain(
        "bennu.parameterize",
        "on",
        Kind::Word(&["off", "on", "always"], &[]),
        "Runs statements with values in their texts as prepared statements; always: those not seen before, too.",
    ),
    plain("bennu.plan_cache", "on", Kind::Bool, "Keeps plans of statements for their next use."),
    plain(
        "bennu.point_programs",
        "on",
        Kind::Bool,
        "Runs statements that name keys or short ranges of keys without a plan.",
    ),
    plain(
        "bennu.row_budget",
        "4096",
        Kind::Int(0, 1_000_000),
        "Most rows that a row program reads before its plan runs.",
    ),
    plain(
        "bennu.row_programs",
        "on",
        Kind::Word(&["off", "on", "all"], &[]),
        "Runs short statements without a plan; all: those that read whole tables, too.",
    ),
    plain("bytea_output", "hex", Kind::Word(&["hex"], &["escape"]), "Text form of bytea."),
    plain("check_function_bodies", "on", Kind::Bool, "Are bodies of new functions checked? (There are none yet.)"),
    reported("client_encoding", "UTF8", Kind::Encoding, "Encoding of text that the client sends and receives."),
    plain("client_min_messages", "notice", Kind::Word(MESSAGE_LEVELS, &[]), "Least level of messages to the client."),
    reported("DateStyle", "ISO, MDY", Kind::DateStyle, "Form of dates and times."),
    plain(
        "default_statistics_target",
        "100",
        Kind::Int(1, 10_000),
        "Most common values and groups of values that ANALYZE keeps of a column.",
    ),
    plain("default_table_access_method", "heap", Kind::Word(&["heap"], &[]), "How new tables keep their rows."),
    plain("default_tablespace", "", Kind::Word(&["", "pg_default"], &[]), "Where new tables are kept."),
    plain("default_transaction_deferrable", "off", NO_ONLY, "Are new transactions deferrable?"),
    plain("default_transaction_isolation", "read committed", ISOLATIONS, "Isolation level of new transactions."),
    reported("default_transaction_read_only", "off", Kind::Bool, "Are new transactions read-only?"),
    plain("enable_hashjoin", "on", Kind::Bool, "Are rows joined by hash tables? Off: by merging, where that can be."),
    plain("enable_indexscan", "on", Kind::Bool, "Are secondary indexes read by? Off is bennu.index_choice = off."),
    plain("enable_mergejoin", "on", Kind::Bool, "Are sorted rows joined by merging them, with enable_hashjoin = off?"),
    plain(
        "enable_seqscan",
        "on",
        Kind::Bool,
        "Are tables scanned where an index can be read by? Off is bennu.index_choice = force.",
    ),
    plain("extra_float_digits", "1", Kind::Int(-15, 3), "Floats print shortest-exact when above 0."),
    plain(
        "idle_in_transaction_session_timeout",
        "0",
        Kind::Duration,
        "Most idle time inside a transaction. 0 is forever.",
    ),
    plain("idle_session_timeout", "0", Kind::Duration, "Most idle time between transactions. 0 is forever."),
    reported("in_hot_standby", "off", NO_ONLY, "Is the server a standby?"),
    fixed_reported("integer_datetimes", "on", Kind::Bool, "Are times kept as integers?"),
    reported("IntervalStyle", "postgres", Kind::Word(INTERVAL_STYLES, &[]), "Form of intervals."),
    reported("is_superuser", "on", YES_ONLY, "Is the user a superuser?"),
    plain("jit", "off", Kind::Bool, "Is code compiled for queries? There is no such compiler: this changes nothing."),
    plain(
        "join_collapse_limit",
        "10",
        Kind::Int(1, 2_147_483_647),
        "Tables of which all orders of joins are tried. 1 keeps the order of the statement.",
    ),
    plain("lock_timeout", "0", Kind::Duration, "Most time to wait for a lock. 0 is forever."),
    fixed(MAX_CONNECTIONS, "2000", Kind::Int(1, 262_143), "Most sessions of the server at a time."),
    fixed("max_index_keys", "32", Kind::Int(32, 32), "Most columns of an index."),
    fixed("max_identifier_length", "63", Kind::Int(63, 63), "Longest name."),
    plain("quote_all_identifiers", "off", Kind::Bool, "Are all names in SQL that functions make in quotes?"),
    plain("row_security", "on", Kind::Bool, "Are row policies applied? (There are none yet.)"),
    plain("search_path", "\"$user\", public", Kind::NameList, "Schemas where names without one are looked up."),
    fixed_reported("server_encoding", "UTF8", Kind::Text, "Encoding of text in the database."),
    fixed_reported("server_version", "15.0", Kind::Text, "The version of PostgreSQL that the server follows."),
    fixed("server_version_num", "150000", Kind::Int(150_000, 150_000), "The same as a number."),
    reported("session_authorization", "", Kind::Name, "The session's user."),
    reported("standard_conforming_strings", "on", YES_ONLY, "Is a backslash in '...' just a backslash?"),
    plain("statement_timeout", "0", Kind::Duration, "Most time that a statement may take. 0 is forever."),
    fixed(
        RESERVED_CONNECTIONS,
        "3",
        Kind::Int(0, 262_143),
        "Sessions of those that only the server's operator can have.",
    ),
    plain("synchronous_commit", "on", Kind::SyncCommit, "Does COMMIT wait until it would survive a crash?"),
    plain("synchronize_seqscans", "off", NO_ONLY, "Do scans of the same table run together?"),
    plain(KEEPALIVES_COUNT, "6", Kind::Int(0, 127), "Questions without an answer after which a client is gone."),
    plain(KEEPALIVES_IDLE, "60", Kind::Int(0, 32_767), "Seconds of silence after which a client is asked."),
    plain(KEEPALIVES_INTERVAL, "10", Kind::Int(0, 32_767), "Seconds between questions to a silent client."),
    plain(
        USER_TIMEOUT,
        "0",
        Kind::Int(0, 2_147_483_647),
        "Milliseconds without a confirmation of what was sent after which a client is gone.",
    ),
    reported("TimeZone", "UTC", Kind::TimeZone, "Time zone in which times are read and shown."),
    plain("transaction_isolation", "read committed", ISOLATIONS, "Isolation level of this transaction."),
    plain("transaction_read_only", "off", Kind::Bool, "Is this transaction read-only?"),
    plain(
        "xmloption",
        "content",
        Kind::Word(&["content", "document"], &[]),
        "What XML is read as. (There is none yet.)",
    ),
    plain(
        "work_mem",
        "4MB",
        Kind::Memory,
        "Memory of one sort or hash table before it spills (all queries share one pool).",
    ),
];

const MESSAGE_LEVELS: &[&str] =
    &["debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"];
const INTERVAL_STYLES: &[&str] = &["postgres", "postgres_verbose", "sql_standard", "iso_8601"];
/// Settings that the options of the engine determine.
pub(crate) const AUTOVACUUM: &str = "autovacuum";
pub(crate) const AUTOVACUUM_NAPTIME: &str = "autovacuum_naptime";
pub(crate) const AUTOVACUUM_THRESHOLD: &str = "autovacuum_analyze_threshold";
pub(crate) const AUTOVACUUM_SCALE_FACTOR: &str = "autovacuum_analyze_scale_factor";
/// Settings that the server in front of the engine determines.
pub(crate) const MAX_CONNECTIONS: &str = "max_connections";
pub(crate) const RESERVED_CONNECTIONS: &str = "superuser_reserved_connections";
// Their ranges are those of Linux, which rejects other values. Zero is the system's default.
pub(crate) const KEEPALIVES_IDLE: &str = "tcp_keepalives_idle";
pub(crate) const KEEPALIVES_INTERVAL: &str = "tcp_keepalives_interval";
pub(crate) const KEEPALIVES_COUNT: &str = "tcp_keepalives_count";
pub(crate) const USER_TIMEOUT: &str = "tcp_user_timeout";

impl SettingDef {
    /// The category in PostgreSQL's documentation.
    pub(crate) fn category(&self) -> &'static str {
        match self.name {
            "application_name" => "Reporting and Logging / What to Log",
            name if name.starts_with("bennu.") => "Bennu",
            "client_encoding" | "DateStyle" | "extra_float_digits" | "IntervalStyle" | "TimeZone" => {
                "Client Connection Defaults / Locale and Formatting"
            }
            "in_hot_standby"
            | "integer_datetimes"
            | "max_identifier_length"
            | "max_index_keys"
            | "server_encoding"
            | "server_version"
            | "server_version_num" => "Preset Options",
            MAX_CONNECTIONS | RESERVED_CONNECTIONS => "Connections and Authentication / Connection Settings",
            KEEPALIVES_IDLE | KEEPALIVES_INTERVAL | KEEPALIVES_COUNT | USER_TIMEOUT => {
                "Connections and Authentication / TCP Settings"
            }
            "quote_all_identifiers" | "standard_conforming_strings" | "synchronize_seqscans" => {
                "Version and Platform Compatibility / Previous PostgreSQL Versions"
            }
            "synchronous_commit" => "Write-Ahead Log / Settings",
            name if name.starts_with("enable_") => "Query Tuning / Planner Method Configuration",
            "jit" | "default_statistics_target" => "Query Tuning / Other Planner Options",
            AUTOVACUUM | AUTOVACUUM_NAPTIME | AUTOVACUUM_THRESHOLD | AUTOVACUUM_SCALE_FACTOR => "Autovacuum",
            "work_mem" => "Resource Usage / Memory",
            _ => "Client Connection Defaults / Statement Behavior",
        }
    }

    /// The context in which it can be changed.
    pub(crate) fn context(&self) -> &'static str {
        match self.name {
            MAX_CONNECTIONS | RESERVED_CONNECTIONS => "postmaster",
            AUTOVACUUM | AUTOVACUUM_NAPTIME | AUTOVACUUM_THRESHOLD | AUTOVACUUM_SCALE_FACTOR => "postmaster",
            "in_hot_standby" => "internal",
            _ if self.read_only => "internal",
            _ => "user",
        }
    }

    /// Whether `pg_settings` omits it, as in PostgreSQL, because functions return its value.
    pub(crate) fn is_hidden(&self) -> bool {
        matches!(self.name, "is_superuser" | "session_authorization")
    }
}
