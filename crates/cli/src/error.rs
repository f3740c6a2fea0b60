//! Errors of the command line, outside of SQL statements.

use crate::config_error::describe;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("the runtime could not be started: {0}")]
    Runtime(std::io::Error),
    #[error("configuration: {}", describe(.0))]
    Config(Box<figment::Error>),
    #[error("configuration: setting \"{name}\": {value} is too small: it is at least 1")]
    TooSmall { name: &'static str, value: u64 },
    #[error(
        "configuration: superuser_reserved_connections ({reserved}) must be less than max_connections ({most}): nobody \
         but reserved_user could connect"
    )]
    AllReserved { reserved: usize, most: usize },
    #[error("configuration: setting \"log\": {0}; it is a list such as \"info,fjall=warn\"")]
    LogFilter(tracing_subscriber::filter::ParseError),
    #[error("configuration file \"{0}\" does not exist")]
    NoConfig(PathBuf),
    #[error("configuration: setting \"spill_dir\": there is no folder \"{}\"", .0.display())]
    NoSpillDir(PathBuf),
    #[error("cannot listen on \"{address}\" (--{option}): {error}{}", listen_advice(.option, .error))]
    Listen { option: &'static str, address: String, error: std::io::Error },
    #[error("no files named *.slt or *.test in \"{}\"", .0.display())]
    NoTests(PathBuf),
    #[error("\"{path}\" cannot be read: {error}")]
    Read { path: PathBuf, error: std::io::Error },
    #[error("{message}", message = full_message(.0))]
    Database(#[from] bennu::Error),
    #[error("line editing failed: {0}")]
    Readline(#[from] rustyline::error::ReadlineError),
}

/// The hint for an address that cannot be listened on.
fn listen_advice(option: &str, error: &std::io::Error) -> String {
    let off = if option == "http" { ", or --http off" } else { "" };
    match error.kind() {
        std::io::ErrorKind::InvalidInput => {
            format!("\nHINT:  An address is HOST:PORT, such as 127.0.0.1:5433{off}.")
        }
        _ => format!("\nHINT:  Choose another one with --{option} HOST:PORT{off}."),
    }
}

impl From<figment::Error> for CliError {
    fn from(error: figment::Error) -> Self {
        Self::Config(Box::new(error))
    }
}

fn full_message(error: &bennu::Error) -> String {
    let mut text = error.message().to_string();
    for (label, part) in [("DETAIL", error.detail()), ("HINT", error.hint())] {
        if let Some(part) = part {
            text = format!("{text}\n{label}:  {part}");
        }
    }
    text
}
