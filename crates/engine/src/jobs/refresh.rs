//! Refreshes a materialized view again and again: `WITH (refresh = '10 minutes')`.
//!
//! When it is to run follows from the view as the catalog has it: its interval, and when it was refreshed last, by whomever. A
//! refresh that fails is told in the record of the job, and is due again after the interval; the old rows stay.

use super::job::JobContext;
use super::kind::{JobKind, Outcome, to_json};
use crate::error::EngineResult;
use crate::{Engine, EngineError, Session, SessionStart};
use async_trait::async_trait;
use catalog::{JobRecord, Materialized, Table, TableOid};
use serde::{Deserialize, Serialize};
use sql::{ObjectName, RefreshMaterializedView};
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

/// When it was tried last, if that failed. Microseconds since 1970.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tried {
    pub(super) at: i64,
}

/// When to look again at a refresh that is due then; `None`: it is due. One that failed is due again after its interval.
pub(super) fn not_due(context: &JobContext, engine: &Engine, due: i64, every: i64) -> EngineResult<Option<Outcome>> {
    let tried: Option<Tried> = context.position()?;
    let due = due.max(tried.map_or(0, |tried| tried.at.saturating_add(every)));
    let wait = due.saturating_sub(engine.now());
    Ok((wait > 0).then(|| Outcome::Later(Duration::from_micros(wait.unsigned_abs()))))
}

/// See the module's head.
pub(super) struct Refresh;

#[async_trait]
impl JobKind for Refresh {
    async fn run(&self, context: &JobContext) -> EngineResult<Outcome> {
        let spec: RefreshSpec = context.spec()?;
        let engine = context.engine()?;
        let Some((table, view)) = find(&engine, &spec) else {
            return Ok(Outcome::Obsolete("the materialized view was dropped".to_string()));
        };
        let (Some(every), Some(due)) = (view.every.filter(|_| view.job == Some(context.job().id())), view.due()) else {
            return Ok(Outcome::Done);
        };
        if let Some(later) = not_due(context, &engine, due, every)? {
            return Ok(later);
        }
        context.phase("refreshing").await?;
        let schema = Some(engine.catalog().current().schema_name(&table).to_string());
        let name = ObjectName { database: None, schema, name: table.name.clone() };
        let session = own_session(context, &engine)?;
        drop(engine);
        let done = refresh(context, session, name).await;
        context.check()?;
        note(context, done).await?;
        Ok(Outcome::Later(Duration::ZERO))
    }

    /// The view stays as it is, and no job refreshes it any more.
    async fn undo(&self, context: &JobContext) -> EngineResult<()> {
        let spec: RefreshSpec = context.spec()?;
        let own = context.job().id();
        let change = |draft: &mut catalog::Draft| {
            let oid = TableOid(spec.view);
            let found = draft.catalog().table_by_oid(oid).and_then(|table| table.materialized.as_ref());
            match found.is_some_and(|view| view.job == Some(own)) {
                true => draft.change_materialized(oid, |view| (view.every, view.job) = (None, None)).map(drop),
                false => Ok(()),
            }
        };
        context.change_catalog(None::<&Tried>, change).await?;
        context.release();
        Ok(())
    }
}

fn find(engine: &crate::Engine, spec: &RefreshSpec) -> Option<(Arc<Table>, Materialized)> {
    let table = Arc::clone(engine.catalog().current().table_by_oid(TableOid(spec.view))?);
    let view = table.materialized.clone()?;
    Some((table, view))
}

async fn refresh(context: &JobContext, mut session: Session, name: ObjectName) -> EngineResult<()> {
    let key = (session.process_id(), session.secret());
    let statement = RefreshMaterializedView { name, concurrently: false, with_data: true };
    until_stopped(context, key, session.run_own(&statement)).await
}

/// Waits for a statement of a session of the job's own, which that process and secret name. When the job is to pause or to end
/// the statement is cancelled, and takes back what it did.
pub(super) async fn until_stopped(
    context: &JobContext,
    (process, secret): (i32, i32),
    work: impl Future<Output = EngineResult<()>>,
) -> EngineResult<()> {
    let mut work = pin!(work);
    let stopped = context.other_wish(super::job::Wish::Run);
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

/// A session for the job's statements.
pub(super) fn own_session(context: &JobContext, engine: &Arc<crate::Engine>) -> EngineResult<Session> {
    engine.session(SessionStart {
        user: "bennu".to_string(),
        parameters: vec![("application_name".to_string(), format!("job {}", context.job().id()))],
        ..SessionStart::default()
    })
}

/// What became of it.
pub(super) async fn note(context: &JobContext, done: EngineResult<()>) -> EngineResult<()> {
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

impl Session {
    /// A refresh as a statement of its own.
    async fn run_own(&mut self, refresh: &RefreshMaterializedView) -> EngineResult<()> {
        self.begin_statement();
        let done: Result<(), EngineError> = self.refresh_materialized_view(refresh).await;
        self.end_statement(done)
    }
}
