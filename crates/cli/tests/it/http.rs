//! Health and metrics of a running server, and its end.

use crate::server::Server;
use std::collections::BTreeSet;
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
    // Nobody reads its log any more.
    assert!(Server::start_with_log(&data, Stdio::piped()).stop());
}
