//! Health and metrics over HTTP: `/healthz` and Prometheus' `/metrics`.
//!
//! The store and the engine name the metrics; this crate only formats them for Prometheus.
//! Read next: `engine` (`Engine::metrics`).

mod metrics;
mod server;

pub use server::{Peers, serve};
