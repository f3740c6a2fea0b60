//! Functions called with unexpected arguments: any answer or error is correct, except an internal error.

use crate::client::Client;
use store_testkit::{Random, from_environment};

/// Values of all kinds: constants, expressions and columns.
const VALUES: [&str; 24] = [
    "1",
    "-5",
    "1 + 0",
    "1.5",
    "2::numeric",
    "1e300::float8",
    "'NaN'::float8",
    "NULL",
    "'x'",
    "'x'::text",
    "''",
    "true",
    "ARRAY[1, 2]",
    "ARRAY[[1, 2], [3, 4]]",
    "ARRAY['a', NULL]",
    "'{}'::integer[]",
    "(1, 2)",
    "timestamptz '2020-01-01 00:00Z'",
    "date '2020-01-01'",
    "interval '1 day'",
    "'\\x00ff'::bytea",
    "'{\"a\": [1]}'::json",
    "c",
    "t",
];

/// Functions that wait, or that stop other sessions.
const LEFT_OUT: [&str; 5] = ["pg_sleep", "pg_sleep_for", "pg_sleep_until", "pg_terminate_backend", "pg_cancel_backend"];

#[tokio::test]
async fn functions_called_with_what_they_do_not_expect_fail_in_words() {
    let seed = from_environment("BENNU_SEED", 1);
    let calls: usize = std::env::var("BENNU_CALLS").ok().and_then(|calls| calls.parse().ok()).unwrap_or(6);
    let mut client = Client::new().await;
    client.ok("SET statement_timeout = '10s'").await;
    let names = client.run("SELECT DISTINCT proname FROM pg_proc ORDER BY 1").await;
    let mut numbers = Random::new(seed);
    let mut broken = Vec::new();
    for name in names.lines().filter(|name| !name.contains(' ') && !LEFT_OUT.contains(name)) {
        for call in 0..calls {
            let arguments: Vec<&str> = (0..call % 3 + usize::from(call > 0)).map(|_| numbers.pick(&VALUES)).collect();
            let arguments = arguments.join(", ");
            let text = format!("SELECT \"{name}\"({arguments}) FROM (VALUES (2, 'x'::text), (NULL, NULL)) AS v (c, t)");
            let answer = client.run(&text).await;
            if answer.contains("ERROR XX000") {
                broken.push(format!("{text}\n{answer}"));
            }
        }
    }
    assert!(broken.is_empty(), "seed {seed}:\n{}", broken.join("\n"));
}
