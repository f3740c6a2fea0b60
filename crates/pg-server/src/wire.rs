//! A connection's socket and its buffers.
//!
//! The socket is watched while a statement runs, so that the resources of a disconnected client are freed.

use crate::backend::Output;
use crate::end::End;
use crate::frontend::{self, BadFrame, Message};
use crate::idle_poll::MessagePace;
use crate::socket::Asked;
use bytes::BytesMut;
use engine::{ClientFault, HeldMemory, Keepalive, LiveNotices};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The output buffer is flushed at this length.
const FLUSH_AT: usize = 64 * 1024;
/// A buffer larger than this is freed when the connection idles.
const KEEP: usize = 16 * 1024;
/// How long a running statement may go on after its session was asked to end: a commit under way is still answered.
pub(crate) const GRACE: Duration = Duration::from_millis(500);
/// How long the rest of a refused message is read.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(10);
/// Messages longer than this are reserved in the memory pool that queries share.
const LONG_MESSAGE: usize = 1024 * 1024;
/// Most input to read ahead while a statement runs.
const READ_AHEAD: usize = 256 * 1024;

/// Socket and buffers.
pub(crate) struct Wire {
    stream: TcpStream,
    /// Keepalive options of the socket.
    asked: Asked,
    /// Message timing of the worker thread.
    tide: Arc<MessagePace>,
    pub(crate) input: BytesMut,
    pub(crate) out: Output,
    /// Bytes of `out` that are sent: a flush may be cancelled halfway.
    sent: usize,
    /// Reservation for a long message. `None` before the session begins: startup packets are short.
    memory: Option<HeldMemory>,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, asked: Asked, tide: Arc<MessagePace>) -> Self {
        Self { stream, asked, tide, input: BytesMut::new(), out: Output::default(), sent: 0, memory: None }
    }

    /// Reserves long messages in `memory` from now on.
    pub(crate) fn reserve_messages_in(&mut self, memory: HeldMemory) {
        self.memory = Some(memory);
    }

    /// Reads more bytes into `input`.
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

    /// Reserves memory for an incomplete message: its buffer doubles as it grows. Refuses the message if memory is
    /// short.
    async fn hold_message(&mut self) -> Result<(), End> {
        let bytes = self.input.capacity().saturating_mul(2);
        if self.memory.as_ref().is_none_or(|memory| memory.try_resize(bytes).is_ok()) {
            return Ok(());
        }
        self.out.error("FATAL", &ClientFault::MessageMemory.into());
        let _ = tokio::time::timeout(GRACE, self.flush()).await;
        // Many clients read the error only after they have sent the whole message, and not if the connection is reset
        // before.
        let _ = tokio::time::timeout(DISCARD_TIMEOUT, self.discard()).await;
        Err(End::Memory)
    }

    /// Reads and discards input until the client is silent.
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

    /// Returns whether the next message is Sync, ignoring Close. Waits for that message: a client expects no response
    /// before it sends Sync or Flush.
    pub(crate) async fn sync_is_next(&mut self) -> Result<bool, End> {
        loop {
            if let Some(kind) = frontend::next_kind_except_close(&self.input) {
                return Ok(kind == b'S');
            }
            self.fill().await?;
        }
    }

    /// Sends the output buffer.
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

    /// Sets the keepalive options of the socket.
    pub(crate) fn ask(&mut self, wanted: Keepalive) {
        self.asked.update_keepalive(&self.stream, wanted);
    }

    /// Sends the output buffer if it is full.
    pub(crate) async fn flush_if_full(&mut self) -> Result<(), End> {
        if self.is_full() { self.flush().await } else { Ok(()) }
    }

    /// Returns whether the output buffer should be sent.
    pub(crate) fn is_full(&self) -> bool {
        self.out.buffer.len() >= FLUSH_AT
    }

    /// Like [`Self::watch`], and sends the notices that the statement raises while it runs.
    pub(crate) async fn watch_statement<T>(
        &mut self,
        live: &LiveNotices,
        mut work: impl Future<Output = T> + Unpin,
    ) -> Result<T, End> {
        loop {
            // Cancelling `watch` loses nothing: it only puts bytes into `input`.
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

    /// Waits for `work` and watches the socket. Fails when the client disconnects: the caller then drops `work`.
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

    /// Frees large buffers before the connection waits for its client.
    pub(crate) fn shrink(&mut self) {
        if self.input.is_empty() && self.input.capacity() > KEEP {
            self.input = BytesMut::new();
            if let Some(memory) = &self.memory {
                // Shrinking to zero cannot fail.
                let _ = memory.try_resize(0);
            }
        }
        if self.out.buffer.is_empty() && self.out.buffer.capacity() > KEEP {
            self.out.buffer = Vec::new();
        }
    }
}
