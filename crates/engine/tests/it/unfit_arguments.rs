//! Functions called with what they do not expect: any answer or error is right but an internal one.

use crate::client::Client;

/// Numbers that a seed gives.
struct Numbers(u64);

impl Numbers {
    fn one_of<'t>(&mut self, list: &[&'t str]) -> &'t str {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        list[(self.0 >> 33) as usize % list.len()]
    }
}

/// Values of all kinds, as constants, computed, and as columns.
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

/// Those that wait, or that end what others do.
const LEFT_OUT: [&str; 5] = ["pg_sleep", "pg_sleep_for", "pg_sleep_until", "pg_terminate_backend", "pg_cancel_backend"];

#[tokio::test]
async fn functions_called_with_what_they_do_not_expect_fail_in_words() {
    let seed: u64 = std::env::var("BENNU_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let calls: usize = std::env::var("BENNU_CALLS").ok().and_then(|calls| calls.parse().ok()).unwrap_or(6);
    let mut client = Client::new().await;
    client.ok("SET statement_timeout = '10s'").await;
    let names = client.run("SELECT DISTINCT proname FROM pg_proc ORDER BY 1").await;
    let mut numbers = Numbers(seed);
    let mut broken = Vec::new();
    for name in names.lines().filter(|name| !name.contains(' ') && !LEFT_OUT.contains(name)) {
        for call in 0..calls {
            let arguments: Vec<&str> = (0..call % 3 + usize::from(call > 0)).map(|_| numbers.one_of(&VALUES)).collect();
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
