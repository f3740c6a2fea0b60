//! `bennu serve`.

use crate::args::ServeArgs;
use crate::config::{Config, LogFormat};
use crate::error::CliError;
use crate::print_line;
use bennu::Bennu;
use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::process::ExitCode;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long closing the store may take when the server stops.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(20);

/// Opens the database and serves it until SIGTERM or SIGINT.
pub(crate) async fn run(args: &ServeArgs) -> Result<ExitCode, CliError> {
    let config = Config::load(args)?;
    start_log(&config)?;
    // Before the store is opened: it takes its share of the limit.
    if let Err(error) = bennu::raise_file_limit() {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
    // Before the store is opened: a port in use should not cost a recovery.
    let listener = listen("listen", &config.listen)?;
    let http = if config.http == "off" { None } else { Some(listen("http", &config.http)?) };
    let new = config.is_new_folder();
    handle_file_size_signal();
    let db = open(&config).await?;
    let stop = CancellationToken::new();
    stop_on_signal(stop.clone());
    announce(&config, new, &listener, http.as_ref());
    tracing::info!(data = config.data, listen = config.listen, http = config.http, "serving");
    let web = http.map(|listener| {
        let (db, stop, peers) = (db.clone(), stop.clone(), config.http_peers());
        tokio::spawn(async move { db.serve_http(listener, peers, stop).await })
    });
    let served = db.serve(listener, config.server_options(), stop.clone()).await;
    stop.cancel();
    if let Some(web) = web {
        // Open HTTP connections are not waited for.
        match tokio::time::timeout(Duration::from_millis(500), web).await {
            Ok(Ok(Ok(()))) | Err(_) => {}
            Ok(Ok(Err(error))) => tracing::warn!(%error, "the HTTP port failed"),
            Ok(Err(error)) => tracing::warn!(%error, "the HTTP port failed"),
        }
    }
    // Abandoned statements may keep the store busy. Its journal holds all acknowledged writes.
    match tokio::time::timeout(CLOSE_TIMEOUT, db.close()).await {
        Ok(closed) => closed?,
        Err(_) => tracing::error!("the store could not be closed in time; the next start recovers it"),
    }
    served?;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Opens the database that `config` names.
pub(crate) async fn open(config: &Config) -> Result<Bennu, CliError> {
    let options = config.options();
    Ok(match config.data.as_str() {
        ":memory:" => Bennu::open_in_memory(&options).await?,
        path => Bennu::open_with_options(path, &options).await?,
    })
}

fn listen(option: &'static str, address: &str) -> Result<TcpListener, CliError> {
    TcpListener::bind(address).map_err(|error| CliError::Listen { option, address: address.into(), error })
}

fn start_log(config: &Config) -> Result<(), CliError> {
    let filter = tracing_subscriber::EnvFilter::try_new(&config.log).map_err(CliError::LogFilter)?;
    let colours = std::io::stderr().is_terminal();
    // stderr may be closed: failing to log must not stop the server.
    let log = tracing_subscriber::fmt().log_internal_errors(false);
    let log = log.with_env_filter(filter).with_ansi(colours).with_writer(std::io::stderr);
    match config.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
    Ok(())
}

fn announce(config: &Config, new: bool, listener: &TcpListener, http: Option<&TcpListener>) {
    let Ok(address) = listener.local_addr() else { return };
    let what = if new { "a new database in " } else { "" };
    print_line(&format!("bennu {} serves {what}{} on {address}", env!("CARGO_PKG_VERSION"), config.data));
    let host = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    if !host.is_loopback() || host != address.ip() {
        tracing::warn!("only clients on this machine are let in, by its loopback address, until there are roles");
    }
    print_line(&format!("connect with:  psql -h {host} -p {} -d bennu", address.port()));
    if let Some(address) = http.and_then(|h| h.local_addr().ok()) {
        print_line(&format!("health and metrics:  http://{address}/healthz  http://{address}/metrics"));
    }
}

/// SIGXFSZ on Linux and macOS.
const FILE_TOO_LARGE: i32 = 25;

/// Handles SIGXFSZ, so that a write beyond the file size limit (`ulimit -f`) fails like a write to a full disk. The
/// default action ends the process.
fn handle_file_size_signal() {
    if let Err(error) = signal(SignalKind::from_raw(FILE_TOO_LARGE)) {
        tracing::warn!(%error, "a file that reaches the limit of its size will end the server");
    }
}

/// Handles SIGTERM and SIGINT from now on. The handlers are installed before this returns, since a supervisor may stop
/// the server as soon as it reports that it is ready.
fn stop_on_signal(stop: CancellationToken) {
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
        return tracing::warn!("signals cannot be watched: SIGTERM will not be graceful");
    };
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
        tracing::info!("stopping: statements are cancelled, sessions are ended, the journal is synced");
        stop.cancel();
    });
}
