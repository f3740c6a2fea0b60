//! A running `bennu serve`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tokio_postgres::{Client, NoTls};

pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    pub(crate) http_port: u16,
}

/// The binary built with the tests, or `BENNU_BINARY`.
pub(crate) fn bennu() -> Command {
    let mut bennu =
        Command::new(std::env::var_os("BENNU_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_bennu").into()));
    without_settings(&mut bennu);
    bennu
}

/// Removes the tests' own variables, which the binary would read as settings.
fn without_settings(command: &mut Command) {
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BENNU_")) {
        command.env_remove(name);
    }
}

impl Server {
    /// Starts a server on `data` and waits until it prints its port.
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_with_log(data, Stdio::null())
    }

    /// Like [`Self::start`], with stderr to `log`; a pipe is read only until the port is printed.
    pub(crate) fn start_with_log(data: &Path, log: Stdio) -> Self {
        Self::start_command(bennu().arg("serve").arg("--data").arg(data).stderr(log))
    }

    /// Starts a server on `data` with the lines of a configuration file.
    pub(crate) fn start_with_config(data: &Path, config: &str) -> Self {
        let file = data.with_extension("toml");
        std::fs::write(&file, config).unwrap();
        Self::start_command(
            bennu().arg("serve").arg("--data").arg(data).arg("--config").arg(file).stderr(Stdio::null()),
        )
    }

    /// Starts a server on `data` with a limit of open files.
    pub(crate) fn start_with_files(data: &Path, files: u32) -> Self {
        let mut shell = Command::new("sh");
        without_settings(&mut shell);
        shell.args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\"")]);
        Self::start_command(shell.arg(bennu().get_program()).args(["serve", "--data"]).arg(data).stderr(Stdio::null()))
    }

    /// Starts a server on `data` with the lines of a configuration file through `shell`, which gets the command as
    /// arguments.
    pub(crate) fn start_by(shell: &mut Command, data: &Path, config: &str) -> Self {
        let file = data.with_extension("toml");
        std::fs::write(&file, config).unwrap();
        without_settings(shell);
        let serve = shell.arg(bennu().get_program()).args(["serve", "--data"]).arg(data).arg("--config").arg(file);
        Self::start_command(serve.stderr(Stdio::null()))
    }

    /// Starts a server on `data` with an HTTP port on all addresses of this machine.
    pub(crate) fn start_with_open_http(data: &Path) -> Self {
        Self::start_listening(bennu().arg("serve").arg("--data").arg(data).stderr(Stdio::null()), "0.0.0.0:0")
    }

    fn start_command(command: &mut Command) -> Self {
        Self::start_listening(command, "127.0.0.1:0")
    }

    fn start_listening(command: &mut Command, http: &str) -> Self {
        let mut child =
            command.args(["--listen", "127.0.0.1:0", "--http", http]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let line = lines.find(|l| l.contains("connect with")).expect("the server did not start");
        let port = line.split_whitespace().skip_while(|w| *w != "-p").nth(1).unwrap().parse().unwrap();
        let line = lines.find(|l| l.contains("/metrics")).expect("the HTTP port is told");
        let http_port = line.split(['/', ':']).find_map(|word| word.parse().ok()).unwrap();
        drop(child.stderr.take());
        Self { child, port, http_port }
    }

    pub(crate) async fn connect(&self) -> Client {
        let config = format!("host=127.0.0.1 port={} user=test dbname=bennu", self.port);
        let (client, connection) = tokio_postgres::connect(&config, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Status line and body of a GET.
    pub(crate) fn get(&self, path: &str) -> (String, String) {
        self.get_from(IpAddr::from(Ipv4Addr::LOCALHOST), path)
    }

    /// Like [`Self::get`], through another address of this machine.
    pub(crate) fn get_from(&self, address: IpAddr, path: &str) -> (String, String) {
        let mut stream = TcpStream::connect((address, self.http_port)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: bennu\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().to_owned(), body.to_owned())
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM and waits. Returns whether the server ended successfully.
    pub(crate) fn stop(self) -> bool {
        self.stop_by("TERM")
    }

    /// Like [`Self::stop`], with another signal.
    pub(crate) fn stop_by(mut self, signal: &str) -> bool {
        let sent = Command::new("kill").args(["-s", signal]).arg(self.child.id().to_string()).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap().success()
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
