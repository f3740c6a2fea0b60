//! `bennu serve`.

use crate::args::ServeArgs;
use crate::config::{Config, LogFormat};
use crate::error::CliError;
use crate::print_line;
use bennu::{Bennu, ServerOptions};
use std::io::IsTerminal;
use std::net::TcpListener;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Opens the database and serves it until SIGTERM or SIGINT.
pub(crate) async fn run(args: &ServeArgs) -> Result<ExitCode, CliError> {
    let config = Config::load(args)?;
    start_log(&config)?;
    // Before the store is opened: a port that is taken should not cost a recovery.
    let listener = listen(&config.listen)?;
    let http = if config.http == "off" { None } else { Some(listen(&config.http)?) };
    let db = open(&config).await?;
    let stop = CancellationToken::new();
    stop_on_signal(stop.clone());
    announce(&config, &listener, http.as_ref());
    tracing::info!(data = config.data, listen = config.listen, http = config.http, "serving");
    let web = http.map(|listener| {
        let (db, stop) = (db.clone(), stop.clone());
        tokio::spawn(async move { db.serve_http(listener, stop).await })
    });
    let options = ServerOptions { max_connections: config.max_connections, threads: 0 };
    let served = db.serve(listener, options, stop.clone()).await;
    stop.cancel();
    if let Some(web) = web {
        match web.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the HTTP port failed"),
            Err(error) => tracing::warn!(%error, "the HTTP port failed"),
        }
    }
    db.close().await?;
    served?;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

async fn open(config: &Config) -> Result<Bennu, CliError> {
    let options = config.options();
    Ok(match config.data.as_str() {
        ":memory:" => Bennu::open_in_memory(&options).await?,
        path => Bennu::open_with_options(path, &options).await?,
    })
}

fn listen(address: &str) -> Result<TcpListener, CliError> {
    TcpListener::bind(address).map_err(|error| CliError::Listen { address: address.into(), error })
}

fn start_log(config: &Config) -> Result<(), CliError> {
    let filter = tracing_subscriber::EnvFilter::try_new(&config.log).map_err(CliError::LogFilter)?;
    let colours = std::io::stderr().is_terminal();
    // Nobody may read stderr any more: the server goes on, and stops when it is told to.
    let log = tracing_subscriber::fmt().log_internal_errors(false);
    let log = log.with_env_filter(filter).with_ansi(colours).with_writer(std::io::stderr);
    match config.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
    Ok(())
}

fn announce(config: &Config, listener: &TcpListener, http: Option<&TcpListener>) {
    let Ok(address) = listener.local_addr() else { return };
    print_line(&format!("bennu {} serves {} on {address}", env!("CARGO_PKG_VERSION"), config.data));
    print_line(&format!("connect with:  psql -h {} -p {} -d bennu", address.ip(), address.port()));
    if let Some(address) = http.and_then(|h| h.local_addr().ok()) {
        print_line(&format!("health and metrics:  http://{address}/healthz  http://{address}/metrics"));
    }
}

/// Watches for signals from now on: whoever reads that the server is there may stop it at once.
fn stop_on_signal(stop: CancellationToken) {
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
        return tracing::warn!("signals cannot be watched: SIGTERM will not be graceful");
    };
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
        tracing::info!("stopping: sessions are ended, the journal is synced");
        stop.cancel();
    });
}
