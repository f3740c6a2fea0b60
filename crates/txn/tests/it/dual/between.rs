//! Other processes write and repair between any two calls of a process that does the same.

use super::{PLAIN, Process, UNIQUE, Values, byte, change, entry_in, holds, is_an_end, shared};
use async_trait::async_trait;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::{
    Bytes, CommitNo, Durability, FamilyId, ReadAt, Scan, ScanRequest, Snapshot, Store, StoreResult, TableId, Wrapper,
    WriteBatch,
};
use store_testkit::{Random, from_environment};
use txn::TxnError;

#[derive(Clone, Copy, Debug)]
enum Action {
    Write(u8, Option<Values>),
    /// Rebuilds an entry from its row.
    Repair(TableId, u8, Values),
}

impl Action {
    fn any(random: &mut Random) -> Self {
        let (key, values) = change(random);
        match random.below(4) {
            0 => Self::Repair(UNIQUE, key, values.unwrap_or([1, 2])),
            1 => Self::Repair(PLAIN, key, [byte(random, 2) + 1, 1]),
            _ => Self::Write(key, values),
        }
    }

    async fn take(self, store: &Arc<dyn Store>) {
        let process = Process::on(store);
        let done = match self {
            Self::Write(key, values) => process.write(&[(key, values)]).await.map(drop),
            Self::Repair(index, key, values) => {
                let (entry, _) = entry_in(index, &[key], values).unwrap();
                process.dual.repair_entry(index, &entry).await.map_err(TxnError::from)
            }
        };
        if let Err(error) = done {
            assert!(is_an_end(&error), "{error}");
        }
    }
}

/// A store in which others act before certain calls.
#[derive(Debug)]
struct Between {
    inner: Arc<dyn Store>,
    calls: AtomicUsize,
    others: Vec<(usize, Action)>,
}

impl Between {
    async fn let_others(&self) {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        for (_, action) in self.others.iter().filter(|(before, _)| *before == call) {
            action.take(&self.inner).await;
        }
    }
}

#[async_trait]
impl Wrapper for Between {
    fn inner(&self) -> &dyn Store {
        self.inner.as_ref()
    }

    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        self.let_others().await;
        self.inner.get(table, family, keys, at).await
    }

    async fn scan(&self, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        self.let_others().await;
        self.inner.scan(request, snapshot).await
    }

    async fn apply(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        self.let_others().await;
        self.inner.apply(batch, durability).await
    }
}

/// Runs `one` while others act before the given calls. Returns the number of calls.
async fn beside_others(before: &[(u8, Option<Values>)], one: Action, others: Vec<(usize, Action)>) -> usize {
    let raw = shared().await;
    assert!(Process::on(&raw).write(before).await.unwrap());
    let when = format!("{before:?}, {one:?} and {others:?}");
    let between = Arc::new(Between { inner: Arc::clone(&raw), calls: AtomicUsize::new(0), others });
    let store: Arc<dyn Store> = between.clone();
    one.take(&store).await;
    holds(&raw, &when).await;
    between.calls.load(Ordering::Relaxed)
}

/// Each pair of `others` before each pair of calls.
async fn any_two_beside(before: &[(u8, Option<Values>)], one: Action, others: &[Action]) {
    for (first, second) in others.iter().flat_map(|first| others.iter().map(|second| (*first, *second))) {
        for at in 0.. {
            let calls = beside_others(before, one, vec![(at, first)]).await;
            if at >= calls {
                break;
            }
            for then in at..calls {
                beside_others(before, one, vec![(at, first), (then, second)]).await;
            }
        }
    }
}

const STATES: [Option<Values>; 3] = [None, Some([1, 2]), Some([2, 3])];

#[tokio::test]
async fn repairs_with_others_between_any_two_steps_leave_what_rows_say() {
    let writes = STATES.map(|values| Action::Write(1, values));
    for one in [UNIQUE, PLAIN].map(|index| Action::Repair(index, 1, [1, 2])) {
        for before in STATES {
            any_two_beside(&[(1, before)], one, &writes).await;
        }
    }
}

#[tokio::test]
async fn writes_with_others_between_any_two_steps_leave_what_rows_say() {
    let others = [
        Action::Write(1, Some([2, 3])),
        Action::Write(1, None),
        Action::Write(2, Some([1, 2])),
        Action::Repair(UNIQUE, 1, [1, 2]),
    ];
    for before in [None, Some([1, 3])] {
        any_two_beside(&[(1, before)], Action::Write(1, Some([1, 2])), &others).await;
    }
}

#[tokio::test]
async fn any_steps_with_others_between_them_leave_what_rows_say() {
    let first = from_environment("BENNU_DUAL_SEED", 1);
    for seed in first..first + 50 * from_environment("BENNU_DUAL_CYCLES", 40) {
        let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
        let before = [(0, change(&mut random).1), (1, Some([byte(&mut random, 3), 0]))];
        let others = |random: &mut Random| (usize::from(byte(random, 24)), Action::any(random));
        let others = (0..=random.below(5)).map(|_| others(&mut random)).collect();
        let one = Action::any(&mut random);
        beside_others(&before, one, others).await;
    }
}
