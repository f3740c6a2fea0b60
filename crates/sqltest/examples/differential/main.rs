//! Generated queries against PostgreSQL and Bennu side by side:
//! `differential QUERIES SEED 'host=127.0.0.1 port=5432 user=test dbname=postgres' ['host=… port=… dbname=bennu']`.
//! Without a last argument Bennu runs in this process.
//!
//! ```text
//!   seed ──generate──> query ──┬─> PostgreSQL ──┐
//!                              └─> Bennu ───────┴─> same rows (in any order), or the same SQLSTATE?
//! ```
//! Ends with 1 if a query is answered differently and `listed.rs` does not say why. PostgreSQL's database has to
//! compare text by bytes (`LOCALE 'C'`).
#![allow(clippy::print_stdout, reason = "the report is what this program is for")]
#![allow(clippy::indexing_slicing, reason = "a choice beyond its list is a bug of this test, and should stop it")]

mod calls;
mod data;
mod expr;
mod generate;
mod known;
mod listed;
mod ordered;
mod random;
mod shapes;

use bennu_sqltest::Server;
use random::Random;
use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// Rows as text, sorted unless the query says that they come in one order; or the SQLSTATE and message.
type Answer = Result<Vec<String>, (String, String)>;

/// How many queries of one kind of difference are shown.
const SHOWN: usize = 25;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [queries, seed, postgres, bennu @ ..] = arguments.as_slice() else {
        return Err("arguments: QUERIES SEED POSTGRES [BENNU]".into());
    };
    let (queries, seed): (u64, u64) = (queries.parse()?, seed.parse()?);
    let own = Server::start().await?;
    let bennu = match bennu {
        [address, ..] => connect(address).await?,
        [] => own.connect().await?,
    };
    let postgres = connect(postgres).await?;
    for client in [&postgres, &bennu] {
        client.batch_execute("SET statement_timeout = '20s'").await?;
    }
    postgres.batch_execute(&data::statements(seed, false)).await?;
    bennu.batch_execute(&data::statements(seed, true)).await?;

    let mut counts = Counts::default();
    for number in 0..queries {
        let query = generate::query(&mut Random::new(seed, number));
        let (expected, found) = (ask(&postgres, &query).await, ask(&bennu, &query).await);
        counts.add(&query, &expected, &found);
    }
    counts.report();
    Ok(if counts.unlisted == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn connect(server: &str) -> Result<Client, Box<dyn Error>> {
    let (client, connection) = tokio_postgres::connect(server, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

async fn ask(client: &Client, query: &str) -> Answer {
    let messages = client.simple_query(query).await.map_err(|error| match error.as_db_error() {
        Some(db) => (db.code().code().to_owned(), db.message().to_owned()),
        None => ("lost".to_owned(), error.to_string()),
    })?;
    let cells = |row: &tokio_postgres::SimpleQueryRow| {
        (0..row.len()).map(|i| row.get(i).unwrap_or("NULL").to_owned()).collect::<Vec<_>>().join("|")
    };
    let mut rows: Vec<String> = messages
        .iter()
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(cells(row)),
            _ => None,
        })
        .collect();
    if !query.starts_with(ordered::MARK) {
        rows.sort();
    }
    Ok(rows)
}

#[derive(Default)]
struct Counts {
    rows: u64,
    errors: u64,
    listed: BTreeMap<&'static str, u64>,
    unlisted: u64,
    kinds: BTreeMap<String, usize>,
}

impl Counts {
    fn add(&mut self, query: &str, expected: &Answer, found: &Answer) {
        match (expected, found) {
            (Ok(a), Ok(b)) if listed::alike(a, b, query.starts_with(ordered::MARK)) => self.rows += 1,
            (Err((a, _)), Err((b, _))) if a == b => self.errors += 1,
            _ => match listed::reason(query, expected, found) {
                Some(reason) => *self.listed.entry(reason).or_default() += 1,
                None => self.show(query, expected, found),
            },
        }
    }

    fn show(&mut self, query: &str, expected: &Answer, found: &Answer) {
        self.unlisted += 1;
        let kind = match (expected, found) {
            (Ok(_), Ok(_)) => "other rows".to_owned(),
            (Ok(_), Err((code, message))) => format!("fails with {code} {}", first_words(message)),
            (Err((code, _)), Ok(_)) => format!("does not fail with {code}"),
            (Err((a, _)), Err((b, _))) => format!("fails with {b} and not {a}"),
        };
        let seen = self.kinds.entry(kind.clone()).or_default();
        *seen += 1;
        if *seen <= SHOWN {
            let (expected, found) = (short(expected, found), short(found, expected));
            println!("--- {kind}\n{query};\n  PostgreSQL: {expected}\n  Bennu:      {found}");
        }
    }

    fn report(&self) {
        println!("\n{} the same rows, {} the same error", self.rows, self.errors);
        for (reason, count) in &self.listed {
            println!("{count} listed: {reason}");
        }
        for (kind, count) in &self.kinds {
            println!("{count} different: {kind}");
        }
        println!("{} different in all", self.unlisted);
    }
}

fn first_words(message: &str) -> String {
    message.split_whitespace().take(6).collect::<Vec<_>>().join(" ")
}

/// The rows that the other answer has not.
fn short(answer: &Answer, other: &Answer) -> String {
    let rows = match answer {
        Ok(rows) => rows,
        Err((code, message)) => return format!("{code} {}", message.lines().next().unwrap_or_default()),
    };
    let mut others: Vec<&String> = other.iter().flatten().collect();
    let own = rows.iter().filter(|row| match others.iter().position(|other| other == row) {
        Some(place) => {
            others.swap_remove(place);
            false
        }
        None => true,
    });
    format!("{} rows, of its own: {}", rows.len(), own.take(6).cloned().collect::<Vec<_>>().join("  "))
}
