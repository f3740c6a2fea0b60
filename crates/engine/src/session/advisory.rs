//! pg_advisory_lock() and related functions; see `txn::AdvisoryLocks`.
//!
//! Functions that wait for a lock are asynchronous, so cancellation and timeouts apply while they wait.

use crate::error::EngineResult;
use crate::session::live_notices::LiveNotices;
use crate::session::running::Entry;
use crate::settings::Effective;
use crate::{Answer, EngineError, Notice, Session};
use arrow::array::{ArrayRef, AsArray, BooleanArray, StringArray};
use arrow::datatypes::{DataType as ArrowType, Int32Type, Int64Type};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::async_udf::{AsyncScalarUDF, AsyncScalarUDFImpl};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use query::QueryError;
use query::Settings as _;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use txn::{AdvisoryKey, AdvisoryLevel, AdvisoryLocks, AdvisoryMark, LockMode, LockTable};

/// The advisory lock functions for one statement.
#[derive(Debug)]
pub(crate) struct AdvisoryFunctions {
    entry: Arc<Entry>,
    table: Arc<LockTable>,
    settings: Arc<Effective>,
    notices: Arc<LiveNotices>,
}

impl AdvisoryFunctions {
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            entry: Arc::clone(&session.entry),
            table: Arc::clone(session.engine.locks()),
            settings: Arc::clone(session.settings.effective()),
            notices: session.live_notices(),
        }
    }

    /// The function of that name.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        let (act, mode, level) = action(name)?;
        let function = AdvisoryFunction {
            name: name.to_string(),
            act,
            mode,
            level,
            signature: Signature::one_of(act.signatures(), Volatility::Volatile),
            locks: Arc::clone(self.entry.advisory(&self.table)),
            settings: Arc::clone(&self.settings),
            notices: Arc::clone(&self.notices),
        };
        Some(match act {
            Act::Lock => Arc::new(AsyncScalarUDF::new(Arc::new(function)).into_scalar_udf()),
            Act::TryLock | Act::Unlock | Act::UnlockAll => Arc::new(ScalarUDF::new_from_impl(function)),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Act {
    Lock,
    TryLock,
    Unlock,
    UnlockAll,
}

impl Act {
    fn signatures(self) -> Vec<TypeSignature> {
        match self {
            Self::UnlockAll => vec![TypeSignature::Nullary],
            _ => vec![
                TypeSignature::Exact(vec![ArrowType::Int64]),
                TypeSignature::Exact(vec![ArrowType::Int32, ArrowType::Int32]),
            ],
        }
    }
}

/// The operation of the function with that name.
fn action(name: &str) -> Option<(Act, LockMode, AdvisoryLevel)> {
    use AdvisoryLevel::{Session, Transaction};
    use LockMode::{Exclusive, Shared};
    Some(match name {
        "pg_advisory_lock" => (Act::Lock, Exclusive, Session),
        "pg_advisory_lock_shared" => (Act::Lock, Shared, Session),
        "pg_advisory_xact_lock" => (Act::Lock, Exclusive, Transaction),
        "pg_advisory_xact_lock_shared" => (Act::Lock, Shared, Transaction),
        "pg_try_advisory_lock" => (Act::TryLock, Exclusive, Session),
        "pg_try_advisory_lock_shared" => (Act::TryLock, Shared, Session),
        "pg_try_advisory_xact_lock" => (Act::TryLock, Exclusive, Transaction),
        "pg_try_advisory_xact_lock_shared" => (Act::TryLock, Shared, Transaction),
        "pg_advisory_unlock" => (Act::Unlock, Exclusive, Session),
        "pg_advisory_unlock_shared" => (Act::Unlock, Shared, Session),
        "pg_advisory_unlock_all" => (Act::UnlockAll, Exclusive, Session),
        _ => return None,
    })
}

struct AdvisoryFunction {
    name: String,
    act: Act,
    mode: LockMode,
    level: AdvisoryLevel,
    signature: Signature,
    locks: Arc<AdvisoryLocks>,
    settings: Arc<Effective>,
    notices: Arc<LiveNotices>,
}

impl std::fmt::Debug for AdvisoryFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdvisoryFunction").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for AdvisoryFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.locks, &other.locks)
    }
}

impl Eq for AdvisoryFunction {}

impl Hash for AdvisoryFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for AdvisoryFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Functions of type void in PostgreSQL return an empty text; the others return whether they succeeded.
    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(match self.act {
            Act::Lock | Act::UnlockAll => ArrowType::Utf8,
            Act::TryLock | Act::Unlock => ArrowType::Boolean,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        if self.act == Act::UnlockAll {
            self.locks.release(AdvisoryLevel::Session);
            return Ok(ColumnarValue::Array(Arc::new(StringArray::from(vec![""; args.number_rows]))));
        }
        let done = keys(args)?.into_iter().map(|key| key.map(|key| self.attempt(key)));
        Ok(ColumnarValue::Array(Arc::new(done.collect::<BooleanArray>())))
    }
}

