//! Parsed values of settings that statements read often.

use super::shown::Origins;
use super::value::{parse_bool, parse_duration};
use super::{Keepalive, Settings};
use crate::error::EngineResult;
use crate::row_program::RowPrograms;
use crate::statement::shapes::Parameterize;
use builtins::TimeZone;
use query::IndexChoice;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::Durability;
use txn::LockWait;
use types::{DateOrder, IntervalStyle, Style, ident};

/// The parsed settings. Immutable: a statement takes them once.
#[derive(Clone, Debug)]
pub(crate) struct Effective {
    /// Schemas in order, with `$user` unresolved.
    pub(crate) search_path: Arc<Vec<String>>,
    /// `None` is forever.
    pub(crate) statement_timeout: Option<Duration>,
    /// How long a client may be idle in a transaction block; `None` is forever.
    pub(crate) idle_in_block_timeout: Option<Duration>,
    /// How long a client may be idle outside a transaction block; `None` is forever.
    pub(crate) idle_timeout: Option<Duration>,
    /// Maximum age of entries of indexes that are maintained by a refresh.
    pub(crate) max_staleness: Option<Duration>,
    /// How long to wait for a lock.
    pub(crate) lock_wait: LockWait,
    /// Whether a commit waits until the write-ahead journal is synced.
    pub(crate) durability: Durability,
    /// Name of the time zone.
    pub(crate) time_zone: Arc<str>,
    /// The time zone, with the output formats.
    pub(crate) zone: TimeZone,
    /// Whether plans are cached.
    pub(crate) plan_cache: bool,
    /// Which statements run as the prepared statement of their shape.
    pub(crate) parameterize: Parameterize,
    /// Whether key programs are used.
    pub(crate) point_programs: bool,
    /// Which statements become row programs.
    pub(crate) row_programs: RowPrograms,
    /// Maximum number of rows that a row program reads.
    pub(crate) row_budget: u64,
    /// Which indexes statements may read.
    pub(crate) index_choice: IndexChoice,
    /// `enable_indexscan`.
    pub(crate) index_scans: bool,
    /// `enable_seqscan`.
    pub(crate) table_scans: bool,
    /// `enable_hashjoin`; also true if `enable_mergejoin` is off.
    pub(crate) hash_joins: bool,
    /// Maximum number of common values and histogram bounds that ANALYZE keeps.
    pub(crate) statistics_target: usize,
    /// Whether the transaction is read-only.
    pub(crate) read_only: bool,
    /// When the client counts as gone.
    pub(crate) keepalive: Keepalive,
    /// All values as SHOW prints them, by name in lower case.
    shown: BTreeMap<String, String>,
    pub(super) origins: Origins,
}

impl query::Settings for Effective {
    fn get(&self, name: &str) -> Option<String> {
        self.shown.get(&name.to_ascii_lowercase()).cloned()
    }
}

impl Default for Effective {
    fn default() -> Self {
        Self {
            search_path: Arc::new(vec!["$user".to_string(), catalog::PUBLIC_SCHEMA.to_string()]),
            statement_timeout: None,
            idle_in_block_timeout: None,
            idle_timeout: None,
            lock_wait: LockWait::Forever,
            durability: Durability::Sync,
            time_zone: Arc::from("UTC"),
            zone: TimeZone::UTC,
            plan_cache: true,
            parameterize: Parameterize::default(),
            point_programs: true,
            row_programs: RowPrograms::default(),
            row_budget: 4096,
            index_choice: IndexChoice::Auto,
            max_staleness: None,
            index_scans: true,
            table_scans: true,
            hash_joins: true,
            statistics_target: 100,
            read_only: false,
            keepalive: Keepalive::default(),
            shown: BTreeMap::new(),
            origins: Origins::default(),
        }
    }
}

impl Effective {
    pub(crate) fn read(settings: &Settings) -> EngineResult<Self> {
        let on = |name: &str| settings.get(name).map(|value| parse_bool(value).unwrap_or(false));
        let time = |name: &str| settings.get(name).map(|value| parse_duration(value).filter(|time| !time.is_zero()));
        let time_zone = settings.get("TimeZone")?;
        Ok(Self {
            search_path: Arc::new(split_path(settings.get("search_path")?)),
            statement_timeout: time("statement_timeout")?,
            idle_in_block_timeout: time("idle_in_transaction_session_timeout")?,
            idle_timeout: time("idle_session_timeout")?,
            max_staleness: time("bennu.max_staleness")?,
            lock_wait: time("lock_timeout")?.map_or(LockWait::Forever, LockWait::AtMost),
            durability: if on("synchronous_commit")? { Durability::Sync } else { Durability::Buffered },
            time_zone: Arc::from(time_zone),
            // Validated when it was set.
            zone: TimeZone::named(time_zone).unwrap_or(TimeZone::UTC).with_style(read_style(settings)?),
            plan_cache: on("bennu.plan_cache")?,
            parameterize: match settings.get("bennu.parameterize")? {
                "off" => Parameterize::Off,
                "always" => Parameterize::Always,
                _ => Parameterize::On,
            },
            point_programs: on("bennu.point_programs")?,
            row_programs: match settings.get("bennu.row_programs")? {
                "off" => RowPrograms::Off,
                "all" => RowPrograms::All,
                _ => RowPrograms::On,
            },
            row_budget: settings.get("bennu.row_budget")?.parse().unwrap_or_default(),
            index_choice: IndexChoice::from_setting(settings.get("bennu.index_choice")?).unwrap_or(IndexChoice::Auto),
            index_scans: on("enable_indexscan")?,
            table_scans: on("enable_seqscan")?,
            hash_joins: on("enable_hashjoin")? || !on("enable_mergejoin")?,
            statistics_target: settings.get("default_statistics_target")?.parse().unwrap_or(100),
            shown: settings.all().into_iter().map(|(name, value, _)| (name.to_ascii_lowercase(), value)).collect(),
            origins: Origins::of(settings),
            read_only: on("transaction_read_only")?,
            keepalive: Keepalive::read(settings)?,
        })
    }
}

/// The text formats that three settings determine. Their values were validated when they were set.
fn read_style(settings: &Settings) -> EngineResult<Style> {
    Ok(Style {
        dates: match settings.get("DateStyle")?.rsplit(' ').next() {
            Some("DMY") => DateOrder::DayMonthYear,
            Some("YMD") => DateOrder::YearMonthDay,
            _ => DateOrder::MonthDayYear,
        },
        intervals: match settings.get("IntervalStyle")? {
            "postgres_verbose" => IntervalStyle::PostgresVerbose,
            "sql_standard" => IntervalStyle::SqlStandard,
            "iso_8601" => IntervalStyle::Iso8601,
            _ => IntervalStyle::Postgres,
        },
        float_digits: settings.get("extra_float_digits")?.parse().unwrap_or(Style::POSTGRES.float_digits),
    })
}

/// The names of a canonical list: `"$user", public`.
pub(super) fn split_path(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = match rest.strip_prefix('"') {
            Some(quoted) => ident::read_quoted(quoted).unwrap_or_else(|| (quoted.to_string(), "")),
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                let (name, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                (name.trim().to_string(), after)
            }
        };
        if !name.is_empty() {
            names.push(name);
        }
        rest = after.trim_start().trim_start_matches(',').trim_start();
    }
    names
}
