//! Spill files of queries: in the data folder, removed after a crash, and the error when there is no room for them.

use crate::server::Server;
use std::path::Path;
use std::process::Command;
use tokio_postgres::Client;

/// Number of files below the spill folders.
fn spilled(data: &Path) -> usize {
    let folders = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap());
    let folders = folders.filter(|entry| entry.file_name().to_str().unwrap().starts_with("spill-"));
    folders.map(|folder| files_below(&folder.path())).sum()
}

fn files_below(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files_below(&path) } else { usize::from(!path.ends_with("in-use")) }).sum()
}

#[tokio::test]
async fn what_a_killed_server_spilled_is_removed_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start_with_config(&data, "query_memory_mib = 16\nmemtable_mib = 16\ncache_mib = 16\n");
    let client = server.connect().await;
    client.batch_execute("BEGIN").await.unwrap();
    let query = "SELECT md5(g::text) AS t FROM generate_series(1, 400000) AS s (g) ORDER BY t";
    client.batch_execute(&format!("DECLARE c CURSOR FOR {query}; FETCH 1 FROM c")).await.unwrap();
    assert!(spilled(&data) > 0, "the sort spilled");
    server.kill();
    assert!(spilled(&data) > 0, "its files are left behind");
    let server = Server::start(&data);
    assert_eq!(spilled(&data), 0);
    assert!(server.stop());
    let left = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.starts_with("spill-")).count(), 0, "nothing is left after a clean end");
}

const SMALL: &str = "query_memory_mib = 16\nmemtable_mib = 16\ncache_mib = 16\n";

/// A CTE of so many megabytes that is spilled to one file, since it is computed once and read twice.
fn kept(megabytes: u32) -> String {
    format!(
        "WITH w AS (SELECT repeat(md5((g + random())::text), 1000) AS t FROM generate_series(1, {}) AS s (g)) \
         SELECT a.n + b.n FROM (SELECT count(*) AS n FROM w) AS a, (SELECT sum(length(t)) AS n FROM w) AS b",
        megabytes * 32
    )
}

/// SQLSTATE, message and hint of the statement's error.
async fn refusal(client: &Client, statement: &str) -> (String, String) {
    let error = client.simple_query(statement).await.expect_err(statement);
    let error = error.as_db_error().unwrap_or_else(|| panic!("{statement}: {error}")).clone();
    (error.code().code().to_owned(), format!("{} {}", error.message(), error.hint().unwrap_or_default()))
}

#[tokio::test]
async fn a_spill_file_that_may_not_grow_is_disk_full() {
    let folder = tempfile::tempdir().unwrap();
    // With SIGXFSZ ignored, a write beyond the file size limit fails with an error.
    let mut shell = Command::new("bash");
    shell.args(["-c", "trap '' XFSZ && ulimit -f $((200 * 1024)) && exec \"$0\" \"$@\""]);
    let server = Server::start_by(&mut shell, &folder.path().join("data"), SMALL);
    let client = server.connect().await;
    client.simple_query(&kept(50)).await.expect("a file below the limit");
    let (code, words) = refusal(&client, &kept(300)).await;
    assert_eq!(code, "53100", "{words}");
    assert!(words.contains("spill_dir"), "{words}");
    client.simple_query(&kept(50)).await.expect("the room is there again");
}

#[tokio::test]
async fn a_spill_folder_that_is_full_is_disk_full() {
    let folder = tempfile::tempdir().unwrap();
    let spill = folder.path().join("spill");
    std::fs::create_dir(&spill).unwrap();
    let mounts = ["-m", "mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs"];
    if !Command::new("unshare").args(mounts).arg(&spill).status().is_ok_and(|status| status.success()) {
        // Only root may mount a file system; the file size limit is tested above.
        return;
    }
    let mut shell = Command::new("unshare");
    let mount = "mount -t tmpfs -o size=40m tmpfs \"$0\" && exec \"$@\"";
    let config = format!("{SMALL}spill_dir = {:?}\n", spill.display().to_string());
    let server =
        Server::start_by(shell.args(["-m", "sh", "-c", mount]).arg(&spill), &folder.path().join("data"), &config);
    let client = server.connect().await;
    client.batch_execute("CREATE TABLE t (k integer PRIMARY KEY, v text)").await.unwrap();
    client.batch_execute("INSERT INTO t SELECT g, 'x' FROM generate_series(1, 4000) AS s (g)").await.unwrap();
    let sort = "SELECT t FROM (SELECT repeat(md5(g::text), 100) AS t FROM generate_series(1, 40000) AS s (g)) AS x \
                ORDER BY t OFFSET 39999";
    for statement in [kept(100).as_str(), sort, "UPDATE t SET v = repeat(md5(k::text), 1000)"] {
        let (code, words) = refusal(&client, statement).await;
        assert_eq!(code, "53100", "{statement}: {words}");
    }
    client.simple_query(&kept(20)).await.expect("the room is there again");
    let row = client.query_one("SELECT count(*) FROM t WHERE v = 'x'", &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 4000, "nothing of the failed change is there");
}
