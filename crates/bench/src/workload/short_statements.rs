//! Statements over a few rows beyond a read by key: a join, a sum, a list of keys. Prepared and as text.

use super::{Arena, rows_at};
use crate::Settings;
use crate::error::BenchError;
use crate::pgbench::{Protocol, Script};
use crate::report::Report;

/// Name and script.
const SCRIPTS: [(&str, &str); 4] = [
    (
        "join by key",
        "\\set id random(1, {orders})\n\
         SELECT o.id, o.placed, c.name FROM shop_orders o JOIN shop_customers c ON c.id = o.customer WHERE o.id = :id;\n",
    ),
    (
        "aggregate over 20 rows",
        "\\set id random(1, {orders})\n\
         SELECT count(*), sum(price * quantity), max(price) FROM shop_lines WHERE order_id = :id;\n",
    ),
    (
        "IN of 3 keys, expressions, sort, limit",
        "\\set a random(1, {orders})\n\\set b random(1, {orders})\n\\set c random(1, {orders})\n\
         SELECT id, upper(status), id % 10 + 1 AS shelf FROM shop_orders WHERE id IN (:a, :b, :c)\
          ORDER BY status DESC, id LIMIT 2;\n",
    ),
    (
        "point select",
        "\\set id random(1, {orders})\nSELECT customer, placed, status FROM shop_orders WHERE id = :id;\n",
    ),
];

/// Connections and target of the prepared forms.
const PREPARED: [(u32, f64); 3] = [(1, 1.0), (8, 1.0), (64, 1.2)];

pub(super) async fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let prepared = |name: &str, clients: u32| format!("{name}, {clients} connections");
    let as_text = |name: &str| format!("{name}, unprepared, 8 connections");
    let wanted = |name: &str| {
        settings.wants(&as_text(name)) || PREPARED.iter().any(|(clients, _)| settings.wants(&prepared(name, *clients)))
    };
    if !SCRIPTS.iter().any(|(name, _)| wanted(name)) {
        return Ok(());
    }
    let orders = rows_at(settings.scale, 100_000);
    arena.prepare(&fill(orders), &format!("{}; VACUUM ANALYZE", fill(orders))).await?;
    let path = arena.folder.join("short.sql");
    for (name, script) in SCRIPTS {
        std::fs::write(&path, script.replace("{orders}", &orders.to_string()))?;
        // `rows` measures the prepared point select.
        let runs = if name == "point select" { &[][..] } else { &PREPARED[..] };
        for (clients, target) in runs {
            let name = prepared(name, *clients);
            if settings.wants(&name) {
                let script = Script::File(&path, Protocol::Prepared);
                arena.alternate(report, settings, (&name, script, *clients, Some(*target)))?;
            }
        }
        let target = if name == "point select" { 1.0 } else { 0.7 };
        let name = as_text(name);
        if settings.wants(&name) {
            arena.alternate(report, settings, (&name, Script::File(&path, Protocol::Simple), 8, Some(target)))?;
        }
    }
    Ok(())
}

/// Creates orders with twenty lines each, and a tenth as many customers.
fn fill(orders: u64) -> String {
    let customers = orders.div_ceil(10);
    format!(
        "CREATE TABLE shop_customers (id integer PRIMARY KEY, name varchar);
         CREATE TABLE shop_orders (id integer PRIMARY KEY, customer integer, placed timestamp, status varchar);
         CREATE TABLE shop_lines (order_id integer, line integer, price numeric(10,2), quantity integer,
                                  PRIMARY KEY (order_id, line));
         INSERT INTO shop_customers SELECT c, 'customer ' || c FROM generate_series(1, {customers}) AS g(c);
         INSERT INTO shop_orders SELECT o, o % {customers} + 1, timestamp '2024-01-01' + o * interval '1 minute',
                CASE o % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'sent' ELSE 'paid' END FROM generate_series(1, {orders}) AS g(o);
         INSERT INTO shop_lines SELECT o, l, (o * l) % 9999 / 100.0, l % 5 + 1
                FROM generate_series(1, {orders}) AS g(o), generate_series(1, 20) AS h(l)"
    )
}
