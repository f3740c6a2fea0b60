//! nextval(), currval(), setval(), lastval(): the sequence values of a session.
//!
//! Values are taken at once and for good, even if the transaction rolls back. Column defaults take values without
//! these functions: see `dml::value`.

use crate::block::restarted_sequences::RestartedSequences;
use crate::ddl::find_sequence;
use crate::error::{EngineResult, Fault, fail};
use crate::{Engine, EngineError, Session};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType as ArrowType, Int64Type};
use catalog::{Catalog, Sequence, TableOid};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use futures::FutureExt;
use parking_lot::Mutex;
use query::QueryError;
use sql::ObjectName;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

/// Sequence values that a session took.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Locked for one look-up or change, never across an await.
    values: Mutex<Values>,
    /// Sequences that the block restarted, which have values of their own in it. Locked in the same way.
    restarted: Mutex<Weak<RestartedSequences>>,
}

#[derive(Debug, Default)]
struct Values {
    last: HashMap<TableOid, i64>,
    /// The sequence whose value was taken last.
    latest: Option<TableOid>,
}

impl Taken {
    fn note(&self, sequence: TableOid, value: i64) {
        let mut values = self.values.lock();
        values.last.insert(sequence, value);
        values.latest = Some(sequence);
    }

    /// Takes values of these sequences from the block, as long as it lasts.
    pub(crate) fn follow(&self, restarted: &Arc<RestartedSequences>) {
        *self.restarted.lock() = Arc::downgrade(restarted);
    }

    fn restarted(&self) -> Option<Arc<RestartedSequences>> {
        self.restarted.lock().upgrade()
    }

    /// DISCARD SEQUENCES.
    pub(crate) fn forget(&self) {
        *self.values.lock() = Values::default();
    }
}

impl Session {
    /// The next values of a sequence.
    pub(crate) async fn next_values(&self, oid: TableOid, count: usize) -> EngineResult<Vec<i64>> {
        next_values(&self.engine, &self.taken, oid, count).await
    }
}

/// The next values of a sequence, noted as taken by the session.
pub(crate) async fn next_values(engine: &Engine, taken: &Taken, oid: TableOid, count: usize) -> EngineResult<Vec<i64>> {
    let catalog = engine.catalog().current();
    let Some(sequence) = catalog.sequence_by_oid(oid) else {
        return fail(Fault::NoSuchObject { kind: "relation", name: format!("of oid {}", oid.0) });
    };
    let values = match taken.restarted().and_then(|restarted| restarted.next(sequence, count)) {
        Some(values) => values?,
        None => engine.catalog().sequence_values().next(sequence, count).await?,
    };
    if let Some(last) = values.last() {
        taken.note(oid, *last);
    }
    Ok(values)
}

/// The OID in an argument, which may replace a name as in PostgreSQL's `regclass`.
pub(crate) fn oid_in(text: &str) -> Option<TableOid> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok().map(TableOid)).flatten()
}

/// Parses the name of a sequence in an argument: `s`, `a.s`, `"S"`.
pub(crate) fn read_name(text: &str) -> EngineResult<ObjectName> {
    // The SQL parser reads the name as part of a statement.
    match sql::parse(&format!("DROP SEQUENCE {text}"))?.pop().map(|parsed| parsed.statement) {
        Some(sql::Statement::DropSequence { names, .. }) if names.len() == 1 => {
            names.into_iter().next().ok_or_else(|| Fault::Invalid { message: "invalid name syntax".to_string() }.into())
        }
        _ => fail(Fault::Invalid { message: "invalid name syntax".to_string() }),
    }
}

/// The sequence functions for one statement.
#[derive(Clone, Debug)]
pub(crate) struct SequenceFunctions {
    engine: Weak<Engine>,
    taken: Arc<Taken>,
    search_path: Vec<String>,
    read_only: bool,
    /// The text that was read as a name last: most statements call with one constant.
    name: Arc<Mutex<Option<(String, ObjectName)>>>,
}

