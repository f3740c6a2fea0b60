//! The named prepared statements of a session: PREPARE of SQL and Parse of the protocol have one set of names, and either
//! side runs and closes what the other made.

use crate::error::EngineResult;
use crate::{EngineError, Prepared, Session};
use parking_lot::Mutex;
use pg_catalog::PreparedInfo;
use query::HeldMemory;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A prepared statement under its name.
#[derive(Debug)]
struct Named {
    prepared: Arc<Prepared>,
    /// What the client sent.
    text: Arc<str>,
    from_sql: bool,
    /// Microseconds since 1970.
    made: i64,
    /// For its tree and its plan, which nobody measures: they grow with the text.
    _memory: HeldMemory,
}

/// Bytes of tree and plan for each byte of text, about, and at least.
const TIMES_THE_TEXT: usize = 32;
const SMALLEST: usize = 4 << 10;

/// All of a session; `pg_prepared_statements` reads it while the session's statement runs elsewhere.
#[derive(Debug, Default)]
pub(crate) struct PreparedStatements {
    /// Locked for one look or change, never across an await.
    by_name: Mutex<BTreeMap<String, Named>>,
}

impl PreparedStatements {
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Prepared>> {
        self.by_name.lock().get(name).map(|named| Arc::clone(&named.prepared))
    }

    pub(crate) fn remove(&self, name: &str) -> bool {
        self.by_name.lock().remove(name).is_some()
    }

    pub(crate) fn clear(&self) {
        self.by_name.lock().clear();
    }

    /// As rows of `pg_prepared_statements`.
    pub(crate) fn infos(&self) -> Vec<PreparedInfo> {
        let info = |(name, named): (&String, &Named)| PreparedInfo {
            name: name.clone(),
            statement: named.text.to_string(),
            prepared: named.made,
            parameters: named.prepared.parameters.clone(),
            from_sql: named.from_sql,
        };
        self.by_name.lock().iter().map(info).collect()
    }
}

impl Session {
    /// The prepared statement of that name, of SQL or of the protocol.
    pub fn prepared(&self, name: &str) -> Option<Arc<Prepared>> {
        self.prepared.get(name)
    }

    /// Gives a statement of the protocol its name, in place of one that has it.
    ///
    /// # Errors
    /// 53200.
    pub fn keep_prepared(&self, name: String, prepared: Arc<Prepared>) -> Result<(), EngineError> {
        let text = prepared.source.as_ref().map_or_else(|| Arc::from(""), |source| Arc::clone(&source.text));
        self.name_prepared(name, prepared, text, false)
    }

    /// Forgets a prepared statement; false if there is none of that name.
    pub fn close_prepared(&self, name: &str) -> bool {
        self.prepared.remove(name)
    }

    pub(crate) fn name_prepared(
        &self,
        name: String,
        prepared: Arc<Prepared>,
        text: Arc<str>,
        from_sql: bool,
    ) -> EngineResult<()> {
        let memory = self.engine.hold("a prepared statement");
        memory.try_grow(text.len().saturating_mul(TIMES_THE_TEXT).max(SMALLEST))?;
        let named = Named { prepared, text, from_sql, made: self.engine.now(), _memory: memory };
        self.prepared.by_name.lock().insert(name, named);
        Ok(())
    }
}
