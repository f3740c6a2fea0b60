//! Settings of a session: SET, SHOW and RESET. They are defined in one table, [`definition::SETTINGS`].
//!
//! A value is stored as its canonical text, as SHOW prints it. Values that statements read often are also kept parsed
//! in [`Effective`], which is rebuilt after each change.

mod definition;
mod effective;
mod keepalive;
mod shown;
mod value;

pub(crate) use definition::{
    AUTOVACUUM, AUTOVACUUM_NAPTIME, AUTOVACUUM_SCALE_FACTOR, AUTOVACUUM_THRESHOLD, MAX_CONNECTIONS,
    RESERVED_CONNECTIONS,
};
pub(crate) use effective::Effective;
pub use keepalive::Keepalive;
pub(crate) use value::{parse_bool, print_duration};

use crate::error::{EngineResult, Fault, fail};
use definition::{SETTINGS, SettingDef};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Values that differ from the defaults, by canonical name.
type Values = BTreeMap<String, String>;

/// A change that was validated but not applied.
#[derive(Clone, Debug)]
pub(crate) struct SettingsChange {
    key: String,
    /// The value in canonical form.
    pub(crate) value: String,
    pub(crate) local: bool,
}

/// The values at a savepoint.
#[derive(Clone, Debug)]
pub(crate) struct SettingsMark {
    session: Values,
    local: Values,
}

/// The settings of one session.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The values that RESET restores where they differ from the defaults: from the server and from the client's
    /// start-up message.
    start: Values,
    /// The settings that the client's start-up message contains.
    by_client: Arc<BTreeSet<String>>,
    /// Values of SET.
    session: Values,
    /// Values of SET LOCAL, until the end of the transaction.
    local: Values,
    /// `session` at the start of the transaction block, for ROLLBACK.
    before_block: Option<Values>,
    effective: Arc<Effective>,
    /// Changed settings that are to be reported to the client.
    changed: Vec<&'static str>,
}

impl Settings {
    /// The settings of a new session: `server` are the server's defaults, `client` those of the start-up message.
    pub(crate) fn new(server: &[(String, String)], client: &[(String, String)]) -> EngineResult<Self> {
        let mut settings = Self {
            start: Values::new(),
            by_client: Arc::default(),
            session: Values::new(),
            local: Values::new(),
            before_block: None,
            effective: Arc::default(),
            changed: Vec::new(),
        };
        for (name, value) in server.iter().chain(client) {
            // A list is one text here.
            match find(name).map(|def| def.kind) {
                Some(value::Kind::NameList) => settings.set(name, &effective::split_path(value), false)?,
                _ => settings.set(name, std::slice::from_ref(value), false)?,
            }
        }
        settings.start = std::mem::take(&mut settings.session);
        let keys = client.iter().filter_map(|(name, _)| find(name)).map(|def| def.name.to_string());
        settings.by_client = Arc::new(keys.collect());
        settings.refresh()?;
        settings.changed.clear();
        Ok(settings)
    }

