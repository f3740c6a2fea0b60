//! Random tables, indexes and conditions: each setting of `bennu.index_choice` returns the same rows; in a transaction
//! with own writes, and after a rollback to a savepoint.

use crate::fixture::Fixture;
use catalog::Table;
use index::{IndexCodec, change};
use query::{QueryContext, RowCodec};
use std::sync::Arc;
use store::{FamilyId, Store};
use txn::{LockTable, Transaction, TransactionOptions};
use types::{Datum, text};

const FAMILY: FamilyId = FamilyId(0);
const COLUMNS: [&str; 9] = ["k", "s", "a", "b", "n", "p", "d", "c", "f"];
const CHOICES: [&str; 4] = ["off", "force", "auto", "intersect"];

/// Pseudorandom numbers from a seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }

    fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.roll(list.len())]
    }

    fn is(&mut self, of: usize) -> bool {
        self.roll(of) == 0
    }

    /// A value of a column, as text.
    fn value(&mut self, column: &str) -> String {
        match column {
            "k" => format!("{}", self.roll(12)),
            "s" | "b" => self.one_of(&["ab", "abc", "b", "bc", "é", "Z"]).to_owned(),
            "a" => format!("{}", self.roll(9) as i64 - 3),
            "n" => self.one_of(&["1", "1.0", "1.00", "2.5", "-3", "0", "0.0", "100"]).to_owned(),
            "p" => self.one_of(&["0.00", "1.25", "-7.50", "1.00"]).to_owned(),
            "d" => self.one_of(&["0", "-0", "1.5", "-2.25", "NaN", "Infinity"]).to_owned(),
            "c" => self.one_of(&["x", "xy", "xyz", "y"]).to_owned(),
            _ => self.one_of(&["true", "false"]).to_owned(),
        }
    }

    fn row(&mut self) -> String {
        let mut value = |column: &&str| match self.is(5) && !matches!(*column, "k" | "s") {
            true => String::new(),
            false => self.value(column),
        };
        COLUMNS.iter().map(&mut value).collect::<Vec<_>>().join("|")
    }

    fn literal(&mut self, column: &str) -> String {
        let value = self.value(column);
        match column {
            "k" | "a" | "n" | "p" => value,
            "d" => format!("'{value}'::double precision"),
            "f" => value,
            _ => format!("'{value}'"),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        if depth > 0 && self.is(3) {
            let op = self.one_of(&["and", "or"]);
            return format!("({} {op} {})", self.condition(depth - 1), self.condition(depth - 1));
        }
        let column = self.one_of(&COLUMNS);
        match self.roll(9) {
            0..=2 => format!("{column} = {}", self.literal(column)),
            3 => format!("{column} {} {}", self.one_of(&["<", "<=", ">", ">=", "<>"]), self.literal(column)),
            4 => format!("{column} between {} and {}", self.literal(column), self.literal(column)),
            5 => format!("{column} in ({}, {}, {})", self.literal(column), self.literal(column), self.literal(column)),
            6 => format!("{column} is {}null", self.one_of(&["", "not "])),
            7 => format!("b like '{}'", self.one_of(&["a%", "b%", "ab", "%c", "_b%"])),
            _ => format!("c like '{}'", self.one_of(&["x%", "xy%", "xy  ", "%y"])),
        }
    }

    fn query(&mut self) -> String {
        let condition = match self.is(6) {
            true => String::new(),
            false => {
                let more = if self.is(2) { format!(" and {}", self.condition(1)) } else { String::new() };
                format!(" where {}{more}", self.condition(2))
            }
        };
        let column = self.one_of(&COLUMNS);
        let down = self.one_of(&["", " desc", " nulls first", " desc nulls last"]);
        match self.roll(7) {
            6 => {
                let column = self.one_of(&["k", "s", "a", "b", "n", "p", "d", "f"]);
                let (one, other) = (self.literal(column), self.literal(column));
                let values = format!("(values ({one}), ({other})) v(x)");
                format!("select {column}, k, n from {values} join t on t.{column} = v.x{condition}")
            }
            0 => format!("select count(*) from t{condition}"),
            1 => format!("select min(a), max(a) from t{condition}"),
            2 => format!("select max({}) from t{condition}", self.one_of(&["a", "b", "n", "p"])),
            3 => {
                format!("select {column}, k, s from t{condition} order by {column}{down}, k, s limit {}", self.roll(9))
            }
            4 => format!("select {column}, {} from t{condition}", self.one_of(&COLUMNS)),
            _ => format!("select * from t{condition} order by {column}{down}"),
        }
    }

    fn index_parts(&mut self) -> String {
        let part = |dice: &mut Self| {
            let column = dice.one_of(&COLUMNS);
            format!("{column}{}{}", dice.one_of(&["", " desc"]), dice.one_of(&["", " nulls first", " nulls last"]))
        };
        (0..=self.roll(3)).map(|_| part(self)).collect::<Vec<_>>().join(",")
    }
}

