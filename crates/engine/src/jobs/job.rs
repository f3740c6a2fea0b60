//! One job: its record, its requested state, and the tasks that wait for it.

use super::kind::{from_json, to_json};
use crate::error::{EngineResult, Fault, fail};
use crate::threads::turn;
use crate::{Engine, EngineError};
use catalog::{JobRecord, JobState};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use store::Durability;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use types::interrupt::{Host, Interrupted};

/// The requested state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestedState {
    /// Run.
    Run,
    /// Pause.
    Pause,
    /// End, and undo all effects.
    Cancel,
}

/// A job.
#[derive(Debug)]
pub(crate) struct Job {
    /// Locked for one look-up or change, never across an await.
    record: Mutex<JobRecord>,
    /// Its error, with all fields that are sent to a client.
    failure: Mutex<Option<EngineError>>,
    /// Serializes writes of the record, so that the newest is written last. Held across the write.
    saving: tokio::sync::Mutex<()>,
    wish: watch::Sender<RequestedState>,
    /// The version of the record, for tasks that wait for a change.
    changed: watch::Sender<u64>,
    /// Wakes the job while it waits for a time.
    woken: Notify,
    /// Whether statements see no effects of the job any more, while it may still clean up.
    released: AtomicBool,
    closing: CancellationToken,
}

impl Job {
    pub(super) fn new(record: JobRecord, closing: CancellationToken) -> Self {
        let wish = if record.state == JobState::Paused { RequestedState::Pause } else { RequestedState::Run };
        Self {
            changed: watch::Sender::new(record.version),
            record: Mutex::new(record),
            failure: Mutex::default(),
            saving: tokio::sync::Mutex::default(),
            wish: watch::Sender::new(wish),
            woken: Notify::new(),
            released: AtomicBool::new(false),
            closing,
        }
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.record.lock().id
    }

    /// Its current record.
    pub(crate) fn record(&self) -> JobRecord {
        self.record.lock().clone()
    }

    /// Its error, if it failed.
    pub(super) fn failure(&self) -> Option<EngineError> {
        self.failure.lock().clone()
    }

    pub(super) fn fail_with(&self, error: EngineError) {
        *self.failure.lock() = Some(error);
    }

    /// Requests a state.
    pub(super) fn wish(&self, wish: RequestedState) {
        self.wish.send_replace(wish);
    }

    /// Stops the job until the next start, and reports the error to those that wait for it. Its record in the store
    /// is unchanged.
    pub(super) fn stop_until_restart(&self, error: EngineError) {
        let told = Some((error.code().to_string(), error.message().to_string()));
        self.fail_with(error);
        let record = self.change(|record| (record.state, record.error) = (JobState::Failed, told));
        self.tell(record.version);
    }

    pub(super) fn wished(&self) -> RequestedState {
        *self.wish.borrow()
    }

    /// Wakes the job, because the time for which it waits may have changed.
    pub(super) fn look_again(&self) {
        self.woken.notify_one();
    }

    /// Completes after `time`, or when the job is woken.
    pub(super) async fn rested(&self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = self.woken.notified() => {}
        }
    }

    /// Completes when the version of its record differs from `version`.
    pub(super) async fn changed_since(&self, version: u64) {
        // Cannot fail: the job owns the sender.
        let _ = self.changed.subscribe().wait_for(|now| *now != version).await;
    }

    /// Completes when the job is final.
    pub(super) async fn ended(&self) {
        loop {
            let record = self.record();
            if record.state.is_final() {
                return;
            }
            self.changed_since(record.version).await;
        }
    }

    /// Whether the job is final, or statements see no effects of it any more.
    pub(super) fn is_released(&self) -> bool {
        self.released.load(Ordering::Acquire) || self.record.lock().state.is_final()
    }

    /// Whether the engine is being closed.
    pub(super) fn is_closing(&self) -> bool {
        self.closing.is_cancelled()
    }

    fn change(&self, change: impl FnOnce(&mut JobRecord)) -> JobRecord {
        let mut record = self.record.lock();
        change(&mut record);
        record.version += 1;
        record.clone()
    }

    fn tell(&self, version: u64) {
        self.changed.send_replace(version);
    }
}

/// What a job kind works with.
#[derive(Clone, Debug)]
pub(crate) struct JobContext {
    engine: Weak<Engine>,
    job: Arc<Job>,
}

impl JobContext {
    pub(super) fn new(engine: &Arc<Engine>, job: Arc<Job>) -> Self {
        Self { engine: Arc::downgrade(engine), job }
    }

    pub(crate) fn job(&self) -> &Arc<Job> {
        &self.job
    }

    /// The engine. Callers keep it for one step only.
    ///
    /// # Errors
    /// 57P01 if the engine is dropped or being closed.
    pub(crate) fn engine(&self) -> EngineResult<Arc<Engine>> {
        match self.engine.upgrade() {
            Some(engine) if !self.job.is_closing() => Ok(engine),
            _ => Err(Fault::ShuttingDown.into()),
        }
    }