    /// Sets the values that the server in front determines: read-only settings, and defaults that clients may change.
    pub(crate) fn know(&mut self, told: &[(&'static str, String)]) -> EngineResult<()> {
        for (name, value) in told.iter().filter(|(name, _)| !self.by_client.contains(*name)) {
            self.start.insert((*name).to_string(), value.clone());
        }
        self.refresh()
    }

    /// Sets the session's user, who does not change.
    pub(crate) fn belongs_to(&mut self, user: &str) -> EngineResult<()> {
        let given = self.start.insert(USER.to_string(), user.to_string());
        if let Some(given) = given {
            self.check_user(&given)?;
        }
        self.refresh()
    }

    /// There are no roles, so the only user that a session knows is its own.
    fn check_user(&self, wanted: &str) -> EngineResult<()> {
        match self.start.get(USER) {
            Some(user) if user != wanted => fail(Fault::NoSuchUser { name: wanted.to_string() }),
            _ => Ok(()),
        }
    }

    /// The parsed settings.
    pub(crate) fn effective(&self) -> &Arc<Effective> {
        &self.effective
    }

    /// The current value as SHOW prints it.
    pub(crate) fn get(&self, name: &str) -> EngineResult<&str> {
        let (key, default) = match find(name) {
            Some(def) => (Cow::Borrowed(def.name), Some(def.default)),
            None => (Cow::Owned(name.to_ascii_lowercase()), None),
        };
        let set = [&self.local, &self.session, &self.start].into_iter().find_map(|values| values.get(&*key));
        if key == READ_ONLY && set.is_none() {
            return self.get(DEFAULT_READ_ONLY);
        }
        match set.map(String::as_str).or(default) {
            Some(value) => Ok(value),
            None => fail(Fault::NoSuchSetting { name: name.to_string() }),
        }
    }

    /// SET and SET LOCAL.
    pub(crate) fn set(&mut self, name: &str, values: &[String], local: bool) -> EngineResult<()> {
        self.make(check(name, values, local)?)
    }

    /// Validates a value given as one text, also for a list of names.
    pub(crate) fn change(name: &str, value: &str, local: bool) -> EngineResult<SettingsChange> {
        match find(name).map(|def| def.kind) {
            Some(value::Kind::NameList | value::Kind::DateStyle) => check(name, &effective::split_path(value), local),
            _ => check(name, &[value.to_string()], local),
        }
    }

    /// Applies a change.
    pub(crate) fn make(&mut self, change: SettingsChange) -> EngineResult<()> {
        let SettingsChange { key, value, mut local } = change;
        if key == READ_ONLY {
            // A mode of the transaction: without a block it ends with the statement.
            local = true;
            if self.before_block.is_none() {
                return Ok(());
            }
        }
        if key == DEFAULT_READ_ONLY {
            self.keep_read_only()?;
        }
        let value = match find(&key).map(|def| def.kind) {
            Some(value::Kind::DateStyle) => value::with_order(value, self.get(&key)?),
            _ => value,
        };
        if key == USER {
            self.check_user(&value)?;
        }
        self.note_change(&key);
        if local {
            self.local.insert(key, value);
        } else {
            self.local.remove(&key);
            self.session.insert(key, value);
        }
        self.refresh()
    }

    /// RESET of one setting, and SET … TO DEFAULT.
    pub(crate) fn reset(&mut self, name: &str, local: bool) -> EngineResult<()> {
        let key = match find(name) {
            Some(def) if def.read_only => return fail(Fault::ReadOnlySetting { name: def.name.to_string() }),
            Some(def) => def.name.to_string(),
            None if name.contains('.') => name.to_ascii_lowercase(),
            None => return fail(Fault::NoSuchSetting { name: name.to_string() }),
        };
        if local {
            let start = self.start.get(&key).cloned().or_else(|| find(name).map(|def| def.default.to_string()));
            self.local.insert(key, start.unwrap_or_default());
        } else {
            self.local.remove(&key);
            self.session.remove(&key);
        }
        self.note_change(name);
        self.refresh()
    }

    /// RESET ALL.
    pub(crate) fn reset_all(&mut self) -> EngineResult<()> {
        let names: Vec<String> = self.session.keys().chain(self.local.keys()).cloned().collect();
        self.session.clear();
        self.local.clear();
        for name in names {
            self.note_change(&name);
        }
        self.refresh()
    }

    /// Shows the isolation level of the transaction block until it ends.
    pub(crate) fn show_isolation(&mut self, level: &str) -> EngineResult<()> {
        self.local.insert("transaction_isolation".to_string(), level.to_string());
        self.refresh()
    }

    /// Begins a transaction block.
    pub(crate) fn begin_block(&mut self) {
        self.before_block = Some(self.session.clone());
    }

    /// Fixes the mode of the open block, if there is one: a new default is for later transactions.
    fn keep_read_only(&mut self) -> EngineResult<()> {
        if self.before_block.is_some() {
            let mode = self.get(READ_ONLY)?.to_string();
            self.local.entry(READ_ONLY.to_string()).or_insert(mode);
        }
        Ok(())
    }

    /// Ends a transaction: reverts SET LOCAL, and after ROLLBACK also SET.
    pub(crate) fn end_block(&mut self, committed: bool) -> EngineResult<()> {
        let before = self.before_block.take();
        if self.local.is_empty() && (committed || before.as_ref().is_none_or(|before| *before == self.session)) {
            return Ok(());
        }
        let mut names: Vec<String> = std::mem::take(&mut self.local).into_keys().collect();
        if let (false, Some(before)) = (committed, before) {
            names.extend(self.session.keys().chain(before.keys()).cloned());
            self.session = before;
        }
        for name in names {
            self.note_change(&name);
        }
        self.refresh()
    }

    /// The current values, for a savepoint.
    pub(crate) fn mark(&self) -> SettingsMark {
        SettingsMark { session: self.session.clone(), local: self.local.clone() }
    }

    /// Restores the values at a savepoint.
    pub(crate) fn go_back(&mut self, mark: SettingsMark) -> EngineResult<()> {
        let SettingsMark { session, local } = mark;
        if session == self.session && local == self.local {
            return Ok(());
        }
        let old = (std::mem::replace(&mut self.session, session), std::mem::replace(&mut self.local, local));
        let names = [&old.0, &old.1, &self.session, &self.local].into_iter().flat_map(Values::keys);
        for name in names.cloned().collect::<Vec<String>>() {
            self.note_change(&name);
        }
        self.refresh()
    }

    /// All reported settings with their values.
    pub(crate) fn reported(&self) -> Vec<(&'static str, String)> {
        SETTINGS.iter().filter(|def| def.reported).map(|def| (def.name, self.value_of(def))).collect()
    }

    /// Reported settings that changed since the last call.
    pub(crate) fn take_changed(&mut self) -> Vec<(&'static str, String)> {
        // Called after each statement.
        if self.changed.is_empty() {
            return Vec::new();
        }
        let mut names = std::mem::take(&mut self.changed);
        names.dedup();
        SETTINGS.iter().filter(|def| names.contains(&def.name)).map(|def| (def.name, self.value_of(def))).collect()
    }

    /// All settings for SHOW ALL: name, value, description.
    pub(crate) fn all(&self) -> Vec<(String, String, &'static str)> {
        let own = [&self.start, &self.session, &self.local].into_iter().flat_map(Values::keys);
        let own: BTreeSet<&String> = own.filter(|name| find(name).is_none()).collect();
        let known = SETTINGS.iter().map(|def| (def.name.to_string(), self.value_of(def), def.description));
        let custom = own.into_iter().map(|name| (name.clone(), self.get(name).unwrap_or_default().to_string(), ""));
        known.chain(custom).collect()
    }

    fn value_of(&self, def: &SettingDef) -> String {
        self.get(def.name).unwrap_or(def.default).to_string()
    }

    fn note_change(&mut self, name: &str) {
        if let Some(def) = find(name).filter(|def| def.reported) {
            self.changed.push(def.name);
        }
    }

    fn refresh(&mut self) -> EngineResult<()> {
        self.effective = Arc::new(Effective::read(self)?);
        Ok(())
    }
}

/// The mode of the transaction, and its value in new transactions.
const READ_ONLY: &str = "transaction_read_only";
const DEFAULT_READ_ONLY: &str = "default_transaction_read_only";
/// The setting with the session's user.
const USER: &str = "session_authorization";

/// Validates a change and converts its value to canonical form.
fn check(name: &str, values: &[String], local: bool) -> EngineResult<SettingsChange> {
    let own = name.to_ascii_lowercase();
    let (key, value) = match find(name) {
        Some(def) if def.read_only => return fail(Fault::ReadOnlySetting { name: def.name.to_string() }),
        Some(def) => (def.name.to_string(), def.kind.canonical(def.name, values)?),
        // As in PostgreSQL, settings with a dotted name are the client's own. Those of `bennu` must exist.
        None if name.contains('.') && !own.starts_with("bennu.") => (own, values.join(", ")),
        None => return fail(Fault::NoSuchSetting { name: name.to_string() }),
    };
    Ok(SettingsChange { key, value, local })
}

/// The definition of that name, case-insensitively.
fn find(name: &str) -> Option<&'static SettingDef> {
    SETTINGS.iter().find(|def| def.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests;
