//! Row programs: the statements that become one, their limits, and the hand-over to plans.

use crate::client::{Client, engine};
use std::sync::Arc;
use types::Datum;

const RAN: &str = "statements_row_program_total";
const HANDED_OVER: &str = "statements_handed_over_total";

async fn filled() -> (Arc<engine::Engine>, Client) {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE customers (id integer PRIMARY KEY, name text)").await;
    c.ok("CREATE TABLE orders (id integer PRIMARY KEY, customer integer)").await;
    c.ok("CREATE TABLE lines (order_id integer, line integer, price numeric(10,2), PRIMARY KEY (order_id, line))")
        .await;
    c.ok("INSERT INTO customers SELECT c, 'c' || c FROM generate_series(1, 50) AS g(c)").await;
    c.ok("INSERT INTO orders SELECT o, o % 50 + 1 FROM generate_series(1, 200) AS g(o)").await;
    c.ok("INSERT INTO lines SELECT o, l, l FROM generate_series(1, 50) AS g(o), generate_series(1, 20) AS h(l)").await;
    (engine, c)
}

#[tokio::test]
async fn short_statements_run_as_programs_and_others_as_plans() {
    let (engine, mut c) = filled().await;
    for (text, is_program) in [
        ("SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer WHERE o.id = 7", true),
        ("SELECT count(*), sum(price) FROM lines WHERE order_id = 7", true),
        ("SELECT id + 1 FROM orders WHERE id IN (1, 2, 3) ORDER BY customer LIMIT 2", true),
        ("SELECT 1 + 1", true),
        ("SELECT count(*) FROM lines", false),
        ("SELECT * FROM orders WHERE customer = 7", false),
        ("SELECT row_number() OVER (ORDER BY line) FROM lines WHERE order_id = 7", false),
        ("SELECT random() < 2, id FROM orders WHERE id IN (1, 2) ORDER BY customer", false),
    ] {
        let before = Client::metric(&engine, RAN);
        c.ok(text).await;
        assert_eq!(Client::metric(&engine, RAN) - before, u64::from(is_program), "{text}");
    }
    c.ok("SET bennu.row_programs = off").await;
    let before = Client::metric(&engine, RAN);
    c.ok("SELECT count(*), sum(price) FROM lines WHERE order_id = 7").await;
    assert_eq!(Client::metric(&engine, RAN), before);
}

#[tokio::test]
async fn parameters_have_the_types_that_the_statement_gives_them() {
    let (engine, mut c) = filled().await;
    let text = "SELECT count(*), sum(price * $2) FROM lines WHERE order_id = $1 AND line <= $3";
    let prepared = c.session.prepare(text, &[]).await.unwrap();
    use types::DataType as T;
    assert_eq!(prepared.parameters, [T::Integer, T::Numeric(None), T::Integer]);
    let params = [Datum::Int4(3), Datum::Numeric(2.into()), Datum::Int4(2)];
    assert_eq!(c.run_prepared(&prepared, &params).await, "2|6\nSELECT 1");
    assert_eq!(Client::metric(&engine, RAN), 1);
    let params = [Datum::Null, Datum::Null, Datum::Int4(2)];
    assert_eq!(c.run_prepared(&prepared, &params).await, "0|~\nSELECT 1");
}

#[tokio::test]
async fn past_the_budget_the_plan_answers_on_the_same_state() {
    let (engine, mut c) = filled().await;
    let text = "SELECT count(*), sum(price) FROM lines WHERE order_id BETWEEN 7 AND 7 AND order_id = 7";
    let answer = c.run(text).await;
    assert_eq!(answer, "20|210.00\nSELECT 1");
    c.ok("SET bennu.row_budget = 10").await;
    c.ok("BEGIN").await;
    c.ok("DELETE FROM lines WHERE order_id = 7 AND line > 15").await;
    let ran = Client::metric(&engine, RAN);
    for _ in 0..10 {
        assert_eq!(c.run(text).await, "15|120.00\nSELECT 1", "its own writes are in the state");
    }
    assert_eq!(Client::metric(&engine, RAN), ran);
    assert_eq!(Client::metric(&engine, HANDED_OVER), 4, "it is not tried again and again");
    c.ok("ROLLBACK").await;
    assert_eq!(c.run(text).await, answer);
}

#[tokio::test]
async fn a_timeout_stops_a_program_that_computes() {
    let (engine, mut c) = filled().await;
    c.ok("SET bennu.row_programs = 'all'").await;
    c.ok("SET bennu.row_budget = 1000000").await;
    c.ok("SET statement_timeout = '30ms'").await;
    let text = "SELECT count(*) FROM lines a, lines b, orders o WHERE a.price + b.price + o.id < 0";
    let answer = c.run(text).await;
    assert_eq!(answer, "ERROR 57014 canceling statement due to statement timeout");
    assert_eq!(Client::metric(&engine, RAN), 0);
}

#[tokio::test]
async fn a_change_of_definitions_changes_the_program() {
    let (engine, mut c) = filled().await;
    let text = "SELECT o.*, c.name FROM orders o JOIN customers c ON c.id = o.customer WHERE o.id = 7";
    let prepared = c.session.prepare(text, &[]).await.unwrap();
    assert_eq!(c.run_prepared(&prepared, &[]).await, "7|8|c8\nSELECT 1");
    c.ok("UPDATE customers SET name = 'eight' WHERE id = 8").await;
    assert_eq!(c.run_prepared(&prepared, &[]).await, "7|8|eight\nSELECT 1");
    c.ok("ALTER TABLE orders ADD COLUMN note text DEFAULT 'n'").await;
    let answer = c.run_prepared(&prepared, &[]).await;
    assert!(answer.starts_with("ERROR 0A000 cached plan must not change result type"), "{answer}");
    assert_eq!(c.run(text).await, "7|8|n|eight\nSELECT 1");
    c.ok("DROP TABLE customers").await;
    assert!(c.run(text).await.starts_with("ERROR 42P01"));
    assert_eq!(Client::metric(&engine, RAN), 3);
}
