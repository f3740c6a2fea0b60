//! The PostgreSQL wire: startup, queries, COPY and cancel over TCP.
//!
//! ```text
//!   listener ──deals──> worker thread (one per core; long computations leave it)
//!                          connection: frontend (frames in) ─> simple / extended / copy ─> engine::Session
//!                                      backend, rows, encode (answers out) <─ Answer
//! ```
//!
//! Invariants:
//! - No byte that a client sends can panic: frames are cut whole and read by total functions (`frontend`).
//! - Responses leave in one write per Sync, or when the buffer is full: never one write per message.
//! - Rows stream: a result is never held whole, and a disconnected client's statement is dropped.
//!
//! Read next: `engine` (what a session does).

mod backend;
mod connection;
mod copy;
mod encode;
mod end;
mod extended;
mod frontend;
mod idle_poll;
mod listener;
mod portals;
mod rows;
mod seats;
mod simple;
mod socket;
mod sockets;
mod startup;
mod startup_options;
mod wire;

pub use engine::Keepalive;
pub use listener::{ServerOptions, serve};
pub use sockets::raise_file_limit;
