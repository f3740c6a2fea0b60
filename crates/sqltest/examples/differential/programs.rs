//! Runs generated queries as row programs and as DataFusion plans over the same rows. Both must give the same columns
//! and types, the same rows, in the same order if the query orders them, or the same SQLSTATE, and never XX000. Row
//! programs scan whole tables here, so that nearly every shape is tried, and the choice of indexes varies by query.
//!
//! `make test` runs a few hundred queries; `BENNU_GENERATED=n` runs n, `BENNU_GENERATED_SEED=s` sets the seed.
//! `differential`, beside this file, runs the same queries on PostgreSQL.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, missing_docs)]
#![allow(dead_code, reason = "the differential run uses the rest")]

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
mod moment_calls;
mod ordered;
mod places;
mod random;
mod shapes;
mod sources;
mod text_calls;
mod writes;

use ask::{Answer, ask};
use bennu_sqltest::Server;
use random::Random;
use std::collections::BTreeMap;
use tokio_postgres::Client;

/// The metric that counts row programs.
const RAN: &str = "statements_row_program_total";

/// An internal error, which is always a bug.
const INTERNAL: &str = "XX000";

/// Names and types of the columns, and the result.
type Outcome = (Vec<(String, String)>, Answer);

struct Run {
    server: Server,
    program: Client,
    plan: Client,
    programs: u64,
    listed: BTreeMap<&'static str, u64>,
    differ: Vec<String>,
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Generates half of the queries over all forms of keys and indexes, the others with all functions and shapes.
fn query(seed: u64, number: u64) -> String {
    match number % 4 {
        0 | 1 => keyed::query(seed, number),
        2 => generate::query(&mut Random::new(seed, number)),
        // Writes are not part of this test.
        _ => Some(further::query(seed, number))
            .filter(|query| !query.starts_with(writes::MARK))
            .unwrap_or_else(|| keyed::query(seed, number)),
    }
}

impl Run {
    async fn new(seed: u64) -> Self {
        let server = Server::start().await.unwrap();
        let (program, plan) = (server.connect().await.unwrap(), server.connect().await.unwrap());
        program.batch_execute(&data::statements(seed, true)).await.unwrap();
        program.batch_execute(&keyed::statements(seed, true)).await.unwrap();
        program.batch_execute("SET bennu.row_programs = 'all'").await.unwrap();
        plan.batch_execute("SET bennu.row_programs = off").await.unwrap();
        for client in [&program, &plan] {
            client.batch_execute("SET statement_timeout = '20s'; SET TimeZone = 'Europe/Berlin'").await.unwrap();
        }
        Self { server, program, plan, programs: 0, listed: BTreeMap::new(), differ: Vec::new() }
    }

    fn ran(&self) -> u64 {
        self.server.db().engine().metrics().into_iter().find(|(name, _)| *name == RAN).map_or(0, |(_, count)| count)
    }

    fn differ(&mut self, difference: String) {
        println!("{difference}");
        self.differ.push(difference);
    }

    async fn compare(&mut self, number: u64, query: &str) {
        let choice = ["auto", "force", "intersect", "off"][usize::try_from(number / 4 % 4).unwrap()];
        for client in [&self.program, &self.plan] {
            client.batch_execute(&format!("SET bennu.index_choice = '{choice}'")).await.unwrap();
        }
        let before = self.ran();
        let program = outcome(&self.program, query).await;
        if program.1.as_ref().is_err_and(|(code, _)| code == INTERNAL) {
            return self.differ(format!("{query};\n  {INTERNAL}"));
        }
        if self.ran() == before && program.1.is_ok() {
            return;
        }
        self.programs += 1;
        let plan = outcome(&self.plan, query).await;
        if program == plan {
            return;
        }
        match reason(&program, &plan) {
            Some(reason) => *self.listed.entry(reason).or_default() += 1,
            None => self.differ(format!(
                "{query};\n  index_choice {choice}\n  program: {}\n  plan:    {}",
                shown(&program, &plan),
                shown(&plan, &program)
            )),
        }
    }
}

async fn outcome(client: &Client, query: &str) -> Outcome {
    let answer = ask(client, query).await;
    // Planning folds constants, so the columns of a failing query may be unknown.
    if let Err((code, _)) = answer {
        return (Vec::new(), Err((code, String::new())));
    }
    let columns = match client.prepare(query).await {
        Ok(statement) => {
            statement.columns().iter().map(|column| (column.name().to_owned(), column.type_().to_string())).collect()
        }
        Err(error) => vec![("cannot be prepared".to_owned(), error.to_string())],
    };
    (columns, answer)
}

/// The known reason for a difference.
fn reason(program: &Outcome, plan: &Outcome) -> Option<&'static str> {
    let is_data_exception = |answer: &Answer| answer.as_ref().is_err_and(|(code, _)| code.starts_with("22"));
    match (&program.1, &plan.1) {
        (Err((code, _)), _) | (_, Err((code, _))) if code == "57014" => Some("takes too long, here or there"),
        (Err(_), Err(_)) if is_data_exception(&program.1) && is_data_exception(&plan.1) => {
            Some("of two errors in values, the other")
        }
        (Ok(_), Err(_)) if is_data_exception(&plan.1) => Some("an error in a value that the program does not compute"),
        (Err(_), Ok(_)) if is_data_exception(&program.1) => Some("an error in a value that the plan does not compute"),
        _ => None,
    }
}

fn shown(own: &Outcome, other: &Outcome) -> String {
    let columns = if own.0 == other.0 { String::new() } else { format!("{:?} ", own.0) };
    match (&own.1, &other.1) {
        (Err((code, _)), _) => format!("{columns}{code}"),
        (Ok(rows), Ok(others)) if rows == others => format!("{columns}the same rows"),
        (Ok(rows), others) => {
            let others: Vec<&String> = others.iter().flatten().collect();
            let own: Vec<&str> = rows
                .iter()
                .enumerate()
                .filter(|(at, row)| others.get(*at) != Some(row))
                .map(|(_, row)| row.as_str())
                .take(8)
                .collect();
            format!("{columns}{} rows: {}", rows.len(), own.join("  "))
        }
    }
}

#[test]
fn generated_queries_answer_as_programs_as_they_do_as_plans() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(32 << 20)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (count, seed) = (number("BENNU_GENERATED", 400), number("BENNU_GENERATED_SEED", 1));
        let mut run = Run::new(seed).await;
        for number in 0..count {
            let query = query(seed, number);
            run.compare(number, &query).await;
            if (number + 1) % 1000 == 0 {
                println!("{} queries, {} differ", number + 1, run.differ.len());
            }
        }
        println!("{count} queries by seed {seed} (BENNU_GENERATED_SEED), {} of them ran as programs", run.programs);
        run.listed.iter().for_each(|(reason, count)| println!("{count} listed: {reason}"));
        assert!(run.programs > count / 6, "{} row programs", run.programs);
        assert!(run.differ.is_empty(), "{} differ\n{}", run.differ.len(), run.differ.join("\n"));
    });
}
