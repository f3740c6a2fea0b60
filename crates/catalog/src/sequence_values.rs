//! Current values of sequences: allocated in memory, and only up to a mark that is durable.
//!
//! ```text
//!   last handed out ──> values reserved by the mark ──> mark: the row `06` of the sequence
//! ```
//! A mark is written on the condition that its row is unchanged, so that several processes on one store never allocate
//! the same values. After a crash a sequence continues after its mark: values in between are lost, none is repeated; a
//! process that ends in order writes the exact position. A mark lies [`FEWEST`] values ahead at first and twice as far
//! each time, up to [`MOST`], so that loads write few marks.

use crate::{CatalogError, CatalogResult, Sequence, TableOid, stored};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex as StateMap, PoisonError};
use store::{CommitNo, Store, StoreError};
use tokio::sync::Mutex;

/// Values that the first mark reserves, like PostgreSQL's SEQ_LOG_VALS.
const FEWEST: u64 = 32;
/// The maximum number of values that a mark reserves, unless one call requests more.
const MOST: u64 = 4096;

/// A durable position of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceValue {
    /// The [`Sequence::generation`] of the position.
    pub generation: u64,
    /// The last value that may have been allocated.
    pub last: i64,
    /// `is_called`, as in PostgreSQL: if false, `last` is the next value.
    pub called: bool,
}

impl SequenceValue {
    /// The start of its generation.
    pub fn fresh(sequence: &Sequence) -> Self {
        Self { generation: sequence.generation, last: sequence.first, called: false }
    }

    /// The position that setval() sets.
    ///
    /// # Errors
    /// [`CatalogError::SequenceBounds`].
    pub fn at(sequence: &Sequence, value: i64, called: bool) -> CatalogResult<Self> {
        if !(sequence.min..=sequence.max).contains(&value) {
            let (name, min, max) = (sequence.name.clone(), sequence.min, sequence.max);
            return Err(CatalogError::SequenceBounds { name, value, min, max });
        }
        Ok(Self { generation: sequence.generation, last: value, called })
    }

    /// The position after one more value; `None` if the sequence is exhausted.
    pub fn next(self, sequence: &Sequence) -> Option<Self> {
        if !self.called {
            // The start can be out of range: a new identity column starts after the values of existing rows.
            let is_left = (sequence.min..=sequence.max).contains(&self.last);
            return is_left.then_some(Self { called: true, ..self });
        }
        sequence.after(self.last).map(|last| Self { last, ..self })
    }
}

/// Allocates values of sequences; see the module documentation.
#[derive(Debug)]
pub struct SequenceValues {
    store: Arc<dyn Store>,
    /// Held to find an entry, never across an await.
    states: StateMap<HashMap<TableOid, Arc<Mutex<State>>>>,
}

/// The options that determine which value follows another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Steps {
    increment: i64,
    bounds: (i64, i64),
    cycle: bool,
}

impl Steps {
    fn of(sequence: &Sequence) -> Self {
        Self { increment: sequence.increment, bounds: (sequence.min, sequence.max), cycle: sequence.cycle }
    }
}

#[derive(Debug)]
struct State {
    now: SequenceValue,
    /// The commit stamp of the mark's row when last read or written; `None` if there was no row.
    stamp: Option<CommitNo>,
    /// The number of further values that the mark covers, if the sequence counts by `steps`.
    reserved: u64,
    steps: Steps,
    /// The number of values that the next mark reserves.
    ahead: u64,
}

impl SequenceValues {
    pub(crate) fn new(store: Arc<dyn Store>, marks: BTreeMap<TableOid, (SequenceValue, CommitNo)>) -> Self {
        let state = |(now, stamp)| Arc::new(Mutex::new(State::at(now, Some(stamp))));
        let states = marks.into_iter().map(|(oid, mark)| (oid, state(mark))).collect();
        Self { store, states: StateMap::new(states) }
    }

    /// Allocates the next `count` values.
    ///
    /// # Errors
    /// [`CatalogError::SequenceExhausted`]; [`CatalogError::Store`] if a new mark could not be written.
    pub async fn next(&self, sequence: &Sequence, count: usize) -> CatalogResult<Vec<i64>> {
        let state = self.state(sequence);
        let mut state = state.lock().await;
        state.begin(sequence);
        let mut values = Vec::with_capacity(count);
        while values.len() < count {
            if state.reserved == 0 {
                self.reserve(sequence, &mut state, count - values.len()).await?;
            }
            let Some(now) = state.now.next(sequence) else { return Err(CatalogError::exhausted(sequence)) };
            state.now = now;
            state.reserved = state.reserved.saturating_sub(1);
            values.push(now.last);
        }
        Ok(values)
    }

