//! Refreshes a materialized view or an index periodically: `WITH (refresh = '10 minutes')`.
//!
//! The time of the next refresh follows from the catalog: the interval, and the time of the last refresh, manual or
//! not. A failed refresh is reported in the job's record and is due again after the interval; the old rows or entries
//! stay.

use super::job::JobContext;
use super::kind::{JobKind, Outcome, to_json};
use crate::error::EngineResult;
use crate::session::search_path::qualified;
use crate::{Engine, Session, SessionStart};
use async_trait::async_trait;
use catalog::{Catalog, CatalogResult, Draft, JobRecord, TableOid};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sql::RefreshMaterializedView;
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use store::Durability;

/// The refreshes of one view.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RefreshSpec {
    /// Oid of the view.
    pub(crate) view: u32,
}

/// Time of the last attempt, if that failed, in microseconds since 1970.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Tried {
    at: i64,
}

/// How long to wait for a refresh; `None`: it is due. After a failure it is due again after its interval.
fn not_due(context: &JobContext, engine: &Engine, due: i64, every: i64) -> EngineResult<Option<Outcome>> {
    let tried: Option<Tried> = context.position()?;
    let due = due.max(tried.map_or(0, |tried| tried.at.saturating_add(every)));
    let wait = due.saturating_sub(engine.now());
    Ok((wait > 0).then(|| Outcome::Later(Duration::from_micros(wait.unsigned_abs()))))
}

/// An object that jobs refresh: a materialized view, or the entries of an index.
#[async_trait]
pub(super) trait Refreshed: DeserializeOwned + Send + Sync {
    /// The job's message when the object was dropped.
    const DROPPED: &'static str;

    /// The refresh schedule of the object; `None` if it was dropped.
    fn times(&self, catalog: &Catalog) -> Option<Times>;

    /// Removes the refresh schedule and the job of the object.
    fn forget_job(&self, draft: &mut Draft) -> CatalogResult<()>;

    /// Refreshes the object by a statement of its own.
    async fn refresh(&self, session: &mut Session) -> EngineResult<()>;
}

/// The refresh schedule of an object, in microseconds, and the number of its job.
pub(super) struct Times {
    pub(super) every: Option<i64>,
    pub(super) due: Option<i64>,
    pub(super) job: Option<u32>,
}

/// The job kind of refreshes. See the module documentation.
pub(super) struct Refresh<T>(pub(super) PhantomData<fn() -> T>);

#[async_trait]
impl<T: Refreshed> JobKind for Refresh<T> {
    async fn run(&self, context: &JobContext) -> EngineResult<Outcome> {
        let spec: T = context.spec()?;
        let engine = context.engine()?;
        let Some(times) = spec.times(&engine.catalog().current()) else {
            return Ok(Outcome::Obsolete(T::DROPPED.to_string()));
        };
        let own = times.job == Some(context.job().id());
        let (Some(every), Some(due)) = (times.every.filter(|_| own), times.due) else { return Ok(Outcome::Done) };
        if let Some(later) = not_due(context, &engine, due, every)? {
            return Ok(later);
        }
        context.phase("refreshing").await?;
        let mut session = own_session(context, &engine)?;
        drop(engine);
        let key = (session.process_id(), session.secret());
        let done = until_stopped(context, key, spec.refresh(&mut session)).await;
        context.check()?;
        note(context, done).await?;
        Ok(Outcome::Later(Duration::ZERO))
    }

    /// Keeps the refreshed object as it is.
    async fn undo(&self, context: &JobContext) -> EngineResult<()> {
        let spec: T = context.spec()?;
        let own = context.job().id();
        let change = |draft: &mut Draft| match spec.times(draft.catalog()).is_some_and(|it| it.job == Some(own)) {
            true => spec.forget_job(draft),
            false => Ok(()),
        };
        context.change_catalog(None::<&Tried>, change).await?;
        context.release();
        Ok(())
    }
}

#[async_trait]
impl Refreshed for RefreshSpec {
    const DROPPED: &'static str = "the materialized view was dropped";

    fn times(&self, catalog: &Catalog) -> Option<Times> {
        let view = catalog.table_by_oid(TableOid(self.view))?.materialized.as_ref()?;
        Some(Times { every: view.every, due: view.due(), job: view.job })
    }

    fn forget_job(&self, draft: &mut Draft) -> CatalogResult<()> {
        draft.change_materialized(TableOid(self.view), |view| (view.every, view.job) = (None, None)).map(drop)
    }

    async fn refresh(&self, session: &mut Session) -> EngineResult<()> {
        let catalog = session.engine.catalog().current();
        let Some(table) = catalog.table_by_oid(TableOid(self.view)) else { return Ok(()) };
        let name = qualified(&catalog, table);
        session.begin_statement();
        let refresh = RefreshMaterializedView { name, concurrently: false, with_data: true };
        let done = session.refresh_materialized_view(&refresh).await;
        session.end_statement(done)
    }
}

/// Waits for a statement of the job's own session, given by process id and secret key. If the job is to pause or end,
/// cancels the statement, which rolls back.
async fn until_stopped(
    context: &JobContext,
    (process, secret): (i32, i32),
    work: impl Future<Output = EngineResult<()>>,
) -> EngineResult<()> {
    let mut work = pin!(work);
    let stopped = context.requested_other(super::job::RequestedState::Run);
    tokio::select! {
        biased;
        done = &mut work => return done,
        () = stopped => {}
    }
    if let Ok(engine) = context.engine() {
        engine.cancel(process, secret);
    }
    work.await
}

/// Creates a session for the job's statements.
fn own_session(context: &JobContext, engine: &Arc<Engine>) -> EngineResult<Session> {
    engine.session(SessionStart {
        user: "bennu".to_string(),
        parameters: vec![("application_name".to_string(), format!("job {}", context.job().id()))],
        ..SessionStart::default()
    })
}

/// Records the result of a refresh.
async fn note(context: &JobContext, done: EngineResult<()>) -> EngineResult<()> {
    let now = context.engine()?.now();
    let set = |record: &mut JobRecord| match &done {
        Ok(()) => {
            (record.error, record.detail, record.attempts) = (None, None, 0);
            record.position.clear();
        }
        Err(error) => {
            record.error = Some((error.code().to_string(), error.message().to_string()));
            record.detail = error.detail().map(str::to_string);
            record.attempts += 1;
            record.position = to_json(&Tried { at: now }).unwrap_or_default();
        }
    };
    context.save(Durability::Buffered, set).await
}
