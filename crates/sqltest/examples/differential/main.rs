//! Runs generated queries on PostgreSQL and Bennu and compares the results:
//! `differential QUERIES SEED 'host=127.0.0.1 port=5432 user=test dbname=postgres' ['host=… port=… dbname=bennu']`.
//! Without a last argument Bennu runs in this process. The environment variable `FURTHER=n` adds n queries of
//! `further.rs`: constants, subqueries in all clauses, and writes; some of their differences are not listed yet.
//! `KEYED=n` adds n queries of `keyed`, whose tables have all forms of keys and indexes.
//!
//! ```text
//!   seed ──generate──> query ──┬─> PostgreSQL ──┐
//!                              └─> Bennu ───────┴─> same rows (in any order), or the same SQLSTATE?
//! ```
//! Exits with 1 if a result differs and `listed.rs` has no reason. PostgreSQL's database must compare text by bytes
//! (`LOCALE 'C'`).
#![allow(clippy::print_stdout, reason = "the report is what this program is for")]
#![allow(clippy::indexing_slicing, reason = "a choice beyond its list is a bug of this test, and should stop it")]

mod arguments;
mod array_calls;
mod ask;
mod calls;
mod casts;
mod data;
mod distances;
mod expr;
mod further;
mod generate;
mod keyed;
mod known;
mod listed;
mod moment_calls;
mod ordered;
mod places;
mod random;
mod shapes;
mod sources;
mod text_calls;
mod writes;

use ask::{Answer, ask, connect};
use bennu_sqltest::Server;
use random::Random;
use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;

/// Most queries shown per kind of difference.
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
    for (client, is_bennu) in [(&postgres, false), (&bennu, true)] {
        client.batch_execute(&data::statements(seed, is_bennu)).await?;
        client.batch_execute(&keyed::statements(seed, is_bennu)).await?;
    }

    let mut counts = Counts::default();
    let number = |name: &str| std::env::var(name).map_or(Ok(0), |count| count.parse::<u64>());
    let (more, keyed) = (number("FURTHER")?, number("KEYED")?);
    let first = (0..queries).map(|number| generate::query(&mut Random::new(seed, number)));
    let further = (0..more).map(|number| further::query(seed, number));
    let keyed = (0..keyed).map(|number| keyed::query(seed, number));
    for query in first.chain(further).chain(keyed) {
        let (expected, found) = (ask(&postgres, &query).await, ask(&bennu, &query).await);
        if let Some(reason) = listed::same_with_varchars(&query, &expected, &found)
            && let (Ok(a), Ok(b)) = (ask(&postgres, &reason.query).await, ask(&bennu, &reason.query).await)
            && listed::alike(&a, &b, query.starts_with(ordered::MARK))
        {
            counts.list(reason.words);
            continue;
        }
        counts.add(&query, &expected, &found);
    }
    counts.report();
    Ok(if counts.unlisted == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
                Some(reason) => self.list(reason),
                None => self.show(query, expected, found),
            },
        }
    }

    fn list(&mut self, reason: &'static str) {
        *self.listed.entry(reason).or_default() += 1;
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

/// The rows that the other result lacks.
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