async fn table(db: &Fixture, dice: &mut Dice) -> Arc<Table> {
    let columns = "k integer!, s text!, a integer, b text, n numeric, p numeric(6,2), d double precision, c char(4), \
                   f boolean";
    let key = dice.one_of(&["k, s", "k desc, s", "s desc, k"]);
    let salt = if dice.is(2) { Some(3) } else { None };
    db.table("t", columns, key, salt).await;
    let rows: Vec<String> = (0..dice.roll(90)).map(|_| dice.row()).collect();
    // One index exists before the rows are inserted, the others are built from existing rows.
    db.index("t", "early", &dice.index_parts(), &[], None).await;
    let mut distinct: Vec<&str> = Vec::new();
    let keys: Vec<Vec<&str>> = rows.iter().map(|row| row.split('|').take(2).collect()).collect();
    for (at, row) in rows.iter().enumerate() {
        if !keys[..at].contains(&keys[at]) {
            distinct.push(row);
        }
    }
    db.insert("t", &distinct).await;
    for number in 0..dice.roll(4) {
        let include: Vec<&str> = COLUMNS.iter().filter(|_| dice.is(3)).copied().collect();
        let salt = if dice.is(3) { Some(4) } else { None };
        db.index("t", &format!("i{number}"), &dice.index_parts(), &include, salt).await;
    }
    db.index("t", "unique_ks", "s,a,k", &[], None).await;
    db.catalog.current().must_get_table("public", "t").unwrap().clone()
}

/// Writes or deletes a row with the entries of all indexes, like the row writer.
async fn write(transaction: &mut Transaction, table: &Arc<Table>, line: &str, put: bool) {
    let codec = RowCodec::new(table).unwrap();
    let values = table.columns.iter().zip(line.split('|'));
    let value = |(column, value): (&catalog::Column, &str)| match value {
        "" => Datum::Null,
        value => text::parse(&column.ty, value).unwrap(),
    };
    let row: Vec<Datum> = values.map(value).collect();
    let key: store::Bytes = codec.encode_key(&row).unwrap().into();
    let old = transaction.get_newest(table.storage_id(), FAMILY, &key).await.unwrap();
    let old = old.map(|fragment| codec.decode_full(&key, &fragment).unwrap());
    for index in &table.indexes {
        let entries = IndexCodec::new(table, index).unwrap();
        let before = old.as_ref().and_then(|row| entries.entry(row).unwrap());
        let after = if put { entries.entry(&row).unwrap() } else { None };
        let changed = change(before, after);
        if let Some(key) = changed.delete {
            transaction.delete(index.storage_id(), FAMILY, key).await.unwrap();
        }
        if let Some(entry) = changed.put {
            transaction.put(index.storage_id(), FAMILY, entry.key, entry.fragment).await.unwrap();
        }
    }
    if put {
        let fragment = codec.encode_fragment(&row).unwrap().into();
        transaction.put(table.storage_id(), FAMILY, key, fragment).await.unwrap();
    } else if old.is_some() {
        transaction.delete(table.storage_id(), FAMILY, key).await.unwrap();
    }
}

async fn some_writes(transaction: &mut Transaction, table: &Arc<Table>, dice: &mut Dice) {
    for _ in 0..dice.roll(15) {
        transaction.begin_statement().await.unwrap();
        let (line, put) = (dice.row(), !dice.is(3));
        write(transaction, table, &line, put).await;
        transaction.end_statement().unwrap();
    }
}

async fn agree(db: &Fixture, contexts: &[QueryContext], query: &str, seed: u64) {
    let plan = db.plan(query, &[]).await.unwrap_or_else(|error| panic!("{query}: {error:?}"));
    let mut expected: Option<Vec<String>> = None;
    for (choice, cx) in CHOICES.iter().zip(contexts) {
        let mut rows = db.run_in(cx, &plan, &[]).await.unwrap_or_else(|error| panic!("{seed} {query}: {error:?}"));
        // The order of ties is unspecified.
        if !query.contains("limit") {
            rows.sort();
        }
        match &expected {
            None => expected = Some(rows),
            Some(expected) => assert_eq!(expected, &rows, "{choice}, seed {seed}: {query}"),
        }
    }
}

async fn contexts(db: &Fixture, transaction: Option<&mut Transaction>) -> Vec<QueryContext> {
    let mut all = Vec::new();
    for choice in CHOICES {
        all.push(db.context_that(choice).await);
    }
    if let Some(transaction) = transaction {
        let view = transaction.begin_statement().await.unwrap();
        all.iter_mut().for_each(|cx| cx.reader = view.clone());
    }
    all
}

async fn round(seed: u64) {
    let mut dice = Dice(seed);
    let db = Fixture::new().await;
    let table = table(&db, &mut dice).await;
    let store: Arc<dyn Store> = db.store.clone();
    let mut transaction = Transaction::begin(store, &Arc::new(LockTable::new()), TransactionOptions::default());
    for _ in 0..8 {
        agree(&db, &contexts(&db, None).await, &dice.query(), seed).await;
    }
    some_writes(&mut transaction, &table, &mut dice).await;
    let savepoint = transaction.savepoint().unwrap();
    some_writes(&mut transaction, &table, &mut dice).await;
    for undone in [false, true] {
        if undone {
            transaction.rollback_to(savepoint).unwrap();
        }
        let contexts = contexts(&db, Some(&mut transaction)).await;
        for _ in 0..8 {
            agree(&db, &contexts, &dice.query(), seed).await;
        }
        transaction.end_statement().unwrap();
    }
}

#[tokio::test]
async fn any_condition_gives_the_same_rows_by_any_index() {
    let seeds = std::env::var("BENNU_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(12);
    for seed in 0..seeds {
        round(seed).await;
    }
}
