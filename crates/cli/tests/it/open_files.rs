//! More client sockets than the limit of open files: the store keeps its descriptors, and active clients are served.

use crate::server::Server;
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tokio_postgres::NoTls;

/// Limit of open files; half of it is for clients.
const FILES: u32 = 256;

#[tokio::test]
async fn silent_sockets_leave_the_store_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_with_files(&folder.path().join("data"), FILES);
    let client = server.connect().await;
    client.batch_execute("CREATE TABLE t (k integer PRIMARY KEY, v text)").await.unwrap();
    // The kernel accepts connections before the server does.
    let silent: Vec<TcpStream> =
        (0..2 * FILES).map(|_| TcpStream::connect(("127.0.0.1", server.port)).unwrap()).collect();
    let start = Instant::now();
    while !connects(&server).await {
        assert!(start.elapsed() < Duration::from_secs(30), "silent sockets keep others out");
    }
    // A large load, the files of a new table, and spill files.
    client
        .batch_execute("INSERT INTO t SELECT g, repeat('x', 100) FROM generate_series(1, 50000) AS s (g)")
        .await
        .unwrap();
    client.batch_execute("CREATE TABLE u AS SELECT * FROM t; DROP TABLE t").await.unwrap();
    let count = client.query_one("SELECT count(*) FROM u", &[]).await.unwrap();
    assert_eq!(count.get::<_, i64>(0), 50_000);
    drop(silent);
}

/// Returns whether a new client is served. It may be refused, or wait in the kernel's backlog.
async fn connects(server: &Server) -> bool {
    let served = async {
        let config = format!("host=127.0.0.1 port={} user=test dbname=bennu", server.port);
        let (client, connection) = tokio_postgres::connect(&config, NoTls).await?;
        tokio::spawn(connection);
        client.simple_query("SELECT 1").await
    };
    match tokio::time::timeout(Duration::from_secs(2), served).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => {
            assert!(error.code().is_none_or(|code| code.code() == "53300"), "{error}");
            false
        }
        Err(_) => false,
    }
}
