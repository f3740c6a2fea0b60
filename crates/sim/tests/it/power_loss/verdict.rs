//! Checks that everything acknowledged is there, and that everything is atomic.

use super::child::data;
use super::plan::{BATCH_STEP, Plan, TABLES, WIDTH};
use crate::history::{self, Contents, Table};
use std::collections::BTreeSet;
use std::path::Path;
use store_fjall::FjallStore;

/// The acknowledgements until the power loss.
#[derive(Debug, Default)]
pub(crate) struct Acks {
    pub(crate) tables: bool,
    pub(crate) batches: BTreeSet<u64>,
    /// Number of finished acts.
    pub(crate) acts: usize,
    /// Number of lives that opened the store.
    pub(crate) opened: usize,
}

impl Acks {
    /// Parses the lines of the file. An incomplete last line was not acknowledged.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let mut acks = Self::default();
        let text = std::str::from_utf8(bytes).unwrap();
        for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let (what, number) = line.split_once(' ').unwrap_or((line, "0"));
            let number: u64 = number.parse().unwrap();
            match what {
                "tables" => acks.tables = true,
                "batch" => drop(acks.batches.insert(number)),
                "act" => acks.acts = number as usize + 1,
                "open" => acks.opened = number as usize + 1,
                other => panic!("{other} is no acknowledgement"),
            }
        }
        acks
    }
}

/// Opens the remaining folder twice and compares the content. The error describes the loss or damage.
pub(crate) async fn verify(root: &Path, plan: &Plan, acks: &Acks) -> Result<(), String> {
    if acks.opened == 0 && !data(root).exists() {
        return Ok(());
    }
    let found = contents(root).await?;
    compare(&found, plan, acks)?;
    let again = contents(root).await.map_err(|error| format!("opened once more: {error}"))?;
    if again != found {
        return Err("opened once more it holds something else".to_owned());
    }
    Ok(())
}

async fn contents(root: &Path) -> Result<Contents, String> {
    let store = FjallStore::open(data(root), history::options()).map_err(|error| format!("open: {error}"))?;
    history::of_store(&store, |_| true).await
}

fn compare(found: &Contents, plan: &Plan, acks: &Acks) -> Result<(), String> {
    let mut found = found.clone();
    let pair = TABLES.map(|id| found.remove(&id));
    batches(pair, acks)?;
    // Everything up to here is durable; the act after the last finished one may be there, too.
    let opened = acks.opened.checked_sub(1).map_or(0, |life| plan.lives[life].first_act);
    let durable = (opened..acks.acts).rev().find(|act| plan.is_durable(*act)).map_or(opened, |act| act + 1);
    // If the last act of a life is an interrupted load, the next life's first act follows it.
    let last = (acks.acts.max(opened) + 1).min(plan.acts.len());
    let mut differences = plan.ledgers[durable..=last].iter().map(|ledger| history::difference(ledger, &found));
    if differences.clone().any(|difference| difference.is_none()) {
        return Ok(());
    }
    let first = differences.next().flatten().unwrap_or_default();
    Err(format!("none of the states after acts {durable} to {last}; from the first: {first}"))
}

fn batches(pair: [Option<Table>; 2], acks: &Acks) -> Result<(), String> {
    let [first, second] = match pair {
        [Some(first), Some(second)] => [first, second],
        [None, None] if !acks.tables => return Ok(()),
        _ => return Err("a table of the batches is gone".to_owned()),
    };
    if first != second {
        return Err("a batch is in one table and not in the other".to_owned());
    }
    let there: BTreeSet<u64> = first.rows.values().map(|writer| writer - BATCH_STEP).collect();
    for batch in &there {
        let rows = (0..WIDTH).filter(|part| first.rows.get(&(batch * WIDTH + part)) == Some(&(BATCH_STEP + batch)));
        let rows = rows.count() as u64;
        if rows != WIDTH {
            return Err(format!("batch {batch} is torn: {rows} of {WIDTH} rows"));
        }
    }
    match acks.batches.difference(&there).next() {
        Some(batch) => Err(format!("acknowledged batch {batch} is lost")),
        None => Ok(()),
    }
}
