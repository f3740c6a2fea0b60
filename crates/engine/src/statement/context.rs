//! What planning and execution need from the session.

use crate::Session;
use crate::block::Block;
use crate::error::EngineResult;
use crate::session::advisory::AdvisoryFunctions;
use crate::session::sequences::SequenceFunctions;
use crate::session::state::SessionState;
use crate::settings::Effective;
use catalog::Catalog;
use pg_catalog::PgCatalog;
use query::{IndexChoice, QueryContext};
use std::sync::Arc;
use std::time::Duration;
use txn::ReadView;

/// Settings of a statement whose index choice differs from the session's `bennu.index_choice`.
#[derive(Debug)]
struct OtherIndexes(Arc<Effective>, IndexChoice);

impl query::Settings for OtherIndexes {
    fn get(&self, name: &str) -> Option<String> {
        if name.eq_ignore_ascii_case("bennu.index_choice") { Some(self.1.name().to_string()) } else { self.0.get(name) }
    }
}

impl Session {
    /// Indexes that a statement may read: none in a block whose snapshot is older than the definitions, because an
    /// index that was created since has no entries in that snapshot.
    pub(crate) fn index_choice(&self) -> IndexChoice {
        match self.block.repeated_state() {
            Some(version) if version < self.engine.catalog().version() => IndexChoice::Off,
            _ => {
                let effective = self.settings.effective();
                match (effective.index_choice, effective.index_scans, effective.table_scans) {
                    (_, false, _) => IndexChoice::Off,
                    (IndexChoice::Auto, true, false) => IndexChoice::Force,
                    (said, true, _) => said,
                }
            }
        }
    }

    /// The context for running a query on a snapshot.
    pub(crate) fn query_context(&self, view: ReadView) -> QueryContext {
        self.context_of(self.engine.catalog().current(), view)
    }

    /// As [`Self::query_context`], for a query that may return data as old as the session allows: it may read indexes
    /// that are maintained by a refresh. Not within a transaction block, whose own writes those indexes lack.
    pub(crate) fn stale_context(&self, view: ReadView) -> QueryContext {
        let context = self.query_context(view);
        let allowed = self.settings.effective().max_staleness.filter(|_| matches!(self.block, Block::Idle));
        let age = |allowed: Duration| i64::try_from(allowed.as_micros()).unwrap_or(i64::MAX);
        QueryContext {
            fresh_since: allowed.map(|allowed| context.statement_time.saturating_sub(age(allowed))),
            ..context
        }
    }

    /// The context for planning against a version of the catalog.
    pub(crate) async fn planning_context(&self, catalog: &Arc<Catalog>) -> EngineResult<QueryContext> {
        let store = self.engine.store();
        let snapshot = store.snapshot(self.last_commit).await?;
        Ok(self.context_of(Arc::clone(catalog), ReadView::plain(Arc::clone(store), snapshot)))
    }

    fn context_of(&self, catalog: Arc<Catalog>, reader: ReadView) -> QueryContext {
        let now = self.engine.now();
        let effective = self.settings.effective();
        let computed = PgCatalog::new(Arc::clone(&catalog), Arc::new(SessionState::of(self)));
        let schemas = computed.schemas();
        let sequences = SequenceFunctions::of(self);
        let (set_configs, advisory) = (Arc::clone(&self.set_configs), AdvisoryFunctions::of(self));
        let own = Arc::clone(self.engine.functions());
        QueryContext {
            catalog,
            reader,
            search_path: self.search_path(),
            user: self.user.clone(),
            database: catalog::DATABASE_NAME.to_string(),
            statement_time: now,
            transaction_time: self.block.started().unwrap_or(now),
            time_zone: effective.zone,
            zone_name: Arc::clone(&effective.time_zone),
            schemas,
            functions: Arc::new(move |name| {
                let session = sequences.find(name).or_else(|| set_configs.find(name)).or_else(|| advisory.find(name));
                session.or_else(|| own.get(name)).or_else(|| computed.function(name))
            }),
            stop: self.running(),
            hints: Arc::clone(&self.hints),
            fresh_since: None,
            settings: match self.index_choice() == effective.index_choice {
                true => Arc::clone(effective) as Arc<dyn query::Settings>,
                false => Arc::new(OtherIndexes(Arc::clone(effective), self.index_choice())),
            },
        }
    }
}
