//! One client connection: its socket, its buffers and its session.
//!
//! Answers collect in the output buffer and leave in one write per Sync (or when the buffer is full).
//! While a statement runs the socket is still watched, so that a client that vanished frees all it held.

use crate::backend::Output;
use crate::extended::Extended;
use crate::frontend::{self, BadFrame, Message};
use crate::idle_poll::Tide;
use crate::socket::Asked;
use bytes::BytesMut;
use engine::{ClientFault, EngineError, HeldMemory, IdleLimit, Keepalive, LiveNotices, Session, SessionEnd};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

/// The output buffer leaves when it is this long.
const FLUSH_AT: usize = 64 * 1024;
/// A buffer that grew beyond this is given back when the connection idles.
const KEEP: usize = 16 * 1024;
/// When a session is to end, what it does may still end itself this long: a commit under way gets its answer.
const GRACE: Duration = Duration::from_millis(500);
/// What a client sends behind a message that was refused is read for so long.
const DISCARDING: Duration = Duration::from_secs(10);
/// Messages that are longer than this are held of the memory that queries share.
const LONG_MESSAGE: usize = 1024 * 1024;
/// How far to read ahead while a statement runs.
const READ_AHEAD: usize = 256 * 1024;

/// Why a connection ends.
#[derive(Debug)]
pub(crate) enum End {
    /// The client said so or is gone, or the socket failed.
    Closed,
    /// The server stops, or another session ended this one.
    Shutdown,
    /// The client broke the protocol beyond repair.
    Protocol,
    /// The client was silent for too long.
    Idle,
    /// There is no memory for its message, and it was told.
    Memory,
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        Self::Closed
    }
}

/// A failed statement: the session goes on, or the connection ends.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Told to the client.
    Statement(EngineError),
    /// Not told to anybody.
    End(End),
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Statement(error)
    }
}

impl From<ClientFault> for Failure {
    fn from(fault: ClientFault) -> Self {
        Self::Statement(fault.into())
    }
}

impl From<End> for Failure {
    fn from(end: End) -> Self {
        Self::End(end)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::End(error.into())
    }
}

/// Socket and buffers.
pub(crate) struct Wire {
    stream: TcpStream,
    /// When the client is asked whether it is there.
    asked: Asked,
    /// Of its thread.
    tide: Arc<Tide>,
    pub(crate) input: BytesMut,
    pub(crate) out: Output,
    /// Bytes of `out` that have left: a flush may be given up in the middle.
    sent: usize,
    /// For a long message; there is none before the session begins, when none is long.
    memory: Option<HeldMemory>,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, asked: Asked, tide: Arc<Tide>) -> Self {
        Self { stream, asked, tide, input: BytesMut::new(), out: Output::default(), sent: 0, memory: None }
    }

    /// Reads more bytes.
    pub(crate) async fn fill(&mut self) -> Result<(), End> {
        self.input.reserve(4096);
        match self.stream.read_buf(&mut self.input).await? {
            0 => Err(End::Closed),
            _ => {
                self.tide.note();
                if self.input.len() > LONG_MESSAGE { self.hold_message().await } else { Ok(()) }
            }
        }
    }

    /// Holds a message that is not there whole: its buffer doubles as it grows.
    async fn hold_message(&mut self) -> Result<(), End> {
        let bytes = self.input.capacity().saturating_mul(2);
        if self.memory.as_ref().is_none_or(|memory| memory.try_resize(bytes).is_ok()) {
            return Ok(());
        }
        self.out.error("FATAL", &ClientFault::MessageMemory.into());
        let _ = tokio::time::timeout(GRACE, self.flush()).await;
        // Many clients read an answer only behind their message, and none where the connection breaks before.
        let _ = tokio::time::timeout(DISCARDING, self.discard()).await;
        Err(End::Memory)
    }

    /// Reads what comes until the client is silent, and keeps nothing of it.
    async fn discard(&mut self) {
        self.input = BytesMut::with_capacity(KEEP);
        let _ = self.memory.as_ref().map(|memory| memory.try_resize(0));
        while let Ok(Ok(1..)) = tokio::time::timeout(GRACE, self.stream.read_buf(&mut self.input)).await {
            self.input.clear();
        }
    }

    /// The next message, reading as needed.
    pub(crate) async fn message(&mut self) -> Result<Message, Result<BadFrame, End>> {
        loop {
            match frontend::message(&mut self.input) {
                Ok(Some(message)) => return Ok(message),
                Ok(None) => self.fill().await.map_err(Err)?,
                Err(bad) => return Err(Ok(bad)),
            }
        }
    }

    /// Does Sync come next? Waits for the message: until a client sends Sync or Flush it expects no answer. Closing
    /// portals in between makes no difference.
    pub(crate) async fn sync_is_next(&mut self) -> Result<bool, End> {
        loop {
            if let Some(kind) = frontend::next_but_close(&self.input) {
                return Ok(kind == b'S');
            }
            self.fill().await?;
        }
    }

    /// Sends what has collected.
    pub(crate) async fn flush(&mut self) -> Result<(), End> {
        while let Some(rest) = self.out.buffer.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest).await? {
                0 => return Err(End::Closed),
                count => self.sent += count,
            }
        }
        self.out.buffer.clear();
        self.sent = 0;
        if self.out.buffer.capacity() > FLUSH_AT * 4 {
            self.out.buffer = Vec::new();
        }
        Ok(())
    }

    /// The client is to be asked like this whether it is there.
    fn ask(&mut self, wanted: Keepalive) {
        self.asked.become_as(&self.stream, wanted);
    }

    /// Sends what has collected if it is much.
    pub(crate) async fn flush_if_full(&mut self) -> Result<(), End> {
        if self.is_full() { self.flush().await } else { Ok(()) }
    }

    /// Is so much written that it should be sent?
    pub(crate) fn is_full(&self) -> bool {
        self.out.buffer.len() >= FLUSH_AT
    }

    /// As [`Self::watch`], and sends what the statement tells meanwhile.
    pub(crate) async fn watch_statement<T>(
        &mut self,
        live: &LiveNotices,
        mut work: impl Future<Output = T> + Unpin,
    ) -> Result<T, End> {
        loop {
            // Dropping what watches is fine: it keeps nothing but bytes that it has put into the input.
            let told = tokio::select! {
                biased;
                done = self.watch(&mut work) => return done,
                () = live.arrived() => live.take(),
            };
            for notice in told {
                self.out.notice(&notice);
            }
            self.flush().await?;
        }
    }

    /// Waits for `work` and watches the client meanwhile: when it goes, `work` is to be dropped.
    pub(crate) async fn watch<T>(&mut self, mut work: impl Future<Output = T> + Unpin) -> Result<T, End> {
        loop {
            if self.input.len() >= READ_AHEAD {
                return Ok(work.await);
            }
            self.input.reserve(1024);
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                read = self.stream.read_buf(&mut self.input) => if read? == 0 {
                    return Err(End::Closed);
                },
            }
        }
    }

    /// Gives large buffers back before the connection waits for its client.
    fn shrink(&mut self) {
        if self.input.is_empty() && self.input.capacity() > KEEP {
            self.input = BytesMut::new();
            if let Some(memory) = &self.memory {
                // Nothing is given back only where nothing was held.
                let _ = memory.try_resize(0);
            }
        }
        if self.out.buffer.is_empty() && self.out.buffer.capacity() > KEEP {
            self.out.buffer = Vec::new();
        }
    }
}