    /// Checks whether a run may continue.
    ///
    /// # Errors
    /// 57014 if the job is to pause or to be cancelled; 57P01.
    pub(crate) fn check(&self) -> EngineResult<()> {
        if self.job.is_closing() {
            return Err(Fault::ShuttingDown.into());
        }
        match self.job.wished() {
            RequestedState::Run => Ok(()),
            RequestedState::Pause | RequestedState::Cancel => fail(Fault::Canceled),
        }
    }

    /// Waits for `work` while the run may continue.
    ///
    /// # Errors
    /// Errors of [`Self::check`] and of `work`.
    pub(crate) async fn stoppable<T>(&self, work: impl Future<Output = EngineResult<T>>) -> EngineResult<T> {
        self.check()?;
        tokio::select! {
            biased;
            done = work => done,
            () = self.requested_other(RequestedState::Run) => self.check().and(fail(Fault::Canceled)),
        }
    }

    /// Waits for `work` while the engine is open, whatever state is requested.
    ///
    /// # Errors
    /// 57P01; errors of `work`.
    pub(crate) async fn while_open<T>(&self, work: impl Future<Output = EngineResult<T>>) -> EngineResult<T> {
        tokio::select! {
            biased;
            done = work => done,
            () = self.job.closing.cancelled() => Err(Fault::ShuttingDown.into()),
        }
    }

    /// Completes when a state other than `than` is requested, or the engine is being closed.
    pub(super) async fn requested_other(&self, than: RequestedState) {
        let mut wish = self.job.wish.subscribe();
        tokio::select! {
            _ = wish.wait_for(|wish| *wish != than) => {}
            () = self.job.closing.cancelled() => {}
        }
    }

    /// The specification of the job.
    ///
    /// # Errors
    /// A record of another kind.
    pub(crate) fn spec<T: DeserializeOwned>(&self) -> EngineResult<T> {
        from_json(&self.job.record.lock().spec)
    }

    /// The position of the job; `None` at the start.
    ///
    /// # Errors
    /// As [`Self::spec`].
    pub(crate) fn position<T: DeserializeOwned>(&self) -> EngineResult<Option<T>> {
        let position = self.job.record.lock().position.clone();
        if position.is_empty() { Ok(None) } else { from_json(&position).map(Some) }
    }

    /// Changes the record and writes it.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn save(&self, durability: Durability, change: impl FnOnce(&mut JobRecord)) -> EngineResult<()> {
        let engine = self.engine()?;
        let _turn = self.job.saving.lock().await;
        let record = self.job.change(change);
        let written = engine.catalog().write_job(&record, durability).await;
        self.job.tell(record.version);
        Ok(written?)
    }

    /// Sets the phase of the job.
    ///
    /// # Errors
    /// As [`Self::save`].
    pub(crate) async fn phase(&self, phase: &str) -> EngineResult<()> {
        if self.job.record.lock().phase == phase {
            return Ok(());
        }
        self.save(Durability::Buffered, |record| record.phase = phase.to_string()).await
    }

    /// Changes the catalog and the position atomically. `change` may run again.
    ///
    /// # Errors
    /// Errors of the change and of the store.
    pub(crate) async fn change_catalog<T>(
        &self,
        position: Option<&impl Serialize>,
        change: impl FnOnce(&mut catalog::Draft) -> catalog::CatalogResult<T>,
    ) -> EngineResult<T> {
        let engine = self.engine()?;
        let position = position.map(to_json).transpose()?;
        let _turn = self.job.saving.lock().await;
        let mut record = self.job.record();
        record.version += 1;
        if let Some(position) = &position {
            record.position.clone_from(position);
        }
        let kept = record.clone();
        let catalog_turn = engine.catalog().turn().await;
        let done = engine
            .catalog()
            .change_in(catalog_turn, |draft| {
                let done = change(draft)?;
                draft.put_job(kept);
                Ok(done)
            })
            .await?;
        let version = record.version;
        *self.job.record.lock() = record;
        self.job.tell(version);
        Ok(done)
    }

    /// Notes that statements see no effects of the job any more.
    pub(crate) fn release(&self) {
        self.job.released.store(true, Ordering::Release);
        let record = self.job.change(|_| {});
        self.job.tell(record.version);
    }
}

/// Stops computations of a job that is to pause or end, or whose engine is being closed.
#[derive(Debug)]
pub(super) struct JobHost(pub(super) Arc<Job>);

impl JobHost {
    fn is_stopped(&self) -> bool {
        let undoing = self.0.record.lock().state == JobState::Cancelling;
        self.0.is_closing() || (self.0.wished() != RequestedState::Run && !undoing)
    }
}

impl Host for JobHost {
    fn go_on(&self) -> Result<(), Interrupted> {
        turn::give_way();
        if self.is_stopped() { Err(Interrupted) } else { Ok(()) }
    }

    fn before_long_step(&self) -> Result<(), Interrupted> {
        self.go_on()?;
        turn::leave();
        Ok(())
    }

    fn pause(&self) -> Result<bool, Interrupted> {
        if self.is_stopped() { Err(Interrupted) } else { Ok(turn::is_over()) }
    }
}
