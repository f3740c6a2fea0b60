//! Files that queries spill to: in the data folder, and gone after a crash.

use crate::server::Server;
use std::path::Path;

/// Files below the folders that queries spill to.
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
