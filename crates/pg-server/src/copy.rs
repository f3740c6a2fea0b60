//! COPY FROM STDIN and TO STDOUT: the engine reads and writes the lines, this module moves the messages.

use crate::connection::Connection;
use crate::end::{End, Failure};
use crate::frontend::{BadFrame, Malformed, Message};
use engine::{ClientFault, CopyIn, CopyOut, EngineError};
use futures::StreamExt;

impl Connection {
    /// Feeds the client's data to `copy` until the client ends the COPY.
    pub(crate) async fn copy_in(&mut self, mut copy: Box<CopyIn>) -> Result<(), Failure> {
        self.write_side_effects();
        self.wire.out.copy_in(copy.columns, copy.binary);
        self.wire.flush().await?;
        loop {
            let message = match copy.wait(self.wire.message()).await? {
                Ok(message) => message,
                Err(Err(end)) => return Err(end.into()),
                Err(Ok(bad)) => match self.undecodable_in_copy(copy.place(), &bad).await {
                    Ok(()) => continue,
                    Err(failure) => return Err(failure),
                },
            };
            match message {
                // After an error the rest of the data is skipped: the connection ignores stray CopyData.
                Message::CopyData(data) => copy.feed(&data).await?,
                Message::CopyDone => break,
                Message::CopyFail(reason) => return Err(copy.abort(&mut self.session, &reason).into()),
                // PostgreSQL ignores these too: libpq sends Sync early in the extended protocol.
                Message::Flush | Message::Sync => {}
                Message::Terminate => return Err(End::Closed.into()),
                other => return Err(self.lose(copy.place(), kind(&other)).await),
            }
        }
        let tag = copy.finish(&mut self.session).await?;
        self.write_side_effects();
        self.wire.out.complete(&tag);
        Ok(())
    }

    /// Handles an undecodable message within a COPY. `Ok` for Flush and Sync, which a COPY ignores.
    async fn undecodable_in_copy(&mut self, place: String, bad: &BadFrame) -> Result<(), Failure> {
        match bad.kind {
            _ if matches!(bad.why, Malformed::Length(_)) => {
                self.wire.out.error("ERROR", &EngineError::from(bad.why.fault()).with_context(place));
                Err(self.desynchronized().await)
            }
            b'H' | b'S' => Ok(()),
            b'f' => Err(EngineError::from(bad.why.fault()).with_context(place).into()),
            kind => Err(self.lose(place, kind).await),
        }
    }

    /// Ends the connection after a message that is not allowed in a COPY: the following bytes may be data or messages.
    async fn lose(&mut self, place: String, kind: u8) -> Failure {
        let fault = ClientFault::Protocol(format!("unexpected message type 0x{kind:02X} during COPY from stdin"));
        self.wire.out.error("ERROR", &EngineError::from(fault).with_context(place));
        self.desynchronized().await
    }

    async fn desynchronized(&mut self) -> Failure {
        let message = "terminating connection because protocol synchronization was lost".to_string();
        self.wire.out.error("FATAL", &ClientFault::Protocol(message).into());
        let _ = self.wire.flush().await;
        End::Protocol.into()
    }

    /// Sends all lines of `copy`.
    pub(crate) async fn copy_out(&mut self, mut copy: CopyOut) -> Result<(), Failure> {
        self.wire.out.copy_out(copy.columns, copy.binary);
        while let Some(data) = self.wire.watch(copy.data.next()).await? {
            for row in data?.rows() {
                self.wire.out.copy_data(row);
            }
            self.wire.flush_if_full().await?;
        }
        self.wire.out.copy_done();
        self.write_side_effects();
        self.wire.out.complete(&format!("COPY {}", copy.rows()));
        Ok(())
    }
}

/// The type byte of a message.
fn kind(message: &Message) -> u8 {
    match message {
        Message::Query(_) => b'Q',
        Message::Parse { .. } => b'P',
        Message::Bind(_) => b'B',
        Message::Describe(_) => b'D',
        Message::Close(_) => b'C',
        Message::Execute { .. } => b'E',
        Message::FunctionCall => b'F',
        Message::Flush => b'H',
        Message::Sync => b'S',
        Message::CopyData(_) => b'd',
        Message::CopyDone => b'c',
        Message::CopyFail(_) => b'f',
        Message::Terminate => b'X',
    }
}
