//! A connection's socket and its buffers.
//!
//! While a statement runs the socket is still watched, so that a client that vanished frees all it held.

use crate::backend::Output;
use crate::end::End;
use crate::frontend::{self, BadFrame, Message};
use crate::idle_poll::Tide;
use crate::socket::Asked;
use bytes::BytesMut;
use engine::{ClientFault, HeldMemory, Keepalive, LiveNotices};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The output buffer leaves when it is this long.
const FLUSH_AT: usize = 64 * 1024;
/// A buffer that grew beyond this is given back when the connection idles.
const KEEP: usize = 16 * 1024;
/// When a session is to end, what it does may still end itself this long: a commit under way gets its answer.
pub(crate) const GRACE: Duration = Duration::from_millis(500);
/// What a client sends behind a message that was refused is read for so long.
const DISCARDING: Duration = Duration::from_secs(10);
/// Messages that are longer than this are held of the memory that queries share.
const LONG_MESSAGE: usize = 1024 * 1024;
/// How far to read ahead while a statement runs.
const READ_AHEAD: usize = 256 * 1024;

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

    /// Has long messages held by `memory`.
    pub(crate) fn hold_messages_by(&mut self, memory: HeldMemory) {
        self.memory = Some(memory);
    }

    /// Reads more bytes.
    pub(crate) async fn fill(&mut self) -> Result<(), End> {
        self.input.reserve(4096);
        match self.stream.read_buf(&mut self.input).await? {
            0 => Err(End::Closed),
            _ => {
                self.tide.received();
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
        self.tide.answered();
        self.out.buffer.clear();
        self.sent = 0;
        if self.out.buffer.capacity() > FLUSH_AT * 4 {
            self.out.buffer = Vec::new();
        }
        Ok(())
    }

    /// The client is to be asked like this whether it is there.
    pub(crate) fn ask(&mut self, wanted: Keepalive) {
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
    pub(crate) fn shrink(&mut self) {
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
