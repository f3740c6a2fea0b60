//! Transactions as closures.

use crate::{Error, Session};
use engine::TransactionStatus;
use std::ops::{Deref, DerefMut};

/// A session inside a transaction that [`Session::transaction`] ends. It dereferences to the session.
#[derive(Debug)]
pub struct Transaction<'a> {
    session: &'a mut Session,
    /// Whether the transaction has not ended yet.
    open: bool,
}

impl Deref for Transaction<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.session
    }
}

impl DerefMut for Transaction<'_> {
    fn deref_mut(&mut self) -> &mut Session {
        self.session
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // Abandoned by a panic or a dropped future: the session's next call rolls it back.
        self.session.abandoned |= self.open;
    }
}

impl Session {
    /// Runs `work` in a transaction: commits if it returns `Ok`, and rolls back if it returns `Err` or is dropped
    /// before
    /// its end.
    ///
    /// ```
    /// # use bennu::{Bennu, Error};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// # let mut session = Bennu::in_memory().await?.session()?;
    /// session.execute("CREATE TABLE accounts (name text PRIMARY KEY, cents bigint)").await?;
    /// session.execute("INSERT INTO accounts VALUES ('a', 100), ('b', 0)").await?;
    /// let moved = session
    ///     .transaction(async |tx| {
    ///         tx.run("UPDATE accounts SET cents = cents - $1 WHERE name = 'a'", &[&30_i64]).await?;
    ///         tx.run("UPDATE accounts SET cents = cents + $1 WHERE name = 'b'", &[&30_i64]).await
    ///     })
    ///     .await?;
    /// assert_eq!(moved, 1);
    /// # let left: Option<(i64,)> = session.row("SELECT cents FROM accounts WHERE name = 'a'", &[]).await?;
    /// # assert_eq!(left, Some((70,)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The error of `work` or of the commit. 25001 inside another transaction.
    pub async fn transaction<T, E: From<Error>>(
        &mut self,
        work: impl AsyncFnOnce(&mut Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.begin().await?;
        let mut transaction = Transaction { session: self, open: true };
        let done = work(&mut transaction).await;
        transaction.open = false;
        drop(transaction);
        match done {
            Ok(value) => {
                self.commit().await?;
                Ok(value)
            }
            Err(error) => {
                self.execute("ROLLBACK").await?;
                Err(error)
            }
        }
    }

    /// Like [`Self::transaction`], and retries `work`, with `attempts` runs in all, while it fails with an error that
    /// [`Error::is_retryable`].
    ///
    /// # Errors
    /// The error of the last attempt.
    pub async fn transaction_retrying<T>(
        &mut self,
        attempts: usize,
        mut work: impl AsyncFnMut(&mut Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut left = attempts;
        loop {
            left = left.saturating_sub(1);
            match self.transaction(&mut work).await {
                Err(error) if error.is_retryable() && left > 0 => {}
                done => return done,
            }
        }
    }

    async fn begin(&mut self) -> Result<(), Error> {
        self.end_abandoned().await?;
        if self.inner.status() != TransactionStatus::Idle {
            return Err(Error::new("25001", "there is already a transaction in progress".into()));
        }
        self.execute("BEGIN").await.map(drop)
    }

    async fn commit(&mut self) -> Result<(), Error> {
        // In SQL, COMMIT of a failed transaction is a rollback without an error. Here that would hide the loss of the
        // writes.
        let failed = self.inner.status() == TransactionStatus::Failed;
        self.execute("COMMIT").await?;
        if failed {
            return Err(Error::new("25P02", "a statement of the transaction failed, so it was rolled back".into()));
        }
        Ok(())
    }

    /// Rolls back an abandoned transaction.
    pub(crate) async fn end_abandoned(&mut self) -> Result<(), Error> {
        if self.abandoned {
            self.abandoned = false;
            if self.inner.status() != TransactionStatus::Idle {
                self.execute_all("ROLLBACK").await?;
            }
        }
        Ok(())
    }
}
