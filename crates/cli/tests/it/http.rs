//! Health and metrics of a running server, and its shutdown.

use crate::server::Server;
use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::process::Stdio;

#[tokio::test]
async fn health_is_ok_and_metrics_count_what_clients_do() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("data"));
    assert_eq!(server.get("/healthz"), ("HTTP/1.1 200 OK".into(), "ok\n".into()));
    assert!(server.get("/").1.contains("/metrics"));
    assert_eq!(server.get("/nothing").0, "HTTP/1.1 404 Not Found");
    let client = server.connect().await;
    client.batch_execute("CREATE TABLE t (k integer PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)").await.unwrap();
    let (_, text) = server.get("/metrics");
    assert!(text.contains("\nbennu_statement_rows_written_total 3\n"), "{text}");
    assert!(text.contains("\nbennu_sessions 1\n"), "{text}");
    assert!(text.ends_with("# EOF\n"), "{text}");
}

/// Even if the port listens on all addresses, the metrics are only for loopback.
#[test]
fn peers_elsewhere_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_with_open_http(&folder.path().join("data"));
    assert_eq!(server.get("/healthz").0, "HTTP/1.1 200 OK");
    // Connecting a UDP socket sends nothing; it finds the address that packets would leave by.
    let outside = UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.connect("192.0.2.1:9").map(|()| socket));
    let Ok(address) = outside.and_then(|socket| socket.local_addr()) else { return };
    for path in ["/metrics", "/healthz", "/"] {
        let (status, told) = server.get_from(address.ip(), path);
        assert_eq!(status, "HTTP/1.1 403 Forbidden", "{path}");
        assert!(told.contains("only loopback is"), "{told}");
    }
}

#[test]
fn each_metric_comes_once_and_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("data"));
    let (_, text) = server.get("/metrics");
    let names: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split(' ').next()).collect();
    let different: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(names.len(), different.len(), "{text}");
    let page = include_str!("../../../../docs/operations/metrics.md");
    let told = page.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(different, told, "left: what there is; right: docs/operations/metrics.md");
}

#[test]
fn sigterm_ends_it_well_and_frees_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    assert!(Server::start(&data).stop());
    // The pipe of the log is closed.
    assert!(Server::start_with_log(&data, Stdio::piped()).stop());
}

#[tokio::test]
async fn sigterm_and_sigint_stop_what_runs() {
    for signal in ["TERM", "INT"] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let server = Server::start(&data);
        let (client, watcher) = (server.connect().await, server.connect().await);
        client.batch_execute("CREATE TABLE t (k integer PRIMARY KEY); BEGIN; INSERT INTO t VALUES (1)").await.unwrap();
        let endless = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b";
        let running = tokio::spawn(async move { client.query_one(endless, &[]).await });
        let active = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()";
        while watcher.query_one(active, &[]).await.unwrap().get::<_, i64>(0) == 0 {}
        let ended = tokio::task::spawn_blocking(move || server.stop_by(signal)).await.unwrap();
        assert!(ended, "{signal}");
        let error = running.await.unwrap().unwrap_err();
        assert_eq!(error.code().map(|code| code.code()), Some("57P01"), "{error:?}");
        let server = Server::start(&data);
        let rows: i64 = server.connect().await.query_one("SELECT count(*) FROM t", &[]).await.unwrap().get(0);
        assert_eq!(rows, 0);
    }
}
