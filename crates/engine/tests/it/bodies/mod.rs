//! Every built-in function with a row-wise body computes the same as the Arrow kernel that plans use for it: the same
//! values and types, or the same SQLSTATE, for generated arguments with NULLs and the limits of ranges. Functions
//! that cannot be compared are counted by cause.

#![allow(clippy::print_stdout)]

mod arguments;
mod calls;

use crate::client::{Client, engine};
use arguments::{ROWS, Table};
use builtins::Function;
use calls::calls_of;
use std::collections::BTreeMap;

/// Functions whose two implementations are known to differ, with the cause.
const KNOWN: [(u32, &str); 5] = [
    (1299, "now(): both sessions have a time of their own"),
    (2103, "avg(numeric): a plan's sum has no zeros at its end, so that an average of more than 16 digits has fewer"),
    (2647, "transaction_timestamp(): both sessions have a time of their own"),
    (2648, "statement_timestamp(): both sessions have a time of their own"),
    (3538, "string_agg(text, text): a plan has a delimiter that is a constant only"),
];

const RAN: &str = "statements_row_program_total";

/// Two sessions of one engine: one runs row programs, the other plans.
struct Sides {
    engine: std::sync::Arc<::engine::Engine>,
    body: Client,
    kernel: Client,
    table: Table,
    causes: BTreeMap<&'static str, Vec<String>>,
    compared: usize,
    differ: Vec<String>,
}

impl Sides {
    async fn new(seed: u64) -> Self {
        let engine = engine().await;
        let (mut body, mut kernel) = (Client::of(&engine), Client::of(&engine));
        let table = Table::make(&mut body, seed).await;
        body.ok("SET bennu.row_programs = 'all'; SET TimeZone = 'Europe/Berlin'").await;
        kernel.ok("SET bennu.row_programs = off; SET TimeZone = 'Europe/Berlin'").await;
        Self { engine, body, kernel, table, causes: BTreeMap::new(), compared: 0, differ: Vec::new() }
    }

    fn skip(&mut self, cause: &'static str, line: String) {
        self.causes.entry(cause).or_default().push(line);
    }

    /// Compares one call for all rows.
    async fn compare(&mut self, line: &str, call: &str) {
        let by_row = format!("SELECT {call} FROM v WHERE n = $1");
        let (body, kernel) =
            match (self.body.session.prepare(&by_row, &[]).await, self.kernel.session.prepare(&by_row, &[]).await) {
                (Ok(body), Ok(kernel)) => (body, kernel),
                (Err(one), Err(other)) if one.code() == other.code() => {
                    return self.skip("cannot be called by its name", format!("{line}: {}", one.message()));
                }
                (one, other) => {
                    let shown = |side: &Result<_, ::engine::EngineError>| {
                        side.as_ref().err().map(|error| error.code().to_owned())
                    };
                    return self.differ.push(format!(
                        "{line}: {call} is prepared {:?} {:?}",
                        shown(&one),
                        shown(&other)
                    ));
                }
            };
        let types = |prepared: &::engine::Prepared| {
            prepared
                .columns
                .iter()
                .flat_map(|all| all.iter())
                .map(|column| column.ty.without_digits())
                .collect::<Vec<_>>()
        };
        if types(&body) != types(&kernel) {
            self.differ.push(format!("{line}: {call} has types {:?} {:?}", types(&body), types(&kernel)));
        }
        let before = Client::metric(&self.engine, RAN);
        let mut wanted = Vec::new();
        for n in 0..ROWS {
            wanted.push(first_line(&self.body.run_prepared(&body, &[types::Datum::Int4(n)]).await));
        }
        // A call that fails does not count as a row program that ran.
        if Client::metric(&self.engine, RAN) == before && wanted.iter().any(|answer| !answer.starts_with("ERROR")) {
            return self.skip("no row program has it", line.to_owned());
        }
        self.compared += 1;
        // All rows that succeed in one batch, so that kernels get arrays with NULLs among the values; the others one
        // by one.
        let good: Vec<i32> = (0..ROWS).filter(|n| !wanted[*n as usize].starts_with("ERROR")).collect();
        let list = good.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let batch = format!("SELECT {call} FROM v WHERE n = ANY ('{{{list}}}'::integer[]) ORDER BY n");
        let together: Vec<String> = self.kernel.run(&batch).await.lines().map(cut_error).collect();
        let of_good = good.iter().enumerate().find(|(at, n)| together.get(*at) != Some(&wanted[**n as usize]));
        let differs = match of_good {
            Some((at, n)) if together.len() > good.len() => Some((*n, together[at].clone())),
            Some(_) => {
                self.alone(&kernel, 0..ROWS, &wanted).await.or(Some((good[0], format!("{} of all", together[0]))))
            }
            None => {
                let bad = (0..ROWS).filter(|n| !good.contains(n)).collect::<Vec<_>>();
                self.alone(&kernel, bad.into_iter(), &wanted).await
            }
        };
        if let Some((n, found)) = differs {
            let row = self.kernel.run(&format!("SELECT {} FROM v WHERE n = {n}", self.table.shown(call))).await;
            let wanted = &wanted[n as usize];
            self.differ.push(format!("{line}: {call}\n  row {n}: body {wanted}, kernel {found}, of {row}"));
        }
    }