impl SequenceFunctions {
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            engine: Arc::downgrade(&session.engine),
            taken: Arc::clone(&session.taken),
            search_path: session.search_path(),
            read_only: session.settings.effective().read_only,
            name: Arc::default(),
        }
    }

    /// The function of that name.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        let kind = [Kind::Next, Kind::Current, Kind::Set, Kind::Last].into_iter().find(|kind| kind.name() == name)?;
        let signature = Signature::one_of(kind.signatures(), Volatility::Volatile);
        Some(Arc::new(ScalarUDF::new_from_impl(SequenceFunction { kind, signature, state: self.clone() })))
    }

    fn engine(&self) -> EngineResult<Arc<Engine>> {
        self.engine.upgrade().ok_or_else(|| Fault::ShuttingDown.into())
    }

    fn name(&self, text: &str) -> EngineResult<ObjectName> {
        let mut last = self.name.lock();
        if let Some((_, name)) = last.as_ref().filter(|(read, _)| read == text) {
            return Ok(name.clone());
        }
        let name = read_name(text)?;
        *last = Some((text.to_string(), name.clone()));
        Ok(name)
    }

    fn sequence(&self, catalog: &Catalog, argument: &Argument) -> EngineResult<Arc<Sequence>> {
        let (found, shown) = match argument {
            Argument::Oid(oid) => {
                let oid = u32::try_from(*oid).unwrap_or_default();
                (catalog.sequence_by_oid(TableOid(oid)).cloned(), format!("of oid {oid}"))
            }
            Argument::Name(text) if let Some(oid) = oid_in(text) => {
                (catalog.sequence_by_oid(oid).cloned(), text.clone())
            }
            Argument::Name(text) => {
                let name = self.name(text)?;
                let schemas = match &name.schema {
                    Some(schema) => vec![schema.clone()],
                    None => self.search_path.clone(),
                };
                (find_sequence(catalog, &schemas, &name.name)?, text.clone())
            }
        };
        found.ok_or_else(|| Fault::NoSuchObject { kind: "relation", name: shown }.into())
    }
}

/// The sequence that the first argument names.
#[derive(Clone, Debug, PartialEq)]
enum Argument {
    Oid(i64),
    Name(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Next,
    Current,
    Set,
    Last,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Next => "nextval",
            Self::Current => "currval",
            Self::Set => "setval",
            Self::Last => "lastval",
        }
    }

    fn signatures(self) -> Vec<TypeSignature> {
        let (name, oid, number) = (ArrowType::Utf8, ArrowType::Int64, ArrowType::Int64);
        let exact = |rest: &[ArrowType]| {
            [&name, &oid].map(|first| TypeSignature::Exact(std::iter::once(first).chain(rest).cloned().collect()))
        };
        match self {
            Self::Next | Self::Current => exact(&[]).to_vec(),
            Self::Set => {
                let both = [exact(std::slice::from_ref(&number)), exact(&[number.clone(), ArrowType::Boolean])];
                both.concat()
            }
            Self::Last => vec![TypeSignature::Nullary],
        }
    }
}

#[derive(Debug)]
struct SequenceFunction {
    kind: Kind,
    signature: Signature,
    state: SequenceFunctions,
}

impl PartialEq for SequenceFunction {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && Arc::ptr_eq(&self.state.taken, &other.state.taken)
    }
}

impl Eq for SequenceFunction {}

impl Hash for SequenceFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
    }
}

impl ScalarUDFImpl for SequenceFunction {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let arrays = args.args.into_iter().map(|arg| arg.into_array(rows)).collect::<Result<Vec<_>>>()?;
        let values = self.values(&arrays, rows).map_err(|error| {
            let message = error.message().to_string();
            DataFusionError::from(QueryError::Function { code: error.code(), message })
        })?;
        Ok(ColumnarValue::Array(Arc::new(Int64Array::from(values))))
    }
}

impl SequenceFunction {
    fn values(&self, arrays: &[ArrayRef], rows: usize) -> EngineResult<Vec<Option<i64>>> {
        let state = &self.state;
        if state.read_only && matches!(self.kind, Kind::Next | Kind::Set) {
            let command = if self.kind == Kind::Next { "nextval()" } else { "setval()" };
            return fail(Fault::ReadOnlyTransaction { command });
        }
        if self.kind == Kind::Last {
            let values = state.taken.values.lock();
            let last = values.latest.and_then(|oid| values.last.get(&oid)).copied();
            return match last {
                Some(last) => Ok(vec![Some(last); rows]),
                None => fail(Fault::Refused { message: "lastval is not yet defined in this session".to_string() }),
            };
        }
        let Some(names) = arrays.first() else { return Ok(vec![None; rows]) };
        let mut values = Vec::with_capacity(rows);
        let mut row = 0;
        while row < rows {
            let Some(argument) = argument(names, row) else {
                values.push(None);
                row += 1;
                continue;
            };
            // Adjacent rows with the same name are one request.
            let same = (row..rows).take_while(|at| argument_is(names, *at, &argument)).count().max(1);
            match self.kind {
                Kind::Next => values.extend(self.next(&argument, same)?.into_iter().map(Some)),
                Kind::Current => values.extend(std::iter::repeat_n(Some(self.current(&argument)?), same)),
                _ => {
                    for at in row..row + same {
                        values.push(self.set(&argument, arrays, at)?);
                    }
                }
            }
            row += same;
        }
        Ok(values)
    }

