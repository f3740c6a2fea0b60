//! COPY FROM STDIN and TO STDOUT: the engine reads and writes the lines, this moves the messages.

use crate::connection::{Connection, End, Failure};
use crate::frontend::Message;
use engine::{CopyIn, CopyOut};
use futures::StreamExt;

impl Connection {
    /// Feeds the client's data to `copy` until it ends it.
    pub(crate) async fn copy_in(&mut self, mut copy: Box<CopyIn>) -> Result<(), Failure> {
        self.asides();
        self.wire.out.copy_in(copy.columns, copy.binary);
        self.wire.flush().await?;
        loop {
            let message = match self.wire.message().await {
                Ok(message) => message,
                Err(Err(end)) => return Err(end.into()),
                Err(Ok(malformed)) if malformed.is_fatal() => return Err(End::Protocol.into()),
                Err(Ok(malformed)) => return Err(Failure::Front(malformed.code(), malformed.to_string())),
            };
            match message {
                // On an error the rest of the data is skipped: stray CopyData is ignored by the connection.
                Message::CopyData(data) => copy.feed(&data).await?,
                Message::CopyDone => break,
                Message::CopyFail(reason) => {
                    let message = format!("COPY from stdin failed: {reason}");
                    return Err(Failure::Front("57014", message));
                }
                // PostgreSQL ignores these too: libpq sends Sync early in the extended protocol.
                Message::Flush | Message::Sync => {}
                Message::Terminate => return Err(End::Closed.into()),
                other => {
                    let message = format!("unexpected message during COPY from stdin: {}", name(&other));
                    return Err(Failure::Front("08P01", message));
                }
            }
        }
        let tag = copy.finish(&mut self.session).await?;
        self.asides();
        self.wire.out.complete(&tag);
        Ok(())
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
        self.asides();
        self.wire.out.complete(&format!("COPY {}", copy.rows()));
        Ok(())
    }
}

fn name(message: &Message) -> &'static str {
    match message {
        Message::Query(_) => "Query",
        Message::Parse { .. } => "Parse",
        Message::Bind(_) => "Bind",
        Message::Describe(_) => "Describe",
        Message::Close(_) => "Close",
        Message::Execute { .. } => "Execute",
        _ => "message",
    }
}
