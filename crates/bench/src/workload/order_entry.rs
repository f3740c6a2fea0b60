//! A mix like TPC-C's: new order, payment, order status, delivery and stock level, in its proportions.
//!
//! The scripts are smaller than the specification's: an order has five lines, and order status reads a district's
//! newest order, so that every read is by a prefix of a primary key on both sides. A transaction locks items in
//! ascending order, which avoids deadlocks.

use super::{Arena, rows_at};
use crate::Settings;
use crate::error::BenchError;
use crate::pgbench::{Protocol, Script};
use crate::report::Report;
use std::fmt::Write as _;
use std::path::PathBuf;

const DISTRICTS: u32 = 10;
const CUSTOMERS: u32 = 300;
const ITEMS: u32 = 10_000;
const LINES: u32 = 5;
/// Initial orders per district.
const ORDERS: u32 = 300;

const TARGETS: [(u32, f64); 2] = [(8, 1.2), (64, 1.5)];

pub(super) async fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let name = |clients: u32| format!("order entry mix, {clients} connections");
    if !TARGETS.iter().any(|(clients, _)| settings.wants(&name(*clients))) {
        return Ok(());
    }
    let warehouses = rows_at(settings.scale, 10);
    let fill = fill(warehouses);
    arena.prepare(&fill, &format!("{fill}; VACUUM ANALYZE")).await?;
    let scripts = [
        ("new_order", 45, new_order()),
        ("payment", 43, PAYMENT.to_owned()),
        ("order_status", 4, ORDER_STATUS.to_owned()),
        ("delivery", 4, DELIVERY.to_owned()),
        ("stock_level", 4, STOCK_LEVEL.to_owned()),
    ];
    let mut files: Vec<(PathBuf, u32)> = Vec::new();
    for (name, weight, script) in scripts {
        let path = arena.folder.join(format!("{name}.sql"));
        let head = format!(
            "\\set w random(1, {warehouses})\n\\set d random(1, {DISTRICTS})\n\\set c random(1, {CUSTOMERS})\n"
        );
        std::fs::write(&path, head + &script)?;
        files.push((path, weight));
    }
    for (clients, target) in TARGETS {
        let name = name(clients);
        if settings.wants(&name) {
            let script = Script::Mix(&files, Protocol::Prepared);
            arena.alternate(report, settings, (&name, script, clients, Some(target)))?;
        }
    }
    Ok(())
}

fn new_order() -> String {
    let mut script = String::from(
        "BEGIN;
SELECT w_tax FROM warehouse WHERE w_id = :w;
SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c;
UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = :w AND d_id = :d RETURNING d_next_o_id - 1 AS o \\gset
INSERT INTO orders VALUES (:w, :d, :o, :c, now(), NULL, 5);
INSERT INTO new_order VALUES (:w, :d, :o);
",
    );
    let share = ITEMS / LINES;
    for line in 1..=LINES {
        let (from, to) = ((line - 1) * share + 1, line * share);
        let _ = write!(
            script,
            "\\set i random({from}, {to})
\\set q random(1, 10)
SELECT i_price AS price FROM item WHERE i_id = :i \\gset
UPDATE stock SET s_quantity = CASE WHEN s_quantity >= :q + 10 THEN s_quantity - :q ELSE s_quantity + 91 - :q END,\
  s_ytd = s_ytd + :q, s_order_cnt = s_order_cnt + 1 WHERE s_w_id = :w AND s_i_id = :i;
INSERT INTO order_line VALUES (:w, :d, :o, {line}, :i, NULL, :q, :price::numeric * :q);
"
        );
    }
    script + "COMMIT;\n"
}

const PAYMENT: &str = "\\set h random(1, 500000)
BEGIN;
UPDATE warehouse SET w_ytd = w_ytd + :h / 100.0 WHERE w_id = :w;
UPDATE district SET d_ytd = d_ytd + :h / 100.0 WHERE d_w_id = :w AND d_id = :d;
UPDATE customer SET c_balance = c_balance - :h / 100.0, c_payment_cnt = c_payment_cnt + 1
 WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c RETURNING c_last, c_balance;
INSERT INTO history VALUES (:w, :d, :c, now(), :h / 100.0);
COMMIT;
";

const ORDER_STATUS: &str = "BEGIN;
SELECT c_balance, c_last FROM customer WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c;
SELECT o_id AS o, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = :w AND o_d_id = :d ORDER BY o_id DESC LIMIT 1 \\gset
SELECT ol_i_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = :o;
COMMIT;
";

