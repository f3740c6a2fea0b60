//! Runs a text of statements and shows each answer.

use super::print;
use bennu::{Answer, Error, Session};
use futures::StreamExt;
use std::io::Write;

/// A session with what the shell keeps about it.
pub(crate) struct Runner {
    session: Session,
}

impl Runner {
    pub(crate) fn new(session: Session) -> Self {
        Self { session }
    }

    /// Runs all statements of `text`; false when one failed, which ends the text.
    pub(crate) async fn run(&mut self, text: &str) -> bool {
        match self.try_run(text).await {
            Ok(()) => true,
            Err(error) => {
                print::error(text, &error);
                false
            }
        }
    }

    async fn try_run(&mut self, text: &str) -> Result<(), Error> {
        for statement in self.session.inner().parse(text)? {
            let answer = self.session.inner().run(&statement).await?;
            self.show(answer).await?;
            for notice in self.session.inner().take_notices() {
                let _ = writeln!(std::io::stderr(), "{}:  {}", notice.severity, notice.message);
            }
        }
        Ok(())
    }

    async fn show(&mut self, answer: Answer) -> Result<(), Error> {
        let mut out = std::io::stdout().lock();
        match answer {
            Answer::Empty => {}
            Answer::Done(tag) => print::line(&mut out, &tag),
            Answer::Rows(mut rows) => {
                let mut table = print::Table::new(&rows.columns);
                while let Some(chunk) = rows.chunks.next().await {
                    table.add(&chunk?)?;
                }
                table.print(&mut out);
            }
            Answer::CopyOut(mut copy) => {
                while let Some(data) = copy.data.next().await {
                    let _ = out.write_all(&data?);
                }
                print::line(&mut out, &format!("COPY {}", copy.rows()));
            }
            Answer::CopyIn(mut copy) => {
                // Lines follow on standard input, up to `\.` or its end, as in psql.
                for line in std::io::stdin().lines() {
                    let Ok(line) = line else { break };
                    if line == "\\." {
                        break;
                    }
                    copy.feed(line.as_bytes()).await?;
                    copy.feed(b"\n").await?;
                }
                let tag = copy.finish(self.session.inner()).await?;
                print::line(&mut out, &tag);
            }
        }
        Ok(())
    }
}
