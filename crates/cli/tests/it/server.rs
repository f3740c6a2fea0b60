//! A running `bennu serve`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tokio_postgres::{Client, NoTls};

pub(crate) struct Server {
    child: Child,
    port: u16,
}

pub(crate) fn bennu() -> Command {
    Command::new(env!("CARGO_BIN_EXE_bennu"))
}

impl Server {
    /// Starts it on `data` and waits until it tells its port.
    pub(crate) fn start(data: &Path) -> Self {
        let mut child = bennu()
            .args(["serve", "--listen", "127.0.0.1:0", "--http", "off", "--data"])
            .arg(data)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.map_while(Result::ok).find(|l| l.contains("connect with")).expect("the server did not start");
        let port = line.split_whitespace().skip_while(|w| *w != "-p").nth(1).unwrap().parse().unwrap();
        Self { child, port }
    }

    pub(crate) async fn connect(&self) -> Client {
        let config = format!("host=127.0.0.1 port={} user=test dbname=bennu", self.port);
        let (client, connection) = tokio_postgres::connect(&config, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
