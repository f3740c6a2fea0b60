//! What pg_catalog shows of a session.

use crate::Session;
use crate::settings::{Effective, SETTINGS, SettingDef};
use pg_catalog::{LiveState, SettingInfo};
use query::Settings;
use std::sync::Arc;

/// A session as a statement found it.
#[derive(Debug)]
pub(crate) struct SessionState {
    user: String,
    process_id: i32,
    search_path: Vec<String>,
    effective: Arc<Effective>,
}

impl SessionState {
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            user: session.user.clone(),
            process_id: session.process_id(),
            search_path: session.search_path(),
            effective: Arc::clone(session.settings.effective()),
        }
    }

    fn info(&self, def: &SettingDef) -> SettingInfo {
        SettingInfo {
            name: def.name.to_string(),
            value: self.effective.get(def.name).unwrap_or_else(|| def.default.to_string()),
            default: def.default.to_string(),
            description: def.description.to_string(),
            kind: def.kind.type_name(),
            values: def.kind.words().iter().map(ToString::to_string).collect(),
            read_only: def.read_only,
        }
    }
}

impl LiveState for SessionState {
    fn user(&self) -> &str {
        &self.user
    }

    fn search_path(&self) -> &[String] {
        &self.search_path
    }

    fn process_id(&self) -> i32 {
        self.process_id
    }

    fn setting(&self, name: &str) -> Option<String> {
        self.effective.get(name)
    }

    fn settings(&self) -> Vec<SettingInfo> {
        SETTINGS.iter().map(|def| self.info(def)).collect()
    }
}