    /// Makes a mark durable that is at least `wanted` values ahead, or at the end of the sequence.
    async fn reserve(&self, sequence: &Sequence, state: &mut State, wanted: usize) -> CatalogResult<()> {
        loop {
            let steps = state.ahead.max(wanted as u64);
            let (mut mark, mut reserved) = (state.now, 0);
            while reserved < steps
                && let Some(next) = mark.next(sequence)
            {
                mark = next;
                reserved += 1;
            }
            if reserved == 0 {
                return Err(CatalogError::exhausted(sequence));
            }
            if self.write(sequence, state, mark).await? {
                (state.reserved, state.steps) = (reserved, Steps::of(sequence));
                state.ahead = (state.ahead * 2).min(MOST);
                return Ok(());
            }
        }
    }

    /// setval(): `value` is the last value, or with `called` false the next one.
    ///
    /// # Errors
    /// [`CatalogError::SequenceBounds`], [`CatalogError::Store`].
    pub async fn set(&self, sequence: &Sequence, value: i64, called: bool) -> CatalogResult<()> {
        let now = SequenceValue::at(sequence, value, called)?;
        let state = self.state(sequence);
        let mut state = state.lock().await;
        while !self.write(sequence, &mut state, now).await? {}
        *state = State::at(now, state.stamp);
        Ok(())
    }

    /// Makes the exact positions durable, so that no values are lost when the process ends. Later calls reserve anew.
    ///
    /// # Errors
    /// [`CatalogError::Store`].
    pub async fn release(&self) -> CatalogResult<()> {
        let states: Vec<_> = {
            let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
            states.iter().map(|(oid, state)| (*oid, Arc::clone(state))).collect()
        };
        for (oid, state) in states {
            let mut state = state.lock().await;
            if state.reserved == 0 {
                continue;
            }
            match stored::write_sequence_value(self.store.as_ref(), oid, &state.now, state.stamp).await {
                Ok(stamp) => (state.stamp, state.reserved) = (Some(stamp), 0),
                // Another process has a later mark, or the sequence is gone.
                Err(CatalogError::Store(StoreError::ConditionFailed { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The last allocated value; `None` before the first, and while another call holds the lock.
    pub fn last(&self, sequence: &Sequence) -> Option<i64> {
        let state = self.state(sequence);
        let state = state.try_lock().ok()?;
        (state.now.generation == sequence.generation && state.now.called).then_some(state.now.last)
    }

    /// The position of a sequence: `last_value` and `is_called`.
    pub async fn position(&self, sequence: &Sequence) -> (i64, bool) {
        let state = self.state(sequence);
        let mut state = state.lock().await;
        state.begin(sequence);
        (state.now.last, state.now.called)
    }

    fn state(&self, sequence: &Sequence) -> Arc<Mutex<State>> {
        let new = || Arc::new(Mutex::new(State::at(SequenceValue::fresh(sequence), None)));
        Arc::clone(self.states.lock().unwrap_or_else(PoisonError::into_inner).entry(sequence.oid).or_insert_with(new))
    }

    /// Writes the mark. Returns false if another process has replaced it; `state` then continues after that mark.
    async fn write(&self, sequence: &Sequence, state: &mut State, mark: SequenceValue) -> CatalogResult<bool> {
        let store = self.store.as_ref();
        match stored::write_sequence_value(store, sequence.oid, &mark, state.stamp).await {
            Ok(stamp) => {
                state.stamp = Some(stamp);
                Ok(true)
            }
            Err(CatalogError::Store(StoreError::ConditionFailed { .. })) => {
                let found = stored::read_sequence_value(store, sequence.oid).await?;
                // The sequence was dropped, and this process has not read that change yet.
                let Some((now, stamp)) = found else { return Err(CatalogError::ChangedElsewhere) };
                *state = State::at(now, Some(stamp));
                // Another process restarted the sequence, so this process would allocate values of an old generation.
                if state.now.generation > sequence.generation {
                    return Err(CatalogError::ChangedElsewhere);
                }
                state.begin(sequence);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

impl State {
    fn at(now: SequenceValue, stamp: Option<CommitNo>) -> Self {
        Self { now, stamp, reserved: 0, steps: Steps::default(), ahead: FEWEST }
    }

    /// Applies ALTER SEQUENCE: a RESTART, or options by which the mark covers other values than it did.
    fn begin(&mut self, sequence: &Sequence) {
        if self.now.generation < sequence.generation {
            *self = Self::at(SequenceValue::fresh(sequence), self.stamp);
        }
        if self.steps != Steps::of(sequence) {
            self.reserved = 0;
        }
    }
}
