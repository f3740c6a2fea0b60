//! `WITH (refresh = '10 minutes')`: a job refreshes the view at this interval.
//!
//! The view's definition has the interval and the job's number; one catalog change updates them and the job's record. A
//! job ends when the view is dropped or has another job number.

use super::super::create_table::property;
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use crate::jobs::{REFRESH, RefreshSpec};
use catalog::{CatalogResult, Draft, JobRecord, TableOid};
use sql::TableOption;
use std::collections::BTreeMap;
use types::{DataType, Datum, Interval};

/// The shortest time between two refreshes.
const LEAST: i64 = 1_000_000;
/// A day without leap seconds, in microseconds.
const DAY: i64 = 86_400_000_000;

/// Options of WITH and SET.
pub(super) struct Options {
    /// Table properties.
    pub(super) properties: BTreeMap<String, Option<String>>,
    /// Refresh interval in microseconds; `None` without the option, `Some(None)` for NULL.
    pub(super) every: Option<Option<i64>>,
    /// Whether a refresh recomputes only the changed groups.
    pub(super) incremental: Option<bool>,
}

/// Parses the options.
///
/// # Errors
/// 22023 for an invalid interval or boolean.
pub(super) fn options(given: &[TableOption]) -> EngineResult<Options> {
    let mut all = Options { properties: BTreeMap::new(), every: None, incremental: None };
    for option in given {
        let (name, value) = property(option)?;
        match name.as_str() {
            "refresh" => all.every = Some(value.as_deref().map(interval).transpose()?),
            "incremental" => all.incremental = value.as_deref().map(boolean).transpose()?,
            _ => drop(all.properties.insert(name, value)),
        }
    }
    Ok(all)
}

fn boolean(text: &str) -> EngineResult<bool> {
    match types::text::parse(&DataType::Boolean, text) {
        Ok(Datum::Bool(value)) => Ok(value),
        _ => fail(Fault::BadParameter { name: "incremental", value: text.to_string(), expected: "true or false" }),
    }
}

/// Parses an interval into microseconds. Refuses months, because their length varies.
///
/// # Errors
/// 22023 for an invalid interval.
pub(crate) fn interval(text: &str) -> EngineResult<i64> {
    let invalid = || Fault::BadParameter {
        name: "refresh",
        value: text.to_string(),
        expected: "an interval of 1 second or more, without months, such as '10 minutes'",
    };
    match types::text::parse(&DataType::Interval, text) {
        Ok(Datum::Interval(Interval { months: 0, days, micros })) => {
            let whole = i64::from(days).checked_mul(DAY).and_then(|days| days.checked_add(micros));
            whole.filter(|whole| *whole >= LEAST).ok_or_else(|| invalid().into())
        }
        _ => Err(invalid().into()),
    }
}

impl Session {
    /// Refuses a scheduled refresh on a store without jobs.
    pub(super) fn check_schedule(&self) -> EngineResult<()> {
        self.check_refreshes("a materialized view")
    }

    /// Refuses a scheduled refresh of `what` on a store that other processes write to, which has no jobs.
    ///
    /// # Errors
    /// 0A000.
    pub(crate) fn check_refreshes(&self, what: &str) -> EngineResult<()> {
        match self.engine.store().capabilities().exclusive {
            true => Ok(()),
            false => fail(Fault::Unsupported {
                feature: format!("refreshing {what} by a job in a store that other processes write to"),
            }),
        }
    }

    /// Refuses a store that cannot write a row and its change log row atomically.
    pub(super) fn check_incremental(&self) -> EngineResult<()> {
        let can = self.engine.store().capabilities();
        match can.exclusive && can.atomic_batches() && can.store_snapshots() {
            true => Ok(()),
            false => fail(Fault::NotIncremental {
                reason: "the store writes single rows only, so that what has changed cannot be noted with the row"
                    .to_string(),
                fix: "Leave incremental out.",
            }),
        }
    }

    /// Applies `change`, which returns the view, and sets the refresh interval and the refresh job in the same catalog
    /// change.
    pub(super) async fn change_schedule(
        &mut self,
        change: impl FnOnce(&mut Draft) -> CatalogResult<TableOid>,
        every: Option<i64>,
    ) -> EngineResult<()> {
        let engine = std::sync::Arc::clone(&self.engine);
        let turn = self.catalog_turn().await?;
        let made = engine.catalog().change_in(turn, |draft| {
            let oid = change(draft)?;
            let table = draft.table(oid)?;
            let job = table.materialized.as_ref().and_then(|view| view.job);
            let record: Option<JobRecord> = match (every, job) {
                (Some(_), None) => {
                    let schema = draft.catalog().schema_name(&table);
                    let what = format!("REFRESH MATERIALIZED VIEW {schema}.{}", table.name);
                    Some(engine.jobs().record(&engine, REFRESH, what, &RefreshSpec { view: oid.0 }))
                }
                _ => None,
            };
            let number = record.as_ref().map(|record| record.id).or(job).filter(|_| every.is_some());
            draft.change_materialized(oid, |view| (view.every, view.job) = (every, number))?;
            if let Some(record) = &record {
                draft.put_job(record.clone());
            }
            Ok(record)
        });
        match made.await? {
            Some(record) => drop(self.engine.jobs().begin(&self.engine, record)),
            None => self.engine.jobs().look_again(),
        }
        Ok(())
    }
}
