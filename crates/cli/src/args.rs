//! The command line.

use crate::shell::Format;
use clap::{Parser, Subcommand};
use serde::Serialize;
use std::path::PathBuf;

/// SQL over HBase's data model, for any PostgreSQL client.
#[derive(Debug, Parser)]
#[command(name = "bennu", version)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve PostgreSQL clients.
    Serve(ServeArgs),
    /// Run SQL in process: a file, a text, or line by line.
    Sql(SqlArgs),
    /// Read every block and every row of a data folder and verify it.
    Check(CheckArgs),
    /// Run sqllogictest files, in process or on a server.
    Sqllogictest(SqllogictestArgs),
    /// Print the version.
    Version,
}

/// The end of `serve --help`.
const SETTINGS: &str = "\
Settings left out come from the environment, then from the configuration file, then from their defaults: BENNU_DATA,
BENNU_LISTEN, BENNU_HTTP, BENNU_HTTP_PEERS, BENNU_MAX_CONNECTIONS, BENNU_SUPERUSER_RESERVED_CONNECTIONS,
BENNU_RESERVED_USER, BENNU_AUTHENTICATION_TIMEOUT, BENNU_TCP_KEEPALIVES_IDLE, BENNU_TCP_KEEPALIVES_INTERVAL,
BENNU_TCP_KEEPALIVES_COUNT, BENNU_TCP_USER_TIMEOUT, BENNU_CACHE_MIB,
BENNU_MEMTABLE_MIB, BENNU_SNAPSHOT_MEMORY_MIB, BENNU_SNAPSHOT_MAX_AGE_S, BENNU_QUERY_MEMORY_MIB, BENNU_SPILL_DIR,
BENNU_QUERY_THREADS, BENNU_AUTOVACUUM, BENNU_AUTOVACUUM_NAPTIME_S, BENNU_AUTOVACUUM_ANALYZE_THRESHOLD,
BENNU_AUTOVACUUM_ANALYZE_SCALE_FACTOR, BENNU_LOG, BENNU_LOG_FORMAT. docs/operations/running.md explains them.";

/// Options left out come from the environment (`BENNU_DATA`, …), then the file, then the defaults.
#[derive(Debug, Default, clap::Args, Serialize)]
#[command(after_help = SETTINGS)]
pub(crate) struct ServeArgs {
    /// Data folder, created if it does not exist, or `:memory:` [default: bennu-data].
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<String>,
    /// Address for PostgreSQL clients [default: 127.0.0.1:5433].
    #[arg(long, value_name = "HOST:PORT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) listen: Option<String>,
    /// Address for health and metrics, or `off` [default: 127.0.0.1:5480].
    #[arg(long, value_name = "HOST:PORT|off")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) http: Option<String>,
    /// Configuration file (TOML) [default: bennu.toml, if it is there].
    #[arg(long, value_name = "FILE", env = "BENNU_CONFIG")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SqlArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Run this text and stop; may be given several times, in order.
    #[arg(short = 'c', value_name = "SQL", conflicts_with = "file")]
    pub(crate) commands: Vec<String>,
    /// Run this file and stop; `-` is standard input.
    #[arg(short = 'f', value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Output format of rows.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// The database to open without a server: the one that `serve` would open.
#[derive(Debug, clap::Args)]
pub(crate) struct PlaceArgs {
    /// Data folder, or `:memory:` [default: BENNU_DATA, or what the configuration file says, or bennu-data].
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<String>,
    /// Configuration file (TOML) [default: bennu.toml, if it is there].
    #[arg(long, value_name = "FILE", env = "BENNU_CONFIG")]
    pub(crate) config: Option<PathBuf>,
}

impl PlaceArgs {
    /// These options as those of `serve`.
    pub(crate) fn options(&self) -> ServeArgs {
        ServeArgs { data: self.data.clone(), config: self.config.clone(), ..ServeArgs::default() }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct SqllogictestArgs {
    /// Files, or folders of `*.slt` and `*.test`.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Server to run all files on, in order and in one database: HOST:PORT, or a connection string. Without it each
    /// file
    /// has its own database in memory.
    #[arg(long, value_name = "ADDR")]
    pub(crate) address: Option<String>,
    /// How statements reach the database [default: library, and simple with --address].
    #[arg(long, value_enum)]
    pub(crate) front: Option<Way>,
    /// Compare every blank, with `|` between columns; otherwise words are compared.
    #[arg(long)]
    pub(crate) exact: bool,
}

/// How statements reach the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Way {
    /// In process.
    Library,
    /// Over a socket, simple protocol.
    Simple,
    /// Over a socket, extended protocol with binary results.
    Extended,
}