/// A connection whose session has begun.
pub(crate) struct Connection {
    pub(crate) wire: Wire,
    pub(crate) session: Session,
    pub(crate) extended: Extended,
    /// After an error in the extended protocol everything up to Sync is skipped.
    skipping: bool,
    /// The client was told that it may speak, and has not yet.
    rests: bool,
}

impl Connection {
    pub(crate) fn new(mut wire: Wire, session: Session) -> Self {
        wire.memory = Some(session.hold("a message of a client"));
        wire.ask(session.keepalive());
        Self { wire, session, extended: Extended::default(), skipping: false, rests: true }
    }

    /// Serves the session until it ends; `stop` is cancelled when the server stops.
    pub(crate) async fn serve(&mut self, stop: &CancellationToken) -> End {
        let ending = self.session.ending();
        // Made once: to ask for them anew with each message takes as long as to read the message.
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

    /// The client was silent for longer than its settings allow.
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

    /// A message that cannot be read: it fails as the statement would that it brings, or the session ends.
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
        if !bad.ends_round() {
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
            // Left over from a COPY that failed: PostgreSQL ignores them too.
            Message::CopyData(_) | Message::CopyDone | Message::CopyFail(_) | Message::Terminate => Ok(()),
        }
    }

    /// Like a simple query it ends with ReadyForQuery, also in PostgreSQL.
    async fn refuse_function_call(&mut self) -> Result<(), End> {
        let what = "calls of functions by their numbers (FunctionCall) are".to_owned();
        self.report(&ClientFault::Unsupported(what).into());
        self.session.fail();
        self.ready().await
    }

    /// Tells the client of an error; in the extended protocol the rest up to Sync is skipped.
    async fn finish_message(&mut self, done: Result<(), Failure>) -> Result<(), End> {
        match done {
            Ok(()) => Ok(()),
            Err(Failure::End(end)) => Err(end),
            // It fails because the session ends: that is told instead.
            Err(_) if self.session.ending().is_asked() => Err(End::Shutdown),
            Err(failure) => {
                self.report(&failure);
                self.session.fail();
                self.skipping = true;
                // At once: the Flush that a client waits for is among what is skipped.
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

    /// What the last statement left: portals that it ended, notices and changed settings.
    pub(crate) fn asides(&mut self) {
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

    /// Ends a round: the client may speak again.
    pub(crate) async fn ready(&mut self) -> Result<(), End> {
        self.asides();
        self.wire.ask(self.session.keepalive());
        self.rests = true;
        self.wire.out.ready(self.session.status());
        self.wire.flush().await
    }
}

/// Completes when a client has been silent for that long.
async fn idle(limit: Option<&IdleLimit>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit.time).await,
        None => std::future::pending().await,
    }
}

/// Completes when the session is to end and what runs has had its time. It is told before.
async fn overdue(ending: &SessionEnd, stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => ending.ask(),
        () = ending.asked() => {}
    }
    tokio::time::sleep(GRACE).await;
}