impl AdvisoryFunction {
    /// Tries to lock, or unlocks. Does not wait.
    fn attempt(&self, key: AdvisoryKey) -> bool {
        if self.act == Act::TryLock {
            return self.locks.try_lock(key, self.mode, self.level);
        }
        let done = self.locks.unlock(key, self.mode);
        if !done {
            let kind = if self.mode == LockMode::Shared { "ShareLock" } else { "ExclusiveLock" };
            let warning = Notice::warning("01000", format!("you don't own a lock of type {kind}"));
            let least = self.settings.get("client_min_messages");
            if warning.is_wanted(least.as_deref().unwrap_or("notice")) {
                self.notices.add(warning);
            }
        }
        done
    }
}

#[async_trait::async_trait]
impl AsyncScalarUDFImpl for AdvisoryFunction {
    async fn invoke_async_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut locked = Vec::with_capacity(args.number_rows);
        for key in keys(args)? {
            if let Some(key) = key {
                let lock = self.locks.lock(key, self.mode, self.level, self.settings.lock_wait);
                lock.await.map_err(|error| failed(error.into()))?;
            }
            locked.push(key.map(|_| ""));
        }
        Ok(ColumnarValue::Array(Arc::new(StringArray::from(locked)) as ArrayRef))
    }
}

/// The lock key of each row; `None` if an argument is NULL.
fn keys(args: ScalarFunctionArgs) -> Result<Vec<Option<AdvisoryKey>>> {
    let rows = args.number_rows;
    let arrays = args.args.into_iter().map(|arg| arg.into_array(rows)).collect::<Result<Vec<_>>>()?;
    Ok(match arrays.as_slice() {
        [one] => one.as_primitive::<Int64Type>().iter().map(|key| key.map(AdvisoryKey::One)).collect(),
        [first, second] => {
            let (first, second) = (first.as_primitive::<Int32Type>(), second.as_primitive::<Int32Type>());
            let both = first.iter().zip(second).map(|(first, second)| Some(AdvisoryKey::Two(first?, second?)));
            both.collect()
        }
        _ => return Err(QueryError::internal("numbers of an advisory lock").into()),
    })
}

fn failed(error: EngineError) -> DataFusionError {
    QueryError::Function { code: error.code(), message: error.message().to_string() }.into()
}

/// Releases the locks of a statement that is its own transaction before its end is reported: the query threads may
/// finish with it only later.
pub(crate) fn release_at_end(entry: &Arc<Entry>, done: EngineResult<Answer>) -> EngineResult<Answer> {
    match done {
        Ok(Answer::Rows(mut rows)) if !rows.is_computed() => {
            rows.chunks = releasing(rows.chunks, Arc::clone(entry));
            Ok(Answer::Rows(rows))
        }
        Ok(Answer::CopyOut(mut copy)) => {
            copy.data = releasing(copy.data, Arc::clone(entry));
            Ok(Answer::CopyOut(copy))
        }
        // COPY FROM has only begun, so its locks stay.
        Ok(Answer::CopyIn(copy)) => Ok(Answer::CopyIn(copy)),
        done => {
            entry.release_of_statement();
            done
        }
    }
}

fn releasing<T: 'static>(
    mut parts: BoxStream<'static, EngineResult<T>>,
    entry: Arc<Entry>,
) -> BoxStream<'static, EngineResult<T>> {
    let released = move |context: &mut Context<'_>| {
        let part = ready!(parts.poll_next_unpin(context));
        if !matches!(part, Some(Ok(_))) {
            entry.release_of_statement();
        }
        Poll::Ready(part)
    };
    stream::poll_fn(released).boxed()
}

/// The advisory locks of a block's transaction, released at the end of the block.
#[derive(Debug)]
pub(crate) struct BlockLocks(Arc<Entry>);

impl BlockLocks {
    /// For the transaction block that begins in this session.
    pub(crate) fn new(entry: &Arc<Entry>) -> Self {
        entry.note_block(true);
        Self(Arc::clone(entry))
    }

    /// Releases all of them, because the block has failed.
    pub(crate) fn release(&self) {
        self.0.release_of_transaction();
    }

    /// The state that ROLLBACK TO SAVEPOINT restores.
    pub(crate) fn mark(&self) -> AdvisoryMark {
        self.0.known_advisory().map(|locks| locks.mark()).unwrap_or_default()
    }

    /// Releases the locks taken since the mark.
    pub(crate) fn go_back(&self, mark: AdvisoryMark) {
        if let Some(locks) = self.0.known_advisory() {
            locks.go_back(mark);
        }
    }
}

impl Drop for BlockLocks {
    fn drop(&mut self) {
        self.0.note_block(false);
        self.0.release_of_transaction();
    }
}
