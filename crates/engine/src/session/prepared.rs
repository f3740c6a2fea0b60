//! The named prepared statements of a session. SQL's PREPARE and the protocol's Parse share one namespace; either can
//! execute and close the other's statements.

use crate::error::EngineResult;
use crate::{EngineError, Prepared, Session};
use parking_lot::Mutex;
use pg_catalog::PreparedInfo;
use query::HeldMemory;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A named prepared statement.
#[derive(Debug)]
struct Named {
    prepared: Arc<Prepared>,
    /// The text that the client sent.
    text: Arc<str>,
    from_sql: bool,
    /// Microseconds since 1970.
    made: i64,
    /// Memory for its tree and plan, estimated from the length of the text.
    _memory: HeldMemory,
}

/// Estimated bytes of tree and plan per byte of text, and the minimum.
const TIMES_THE_TEXT: usize = 32;
const SMALLEST: usize = 4 << 10;

/// All prepared statements of a session. `pg_prepared_statements` reads it on the query threads.
#[derive(Debug, Default)]
pub(crate) struct PreparedStatements {
    /// Locked for one look-up or change, never across an await.
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

    /// The rows of `pg_prepared_statements`.
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
    /// The prepared statement of that name, from SQL or from the protocol.
    pub fn prepared(&self, name: &str) -> Option<Arc<Prepared>> {
        self.prepared.get(name)
    }

    /// Names a statement of the protocol, and replaces one of the same name.
    ///
    /// # Errors
    /// 53200.
    pub fn keep_prepared(&self, name: String, prepared: Arc<Prepared>) -> Result<(), EngineError> {
        let text = prepared.source.as_ref().map_or_else(|| Arc::from(""), |source| Arc::clone(&source.text));
        self.name_prepared(name, prepared, text, false)
    }

    /// Drops a prepared statement; false if there is none of that name.
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
