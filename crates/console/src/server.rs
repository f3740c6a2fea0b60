//! The HTTP server.

use crate::metrics;
use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use engine::Engine;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Serves `/` (an overview), `/healthz` (200 while the store accepts writes and all threads make progress, otherwise
/// 503
/// with the reason) and `/metrics` to `peers`, until `stop` is cancelled.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    listener: TcpListener,
    engine: Arc<Engine>,
    peers: Peers,
    stop: CancellationToken,
) -> io::Result<()> {
    let app = Router::new()
        .route("/", get(async || "bennu\n/healthz  does it serve?\n/metrics  figures for Prometheus\n"))
        .route("/healthz", get(health))
        .route("/metrics", get(figures))
        .with_state(engine)
        .layer(from_fn_with_state(peers, only_peers))
        .into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, app).with_graceful_shutdown(stop.cancelled_owned()).await
}

/// Peers that the server answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Peers {
    /// Programs on this machine through loopback, as for PostgreSQL clients.
    #[default]
    Loopback,
    /// Every client that can reach the port.
    Any,
}

impl Peers {
    fn include(self, peer: IpAddr) -> bool {
        match self {
            Self::Loopback => peer.to_canonical().is_loopback(),
            Self::Any => true,
        }
    }
}

async fn only_peers(
    State(peers): State<Peers>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    if peers.include(peer.ip()) {
        return next.run(request).await;
    }
    let told =
        format!("requests from {} are not answered: only loopback is, unless http_peers is \"any\"\n", peer.ip());
    (StatusCode::FORBIDDEN, told).into_response()
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

#[cfg(test)]
mod tests {
    use super::Peers;
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    #[test]
    fn others_are_answered_only_when_that_is_wanted() {
        let loopback = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()];
        let mapped = IpAddr::from(Ipv4Addr::LOCALHOST.to_ipv6_mapped());
        let others = [IpAddr::from([192, 168, 1, 7]), IpAddr::from([0xfe80, 0, 0, 0, 0, 0, 0, 1])];
        assert!(loopback.into_iter().chain([mapped]).all(|peer| Peers::default().include(peer)));
        assert!(others.into_iter().all(|peer| !Peers::Loopback.include(peer) && Peers::Any.include(peer)));
    }
}