const DELIVERY: &str = "\\set r random(1, 10)
BEGIN;
SELECT coalesce(min(no_o_id), 0) AS o FROM new_order WHERE no_w_id = :w AND no_d_id = :d \\gset
DELETE FROM new_order WHERE no_w_id = :w AND no_d_id = :d AND no_o_id = :o;
UPDATE orders SET o_carrier_id = :r WHERE o_w_id = :w AND o_d_id = :d AND o_id = :o;
UPDATE order_line SET ol_delivery_d = now() WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = :o;
SELECT coalesce(sum(ol_amount), 0) AS total FROM order_line WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = :o \\gset
UPDATE customer SET c_balance = c_balance + :total WHERE c_w_id = :w AND c_d_id = :d
 AND c_id = (SELECT o_c_id FROM orders WHERE o_w_id = :w AND o_d_id = :d AND o_id = :o);
COMMIT;
";

const STOCK_LEVEL: &str = "BEGIN;
SELECT d_next_o_id AS next FROM district WHERE d_w_id = :w AND d_id = :d \\gset
SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
 WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id >= :next - 20 AND ol_o_id < :next AND s_quantity < 15;
COMMIT;
";

fn fill(warehouses: u64) -> String {
    format!(
        "CREATE TABLE warehouse (w_id integer PRIMARY KEY, w_tax numeric(4,4), w_ytd numeric(14,2));
         CREATE TABLE district (d_w_id integer, d_id integer, d_next_o_id integer, d_ytd numeric(14,2),
                                PRIMARY KEY (d_w_id, d_id));
         CREATE TABLE customer (c_w_id integer, c_d_id integer, c_id integer, c_last varchar, c_credit char(2),
                                c_discount numeric(4,4), c_balance numeric(14,2), c_payment_cnt integer,
                                PRIMARY KEY (c_w_id, c_d_id, c_id));
         CREATE TABLE item (i_id integer PRIMARY KEY, i_name varchar, i_price numeric(5,2));
         CREATE TABLE stock (s_w_id integer, s_i_id integer, s_quantity integer, s_ytd integer, s_order_cnt integer,
                             PRIMARY KEY (s_w_id, s_i_id));
         CREATE TABLE orders (o_w_id integer, o_d_id integer, o_id integer, o_c_id integer, o_entry_d timestamptz,
                              o_carrier_id integer, o_ol_cnt integer, PRIMARY KEY (o_w_id, o_d_id, o_id));
         CREATE TABLE new_order (no_w_id integer, no_d_id integer, no_o_id integer,
                                 PRIMARY KEY (no_w_id, no_d_id, no_o_id));
         CREATE TABLE order_line (ol_w_id integer, ol_d_id integer, ol_o_id integer, ol_number integer, ol_i_id integer,
                                  ol_delivery_d timestamptz, ol_quantity integer, ol_amount numeric(8,2),
                                  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));
         CREATE TABLE history (h_w_id integer, h_d_id integer, h_c_id integer, h_date timestamptz, h_amount numeric(8,2));
         INSERT INTO warehouse SELECT w, 0.1, 0 FROM generate_series(1, {warehouses}) AS g(w);
         INSERT INTO district SELECT w, d, {ORDERS} + 1, 0
                FROM generate_series(1, {warehouses}) AS g(w), generate_series(1, {DISTRICTS}) AS h(d);
         INSERT INTO customer SELECT w, d, c, 'last ' || c, 'GC', 0.05, 0, 0
                FROM generate_series(1, {warehouses}) AS g(w), generate_series(1, {DISTRICTS}) AS h(d),
                     generate_series(1, {CUSTOMERS}) AS i(c);
         INSERT INTO item SELECT i, 'item ' || i, i % 100 + 0.99 FROM generate_series(1, {ITEMS}) AS g(i);
         INSERT INTO stock SELECT w, i, 10 + (w * i) % 90, 0, 0
                FROM generate_series(1, {warehouses}) AS g(w), generate_series(1, {ITEMS}) AS h(i);
         INSERT INTO orders SELECT w, d, o, o, now(), 1, {LINES}
                FROM generate_series(1, {warehouses}) AS g(w), generate_series(1, {DISTRICTS}) AS h(d),
                     generate_series(1, {ORDERS}) AS i(o);
         INSERT INTO new_order SELECT w, d, o
                FROM generate_series(1, {warehouses}) AS g(w), generate_series(1, {DISTRICTS}) AS h(d),
                     generate_series({ORDERS} - 90, {ORDERS}) AS i(o);
         INSERT INTO order_line SELECT w, d, o, l, (o * l) % {ITEMS} + 1, NULL, 5, 10
                FROM generate_series(1, {warehouses}) AS g(w), generate_series(1, {DISTRICTS}) AS h(d),
                     generate_series(1, {ORDERS}) AS i(o), generate_series(1, {LINES}) AS j(l)"
    )
}
