//! The HTTP port.

use crate::metrics;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use engine::Engine;
use std::io;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Serves `/` (what there is), `/healthz` (200 while the store takes writes, 503 with the reason once it does not) and
/// `/metrics`, until `stop` is cancelled.
///
/// # Errors
/// When the listener fails.
pub async fn serve(listener: TcpListener, engine: Arc<Engine>, stop: CancellationToken) -> io::Result<()> {
    let app = Router::new()
        .route("/", get(async || "bennu\n/healthz  does the store take writes?\n/metrics  figures for Prometheus\n"))
        .route("/healthz", get(health))
        .route("/metrics", get(figures))
        .with_state(engine);
    axum::serve(listener, app).with_graceful_shutdown(stop.cancelled_owned()).await
}

async fn health(State(engine): State<Arc<Engine>>) -> Response {
    match engine.health().await {
        Ok(()) => (StatusCode::OK, "ok\n").into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{}\n", error.message())).into_response(),
    }
}

async fn figures(State(engine): State<Arc<Engine>>) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")];
    match metrics::render(&engine.metrics()) {
        Ok(text) => (kind, text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}