    fn next(&self, argument: &Argument, count: usize) -> EngineResult<Vec<i64>> {
        let engine = self.state.engine()?;
        let oid = self.state.sequence(&engine.catalog().current(), argument)?.oid;
        let taken = Arc::clone(&self.state.taken);
        let worker = Arc::clone(&engine);
        engine.wait(async move { next_values(&worker, &taken, oid, count).await })
    }

    fn current(&self, argument: &Argument) -> EngineResult<i64> {
        let engine = self.state.engine()?;
        let sequence = self.state.sequence(&engine.catalog().current(), argument)?;
        match self.state.taken.values.lock().last.get(&sequence.oid) {
            Some(value) => Ok(*value),
            None => {
                let message = format!("currval of sequence \"{}\" is not yet defined in this session", sequence.name);
                fail(Fault::Refused { message })
            }
        }
    }

    fn set(&self, argument: &Argument, arrays: &[ArrayRef], row: usize) -> EngineResult<Option<i64>> {
        let engine = self.state.engine()?;
        let sequence = self.state.sequence(&engine.catalog().current(), argument)?;
        let value = arrays.get(1).map(|array| array.as_primitive::<Int64Type>());
        let Some(value) = value.filter(|array| array.is_valid(row)).map(|array| array.value(row)) else {
            return Ok(None);
        };
        let called = match arrays.get(2).map(|array| array.as_boolean()) {
            None => true,
            Some(array) if array.is_valid(row) => array.value(row),
            Some(_) => return Ok(None),
        };
        match self.state.taken.restarted().and_then(|restarted| restarted.set(&sequence, value, called)) {
            Some(set) => set?,
            None => {
                let (worker, of) = (Arc::clone(&engine), Arc::clone(&sequence));
                engine.wait(async move { Ok(worker.catalog().sequence_values().set(&of, value, called).await?) })?;
            }
        }
        if called {
            self.state.taken.values.lock().last.insert(sequence.oid, value);
        }
        Ok(Some(value))
    }
}

fn argument(array: &ArrayRef, row: usize) -> Option<Argument> {
    if array.is_null(row) {
        return None;
    }
    Some(match array.data_type() {
        ArrowType::Int64 => Argument::Oid(array.as_primitive::<Int64Type>().value(row)),
        _ => Argument::Name(array.as_string::<i32>().value(row).to_string()),
    })
}

fn argument_is(array: &ArrayRef, row: usize, wanted: &Argument) -> bool {
    argument(array, row).as_ref() == Some(wanted)
}

impl Engine {
    /// Blocks this thread until work on the query threads is done: functions of a plan cannot wait otherwise.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = EngineResult<T>> + Send + 'static,
    ) -> EngineResult<T> {
        use tokio::runtime::{Handle, RuntimeFlavor};
        let mut work = Box::pin(work);
        // Most values of sequences are in memory, and need no other thread. Without a budget: a task that has used its
        // own up would wait for each lock, though it is free.
        if Handle::try_current().is_ok()
            && let Some(done) = tokio::task::unconstrained(&mut work).now_or_never()
        {
            return done;
        }
        let (send, receive) = std::sync::mpsc::sync_channel(1);
        let task = self.runtime().spawn(None, async move {
            let _ = send.send(work.await);
        })?;
        let multi = Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
        // In a multi-threaded runtime other threads take over the tasks of this one.
        let done = if multi { tokio::task::block_in_place(|| receive.recv()) } else { receive.recv() };
        drop(task);
        done.unwrap_or_else(|_| Err(EngineError::from(Fault::ShuttingDown)))
    }
}
