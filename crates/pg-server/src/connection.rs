//! One client connection: its session, and the messages it answers.
//!
//! Responses collect in the output buffer and leave in one write per Sync, or when the buffer is full. `wire.rs` has
//! the socket and the buffers.

use crate::end::{End, Failure};
use crate::extended::Extended;
use crate::frontend::{self, BadFrame, Message};
use crate::wire::{GRACE, Wire};
use engine::{ClientFault, IdleLimit, Session, SessionEnd};
use std::pin::pin;
use tokio_util::sync::CancellationToken;

/// A connection whose session has begun.
pub(crate) struct Connection {
    pub(crate) wire: Wire,
    pub(crate) session: Session,
    pub(crate) extended: Extended,
    /// Whether messages up to the next Sync are skipped, after an error in the extended protocol.
    skipping: bool,
    /// Whether ReadyForQuery was sent and no message has come since.
    rests: bool,
}

impl Connection {
    pub(crate) fn new(mut wire: Wire, session: Session) -> Self {
        wire.reserve_messages_in(session.hold("a message of a client"));
        wire.ask(session.keepalive());
        Self { wire, session, extended: Extended::default(), skipping: false, rests: true }
    }

    /// Serves the session until it ends; `stop` is cancelled when the server stops.
    pub(crate) async fn serve(&mut self, stop: &CancellationToken) -> End {
        let ending = self.session.ending();
        // Created once: creating these futures for every message costs as much as reading the message.
        let mut asked = pin!(ending.asked());
        let mut stopped = pin!(stop.cancelled());
        loop {
            let message = match frontend::message(&mut self.wire.input).transpose() {
                Some(message) => message.map_err(Ok),
                None => {
                    self.wire.shrink();
                    let limit = self.session.idle_limit().filter(|_| self.rests);
                    tokio::select! {
                        biased;
                        () = &mut asked => return self.shut_down().await,
                        message = self.wire.message() => message,
                        () = idle(limit.as_ref()) => return self.idled(limit).await,
                        () = &mut stopped => return self.shut_down().await,
                    }
                }
            };
            self.rests = false;
            let done = match message {
                Ok(Message::Terminate) => return End::Closed,
                Ok(message) => tokio::select! {
                    biased;
                    done = self.handle(message) => done,
                    () = overdue(&ending, stop) => Err(End::Shutdown.into()),
                },
                Err(Err(end)) => return end,
                Err(Ok(bad)) => self.broken(&bad).await,
            };
            match self.finish_message(done).await {
                Ok(()) => {}
                Err(End::Shutdown) => return self.shut_down().await,
                Err(end) => return end,
            }
        }
    }

    /// Ends a session that was idle for longer than its settings allow.
    async fn idled(&mut self, limit: Option<IdleLimit>) -> End {
        if let Some(limit) = limit {
            self.wire.out.error("FATAL", &limit.fault.into());
        }
        let _ = tokio::time::timeout(GRACE, self.wire.flush()).await;
        End::Idle
    }

    async fn shut_down(&mut self) -> End {
        self.wire.out.error("FATAL", &ClientFault::Shutdown.into());
        // A client that does not read is not waited for.
        let _ = tokio::time::timeout(GRACE, self.wire.flush()).await;
        End::Shutdown
    }

    /// Handles an undecodable message: it fails like the statement in it would, or ends the session if it is fatal.
    async fn broken(&mut self, bad: &BadFrame) -> Result<(), Failure> {
        if bad.why.is_fatal() {
            self.wire.out.error("FATAL", &bad.why.fault().into());
            let _ = self.wire.flush().await;
            tracing::debug!(message = %bad.why, "a client broke the protocol");
            return Err(End::Protocol.into());
        }
        if bad.is_copy() || (self.skipping && bad.kind != b'S') {
            return Ok(());
        }
        let failure = Failure::from(bad.why.fault());
        if !bad.expects_ready_for_query() {
            return Err(failure);
        }
        self.report(&failure);
        self.session.fail();
        self.sync().await
    }

    async fn handle(&mut self, message: Message) -> Result<(), Failure> {
        match message {
            Message::Sync => self.sync().await,
            _ if self.skipping => Ok(()),
            Message::Query(text) => self.simple_query(&text).await,
            Message::Parse { name, text, types } => self.parse(name, text, types).await,
            Message::Bind(bind) => self.bind(bind),
            Message::Describe(target) => self.describe(&target),
            Message::Close(target) => {
                self.close(&target);
                Ok(())
            }
            Message::Execute { portal, max_rows } => self.execute(&portal, max_rows).await,
            Message::Flush => Ok(self.wire.flush().await?),
            Message::FunctionCall => Ok(self.refuse_function_call().await?),
            // Left over from a failed COPY: PostgreSQL ignores them too.
            Message::CopyData(_) | Message::CopyDone | Message::CopyFail(_) | Message::Terminate => Ok(()),
        }
    }

    /// Ends with ReadyForQuery like a simple query, as in PostgreSQL.
    async fn refuse_function_call(&mut self) -> Result<(), End> {
        let what = "calls of functions by their numbers (FunctionCall) are".to_owned();
        self.report(&ClientFault::Unsupported(what).into());
        self.session.fail();
        self.ready().await
    }

    /// Reports an error to the client; in the extended protocol the messages up to Sync are then skipped.
    async fn finish_message(&mut self, done: Result<(), Failure>) -> Result<(), End> {
        match done {
            Ok(()) => Ok(()),
            Err(Failure::End(end)) => Err(end),
            // The statement failed because the session ends: the shutdown is reported instead.
            Err(_) if self.session.ending().is_asked() => Err(End::Shutdown),
            Err(failure) => {
                self.report(&failure);
                self.session.fail();
                self.skipping = true;
                // Flushed at once: a Flush that the client sent behind this message is skipped.
                self.wire.flush().await
            }
        }
    }

    /// Writes an ErrorResponse.
    pub(crate) fn report(&mut self, failure: &Failure) {
        match failure {
            Failure::Statement(error) => self.wire.out.error("ERROR", error),
            Failure::End(_) => {}
        }
    }

    async fn sync(&mut self) -> Result<(), Failure> {
        self.skipping = false;
        let ended = self.session.sync().await;
        if let Err(error) = ended {
            self.wire.out.error("ERROR", &error);
        }
        self.extended.end_of_transaction(self.session.status());
        self.ready().await?;
        Ok(())
    }

    /// Applies and writes the side effects of the last statement: closed portals, notices and changed settings.
    pub(crate) fn write_side_effects(&mut self) {
        if let Some(last) = self.session.take_undone_portals() {
            self.extended.undo(last);
        }
        for notice in self.session.take_notices() {
            self.wire.out.notice(&notice);
        }
        for (name, value) in self.session.take_changed_parameters() {
            self.wire.out.parameter_status(name, &value);
        }
    }

    /// Sends ReadyForQuery.
    pub(crate) async fn ready(&mut self) -> Result<(), End> {
        self.write_side_effects();
        self.wire.ask(self.session.keepalive());
        self.rests = true;
        self.wire.out.ready(self.session.status());
        self.wire.flush().await
    }
}

/// Completes when the idle limit has passed; never without a limit.
async fn idle(limit: Option<&IdleLimit>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit.time).await,
        None => std::future::pending().await,
    }
}

/// Asks the session to end when `stop` is cancelled, and completes when the running statement has had its grace period.
async fn overdue(ending: &SessionEnd, stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => ending.ask(),
        () = ending.asked() => {}
    }
    tokio::time::sleep(GRACE).await;
}
