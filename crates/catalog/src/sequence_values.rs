//! Where sequences stand: values are handed out from memory, and only below a mark that is durable.
//!
//! ```text
//!   last handed out ──> values reserved by the mark ──> mark: the row `06` of the sequence
//! ```
//! After a crash a sequence goes on behind its mark: values in between are lost, none comes twice. A mark lies
//! [`FEWEST`] values ahead at first and twice as far each time, up to [`MOST`], so that loads write few of them.

use crate::{CatalogError, CatalogResult, Sequence, TableOid, stored};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex as StateMap, PoisonError};
use store::{Durability, Store};
use tokio::sync::Mutex;

/// Values that the first mark reserves, as PostgreSQL's log does.
const FEWEST: u64 = 32;
/// Values that a mark reserves at most, beyond what one call asks for.
const MOST: u64 = 4096;

/// Where a sequence stands durably.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceValue {
    /// Of which [`Sequence::generation`].
    pub generation: u64,
    /// The last value that may have been handed out.
    pub last: i64,
    /// Was it? Otherwise it is the next one.
    pub called: bool,
}

impl SequenceValue {
    fn fresh(sequence: &Sequence) -> Self {
        Self { generation: sequence.generation, last: sequence.first, called: false }
    }

    fn next(self, sequence: &Sequence) -> Option<Self> {
        if !self.called {
            return Some(Self { called: true, ..self });
        }
        sequence.after(self.last).map(|last| Self { last, ..self })
    }
}

/// Hands out values of sequences. See the file's head.
#[derive(Debug)]
pub struct SequenceValues {
    store: Arc<dyn Store>,
    /// Held to find an entry, never across an await.
    states: StateMap<HashMap<TableOid, Arc<Mutex<State>>>>,
}

#[derive(Debug)]
struct State {
    now: SequenceValue,
    /// How many more values the mark covers.
    reserved: u64,
    /// What the next mark reserves.
    ahead: u64,
}

impl SequenceValues {
    pub(crate) fn new(store: Arc<dyn Store>, marks: BTreeMap<TableOid, SequenceValue>) -> Self {
        let state = |now| Arc::new(Mutex::new(State { now, reserved: 0, ahead: FEWEST }));
        let states = marks.into_iter().map(|(oid, mark)| (oid, state(mark))).collect();
        Self { store, states: StateMap::new(states) }
    }

    /// The next `count` values.
    ///
    /// # Errors
    /// [`CatalogError::SequenceExhausted`]; [`CatalogError::Store`] when a mark was due and could not be written.
    pub async fn next(&self, sequence: &Sequence, count: usize) -> CatalogResult<Vec<i64>> {
        let state = self.state(sequence);
        let mut state = state.lock().await;
        state.begin(sequence);
        let mut values = Vec::with_capacity(count);
        while values.len() < count {
            if state.reserved == 0 {
                self.reserve(sequence, &mut state, count - values.len()).await?;
            }
            let Some(now) = state.now.next(sequence) else { return Err(exhausted(sequence)) };
            state.now = now;
            state.reserved = state.reserved.saturating_sub(1);
            values.push(now.last);
        }
        Ok(values)
    }

    /// Makes a mark durable that lies at least `wanted` values ahead, or at the end.
    async fn reserve(&self, sequence: &Sequence, state: &mut State, wanted: usize) -> CatalogResult<()> {
        let steps = state.ahead.max(wanted as u64);
        let (mut mark, mut reserved) = (state.now, 0);
        while reserved < steps
            && let Some(next) = mark.next(sequence)
        {
            mark = next;
            reserved += 1;
        }
        if reserved == 0 {
            return Err(exhausted(sequence));
        }
        self.write(sequence.oid, mark).await?;
        state.reserved = reserved;
        state.ahead = (state.ahead * 2).min(MOST);
        Ok(())
    }

    /// setval(): `value` is the last one, or with `called` false the next one.
    ///
    /// # Errors
    /// [`CatalogError::SequenceBounds`], [`CatalogError::Store`].
    pub async fn set(&self, sequence: &Sequence, value: i64, called: bool) -> CatalogResult<()> {
        if !(sequence.min..=sequence.max).contains(&value) {
            let (name, min, max) = (sequence.name.clone(), sequence.min, sequence.max);
            return Err(CatalogError::SequenceBounds { name, value, min, max });
        }
        let state = self.state(sequence);
        let mut state = state.lock().await;
        let now = SequenceValue { generation: sequence.generation, last: value, called };
        self.write(sequence.oid, now).await?;
        *state = State { now, reserved: 0, ahead: FEWEST };
        Ok(())
    }

    /// The last value handed out; `None` before the first, and while another call is at it.
    pub fn last(&self, sequence: &Sequence) -> Option<i64> {
        let state = self.state(sequence);
        let state = state.try_lock().ok()?;
        (state.now.generation == sequence.generation && state.now.called).then_some(state.now.last)
    }

    /// Where a sequence stands: its last value, and whether that was handed out; otherwise it is the next one.
    pub async fn position(&self, sequence: &Sequence) -> (i64, bool) {
        let state = self.state(sequence);
        let mut state = state.lock().await;
        state.begin(sequence);
        (state.now.last, state.now.called)
    }

    fn state(&self, sequence: &Sequence) -> Arc<Mutex<State>> {
        let new = || Arc::new(Mutex::new(State { now: SequenceValue::fresh(sequence), reserved: 0, ahead: FEWEST }));
        Arc::clone(self.states.lock().unwrap_or_else(PoisonError::into_inner).entry(sequence.oid).or_insert_with(new))
    }

    async fn write(&self, oid: TableOid, value: SequenceValue) -> CatalogResult<()> {
        let commit = self.store.apply(stored::sequence_value(oid, &value)?, Durability::Sync).await?;
        Ok(self.store.sync(commit).await?)
    }
}

impl State {
    /// Begins anew behind a RESTART.
    fn begin(&mut self, sequence: &Sequence) {
        if self.now.generation < sequence.generation {
            *self = Self { now: SequenceValue::fresh(sequence), reserved: 0, ahead: FEWEST };
        }
    }
}

fn exhausted(sequence: &Sequence) -> CatalogError {
    let (which, limit) = if sequence.increment > 0 { ("maximum", sequence.max) } else { ("minimum", sequence.min) };
    CatalogError::SequenceExhausted { name: sequence.name.clone(), which, limit }
}
