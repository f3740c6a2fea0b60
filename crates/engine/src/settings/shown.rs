//! Settings as `pg_settings` shows them: each value with its source.

use super::{Effective, SETTINGS, SettingDef, Settings, Values};
use pg_catalog::SettingInfo;
use query::Settings as _;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The sources of a session's values.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins {
    /// The values that RESET restores, where they differ from the defaults.
    start: Values,
    /// The settings that the client's start-up message contains; the others come from the server.
    by_client: Arc<BTreeSet<String>>,
    /// Settings changed by SET.
    set: BTreeSet<String>,
}

impl Origins {
    pub(super) fn of(settings: &Settings) -> Self {
        let set = settings.local.keys().chain(settings.session.keys()).cloned().collect();
        Self { start: settings.start.clone(), by_client: Arc::clone(&settings.by_client), set }
    }

    fn source(&self, def: &SettingDef) -> &'static str {
        match def.name {
            name if self.set.contains(name) => "session",
            name if self.by_client.contains(name) => "client",
            name if self.start.get(name).is_some_and(|value| value != def.default) => "configuration file",
            _ => "default",
        }
    }
}

impl Effective {
    /// The rows of `pg_settings`.
    pub(crate) fn infos(&self) -> Vec<SettingInfo> {
        SETTINGS.iter().filter(|def| !def.is_hidden()).map(|def| self.info(def)).collect()
    }

    fn info(&self, def: &SettingDef) -> SettingInfo {
        let value = self.get(def.name).unwrap_or_else(|| def.default.to_string());
        let reset = self.origins.start.get(def.name).map_or(def.default, String::as_str);
        SettingInfo {
            name: def.name.to_string(),
            value: def.kind.in_units(&value),
            unit: def.kind.unit(),
            category: def.category(),
            description: def.description.to_string(),
            context: def.context(),
            kind: def.kind.type_name(),
            source: self.origins.source(def),
            range: def.kind.range(),
            values: def.kind.words().iter().map(ToString::to_string).collect(),
            boot: def.kind.in_units(def.default),
            reset: def.kind.in_units(reset),
        }
    }
}
