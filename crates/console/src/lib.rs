//! Health and metrics over HTTP: `/healthz` and Prometheus' `/metrics`.
//!
//! Figures are named once, by the store and the engine; this crate only gives them Prometheus' form.
//! Read next: `engine` (`Engine::metrics`).

mod metrics;
mod server;

pub use server::{Peers, serve};
