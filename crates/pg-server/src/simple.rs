//! The simple query protocol: one string of statements, answered in order.

use crate::connection::Connection;
use crate::end::{End, Failure};
use crate::rows::RowSource;
use engine::{Answer, Script};
use std::pin::pin;

impl Connection {
    /// Runs all statements of `text`; several statements share one implicit transaction.
    pub(crate) async fn simple_query(&mut self, text: &str) -> Result<(), Failure> {
        self.extended.drop_unnamed();
        let done = self.run_text(text).await;
        if let Err(failure) = done {
            if let Failure::End(end) = failure {
                return Err(end.into());
            }
            if self.session.ending().is_asked() {
                return Err(End::Shutdown.into());
            }
            self.report(&failure);
            self.session.fail();
        }
        self.extended.end_of_transaction(self.session.status());
        Ok(self.ready().await?)
    }

    async fn run_text(&mut self, text: &str) -> Result<(), Failure> {
        let statements = self.session.parse(text)?;
        if statements.is_empty() {
            self.wire.out.empty_query();
            return Ok(());
        }
        if statements.len() == 1 {
            for statement in &statements {
                self.run_statement(statement).await?;
            }
            return Ok(());
        }
        let mut done = Ok(());
        for statement in &statements {
            self.session.begin_in_batch();
            done = self.run_statement(statement).await;
            if done.is_err() {
                break;
            }
        }
        self.session.end_batch(done.is_ok()).await?;
        done
    }

    async fn run_statement(&mut self, statement: &Script) -> Result<(), Failure> {
        if Box::pin(self.cursor_statement(statement)).await? {
            return Ok(());
        }
        let live = self.session.live_notices();
        let answer = {
            let run = pin!(self.session.run(statement));
            self.wire.watch_statement(&live, run).await??
        };
        self.answer(answer).await
    }

    /// Writes a whole answer in text format.
    async fn answer(&mut self, answer: Answer) -> Result<(), Failure> {
        match answer {
            Answer::Empty => self.wire.out.empty_query(),
            Answer::Done(tag) => {
                self.write_side_effects();
                self.wire.out.complete(&tag);
            }
            Answer::Rows(stream) => {
                let mut rows = RowSource::new(stream, self.session.time_zone(), None);
                self.wire.out.row_description(&rows.columns(), |_| 0);
                rows.send(&mut self.wire, &|_| false, 0).await?;
                self.write_side_effects();
                self.wire.out.complete_rows(rows.tag(), rows.sent());
            }
            Answer::CopyIn(copy) => Box::pin(self.copy_in(copy)).await?,
            Answer::CopyOut(copy) => Box::pin(self.copy_out(copy)).await?,
        }
        self.wire.flush_if_full().await.map_err(|end: End| end.into())
    }
}