    /// The first of these rows whose value differs from the wanted one if a plan reads that row alone.
    async fn alone(
        &mut self,
        kernel: &std::sync::Arc<::engine::Prepared>,
        rows: impl Iterator<Item = i32>,
        wanted: &[String],
    ) -> Option<(i32, String)> {
        for n in rows {
            let found = first_line(&self.kernel.run_prepared(kernel, &[types::Datum::Int4(n)]).await);
            if found != wanted[n as usize] {
                return Some((n, found));
            }
        }
        None
    }

    async fn line(&mut self, function: &'static Function) {
        let line = format!("{} {}({})", function.id.0, function.name, calls::types(function));
        if function.body.is_none() {
            return self.skip("no body: DataFusion alone computes it", line);
        }
        match calls_of(function, &self.table) {
            Ok(calls) => {
                for call in calls {
                    self.compare(&line, &call).await;
                }
            }
            Err(cause) => self.skip(cause, line),
        }
    }

    /// Compares an aggregate over all rows, over groups and over no rows.
    async fn aggregate(&mut self, function: &'static Function) {
        let line = format!("{} {}({})", function.id.0, function.name, calls::types(function));
        if builtins::accumulator(function.id).is_none() {
            return self.skip("no accumulator: DataFusion alone computes it", line);
        }
        let calls = match calls_of(function, &self.table) {
            Ok(calls) => calls,
            Err(cause) => return self.skip(cause, line),
        };
        for call in calls {
            for query in [
                format!("SELECT n % 5 AS g, {call} FROM v GROUP BY 1 ORDER BY 1"),
                format!("SELECT {call} FROM v WHERE n < 9"),
                format!("SELECT {call} FROM v WHERE n < 0"),
            ] {
                let before = Client::metric(&self.engine, RAN);
                let body = cut_all(&self.body.run(&query).await);
                if Client::metric(&self.engine, RAN) == before && !body.starts_with("ERROR") {
                    self.skip("no row program has it", line.clone());
                    break;
                }
                let kernel = cut_all(&self.kernel.run(&query).await);
                self.compared += 1;
                if body != kernel {
                    self.differ.push(format!("{line}: {query}\n  body   {body:?}\n  kernel {kernel:?}"));
                    break;
                }
            }
        }
    }
}

/// Reduces an error to its SQLSTATE, because the message may depend on the implementation.
fn cut_error(line: &str) -> String {
    match line.strip_prefix("ERROR ") {
        Some(rest) => format!("ERROR {}", rest.get(..5).unwrap_or(rest)),
        None => line.to_owned(),
    }
}

fn first_line(answer: &str) -> String {
    cut_error(answer.lines().next().unwrap_or_default())
}

fn cut_all(answer: &str) -> String {
    if answer.starts_with("ERROR") { first_line(answer) } else { answer.to_owned() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_compute_as_kernels_do() {
    let seed = store_testkit::from_environment("BENNU_SEED", 1);
    let mut sides = Sides::new(seed).await;
    for function in builtins::functions() {
        let known = KNOWN.iter().find(|(id, _)| *id == function.id.0);
        match (known, function.kind) {
            (Some((id, cause)), _) => sides.skip(cause, id.to_string()),
            (None, builtins::Kind::Aggregate) => sides.aggregate(function).await,
            (None, _) => sides.line(function).await,
        }
    }
    println!("{} calls compared, by seed {seed} (BENNU_SEED)", sides.compared);
    for (cause, lines) in &sides.causes {
        println!("{} lines not compared: {cause}\n    {}", lines.len(), lines.join("\n    "));
    }
    assert!(sides.compared > 400, "{}", sides.compared);
    assert!(sides.differ.is_empty(), "{} differ\n{}", sides.differ.len(), sides.differ.join("\n"));
}
