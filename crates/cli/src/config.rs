//! Settings of the server. The command line overrides the environment, which overrides the file.

use crate::args::ServeArgs;
use crate::error::CliError;
use bennu::{AutoAnalyzeOptions, HttpPeers, Keepalive, ServerOptions};
use figment::Figment;
use figment::providers::{Env, Format, Serialized, Toml};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// The file that is read if it exists and none is named.
const DEFAULT_FILE: &str = "bennu.toml";

/// All settings, by their names in the file; the environment has them in upper case after `BENNU_`.
/// `docs/operations/running.md` explains them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) data: String,
    pub(crate) listen: String,
    pub(crate) http: String,
    pub(crate) http_peers: HttpHosts,
    pub(crate) max_connections: usize,
    pub(crate) superuser_reserved_connections: usize,
    pub(crate) reserved_user: String,
    pub(crate) authentication_timeout: u64,
    pub(crate) tcp_keepalives_idle: u64,
    pub(crate) tcp_keepalives_interval: u64,
    pub(crate) tcp_keepalives_count: u32,
    pub(crate) tcp_user_timeout: u32,
    pub(crate) cache_mib: u64,
    pub(crate) memtable_mib: u64,
    pub(crate) snapshot_memory_mib: u64,
    pub(crate) snapshot_max_age_s: u64,
    pub(crate) query_memory_mib: usize,
    pub(crate) spill_dir: Option<PathBuf>,
    pub(crate) query_threads: usize,
    pub(crate) autovacuum: bool,
    pub(crate) autovacuum_naptime_s: u64,
    pub(crate) autovacuum_analyze_threshold: u64,
    pub(crate) autovacuum_analyze_scale_factor: f64,
    pub(crate) log: String,
    pub(crate) log_format: LogFormat,
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// Peers that the HTTP port accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HttpHosts {
    Loopback,
    Any,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data: "bennu-data".into(),
            listen: "127.0.0.1:5433".into(),
            http: "127.0.0.1:5480".into(),
            http_peers: HttpHosts::Loopback,
            max_connections: 2_000,
            superuser_reserved_connections: 3,
            reserved_user: "postgres".into(),
            authentication_timeout: 60,
            tcp_keepalives_idle: 60,
            tcp_keepalives_interval: 10,
            tcp_keepalives_count: 6,
            tcp_user_timeout: 0,
            cache_mib: 0,
            memtable_mib: 256,
            snapshot_memory_mib: 512,
            snapshot_max_age_s: 3_600,
            query_memory_mib: 1_024,
            spill_dir: None,
            query_threads: 0,
            autovacuum: true,
            autovacuum_naptime_s: 60,
            autovacuum_analyze_threshold: 50,
            autovacuum_analyze_scale_factor: 0.1,
            log: "info,fjall=warn,lsm_tree=warn".into(),
            log_format: LogFormat::Text,
        }
    }
}

impl Config {
    /// Merges the sources of settings.
    pub(crate) fn load(args: &ServeArgs) -> Result<Self, CliError> {
        if let Some(path) = args.config.as_ref().filter(|p| !p.is_file()) {
            return Err(CliError::NoConfig(path.clone()));
        }
        let file = args.config.clone().unwrap_or_else(|| DEFAULT_FILE.into());
        let figment = Figment::from(Serialized::defaults(Self::default()))
            .merge(Toml::file(file))
            // BENNU_CONFIG is the path of the file.
            .merge(Env::prefixed("BENNU_").ignore(&["config"]))
            .merge(Serialized::defaults(args));
        figment.extract::<Self>()?.checked()
    }

    fn checked(self) -> Result<Self, CliError> {
        let at_least_one = [
            ("max_connections", self.max_connections as u64),
            ("authentication_timeout", self.authentication_timeout),
            ("memtable_mib", self.memtable_mib),
            ("snapshot_memory_mib", self.snapshot_memory_mib),
            ("snapshot_max_age_s", self.snapshot_max_age_s),
            ("query_memory_mib", self.query_memory_mib as u64),
            ("autovacuum_naptime_s", self.autovacuum_naptime_s),
        ];
        if self.superuser_reserved_connections >= self.max_connections.max(1) {
            let (reserved, most) = (self.superuser_reserved_connections, self.max_connections);
            return Err(CliError::AllReserved { reserved, most });
        }
        match at_least_one.into_iter().find(|(_, value)| *value == 0) {
            Some((name, value)) => Err(CliError::TooSmall { name, value }),
            None => match &self.spill_dir {
                Some(folder) if !folder.is_dir() => Err(CliError::NoSpillDir(folder.clone())),
                _ => Ok(self),
            },
        }
    }

    /// Returns whether the data folder does not exist yet.
    pub(crate) fn is_new_folder(&self) -> bool {
        self.data != ":memory:" && !std::path::Path::new(&self.data).exists()
    }

    /// Options of the server.
    pub(crate) fn server_options(&self) -> ServerOptions {
        ServerOptions {
            max_connections: self.max_connections,
            reserved_connections: self.superuser_reserved_connections,
            reserved_user: self.reserved_user.clone(),
            max_sockets: 0,
            threads: 0,
            authentication_timeout: Duration::from_secs(self.authentication_timeout),
            keepalive: Keepalive {
                idle: Duration::from_secs(self.tcp_keepalives_idle),
                interval: Duration::from_secs(self.tcp_keepalives_interval),
                count: self.tcp_keepalives_count,
                user_timeout: Duration::from_millis(self.tcp_user_timeout.into()),
            },
        }
    }

    /// Peers that the HTTP port accepts.
    pub(crate) fn http_peers(&self) -> HttpPeers {
        match self.http_peers {
            HttpHosts::Loopback => HttpPeers::Loopback,
            HttpHosts::Any => HttpPeers::Any,
        }
    }

    /// Options of the database.
    pub(crate) fn options(&self) -> bennu::Options {
        let defaults = bennu::Options::default();
        bennu::Options {
            cache_bytes: if self.cache_mib == 0 { defaults.cache_bytes } else { self.cache_mib << 20 },
            memtable_bytes: self.memtable_mib << 20,
            snapshot_memory_bytes: self.snapshot_memory_mib << 20,
            snapshot_max_age: Duration::from_secs(self.snapshot_max_age_s),
            query_memory_bytes: self.query_memory_mib << 20,
            spill_dir: self.spill_dir.clone(),
            query_threads: self.query_threads,
            dual_write_indexes: defaults.dual_write_indexes,
            auto_analyze: AutoAnalyzeOptions {
                enabled: self.autovacuum,
                pause: Duration::from_secs(self.autovacuum_naptime_s),
                threshold: self.autovacuum_analyze_threshold,
                scale_factor: self.autovacuum_analyze_scale_factor,
            },
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::result_large_err)]
mod tests {
    use super::*;
    use figment::Jail;

    fn args() -> ServeArgs {
        ServeArgs::default()
    }

    #[test]
    fn flags_beat_environment_beats_file_beats_defaults() {
        Jail::expect_with(|jail| {
            jail.create_file("bennu.toml", "data = 'file'\nlisten = 'file:1'\nhttp = 'file:2'\ncache_mib = 7\n")?;
            jail.set_env("BENNU_LISTEN", "env:1");
            jail.set_env("BENNU_HTTP", "env:2");
            let flags = ServeArgs { http: Some("off".into()), ..args() };
            let config = Config::load(&flags).unwrap();
            let got = (config.data.as_str(), config.listen.as_str(), config.http.as_str(), config.cache_mib);
            assert_eq!(got, ("file", "env:1", "off", 7));
            assert_eq!(config.memtable_mib, Config::default().memtable_mib);
            Ok(())
        });
    }

    #[test]
    fn an_unknown_setting_is_named() {
        Jail::expect_with(|jail| {
            jail.create_file("bennu.toml", "cash_mib = 7\n")?;
            let error = Config::load(&args()).unwrap_err().to_string();
            assert!(error.contains("cash_mib"), "{error}");
            Ok(())
        });
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let told = |variable: &str, value: &str| {
            let mut told = String::new();
            Jail::expect_with(|jail| {
                jail.set_env(variable, value);
                told = Config::load(&args()).unwrap_err().to_string();
                Ok(())
            });
            told
        };
        assert_eq!(
            told("BENNU_CACHE_MIB", "x"),
            "configuration: setting \"cache_mib\" (environment variable BENNU_CACHE_MIB): \"x\" is not a whole number"
        );
        assert_eq!(
            told("BENNU_LOG_FORMAT", "xml"),
            "configuration: setting \"log_format\" (environment variable BENNU_LOG_FORMAT): \"xml\" is none of text, json"
        );
        assert_eq!(
            told("BENNU_MEMTABLE_MIB", "0"),
            "configuration: setting \"memtable_mib\": 0 is too small: it is at least 1"
        );
        assert_eq!(
            told("BENNU_MAX_CONNECTIONS", "3"),
            "configuration: superuser_reserved_connections (3) must be less than max_connections (3): nobody but \
             reserved_user could connect"
        );
    }

    #[test]
    fn the_documented_file_holds_all_settings_with_their_defaults() {
        let page = include_str!("../../../docs/operations/running.md");
        let file = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        Jail::expect_with(|jail| {
            jail.create_file("bennu.toml", file)?;
            assert_eq!(Config::load(&args()).unwrap(), Config::default());
            // The file has settings without a default as comments.
            let with_comments = file.replace("# ", "");
            let told = with_comments.lines().filter_map(|l| Some(l.split_once(" = ")?.0.to_owned()));
            let all = figment::value::Value::serialize(Config::default())?.into_dict().unwrap();
            assert_eq!(told.collect::<std::collections::BTreeSet<_>>(), all.into_keys().collect());
            Ok(())
        });
    }

    #[test]
    fn a_folder_to_spill_into_must_exist() {
        Jail::expect_with(|jail| {
            jail.set_env("BENNU_SPILL_DIR", "/nonexistent/spill");
            let told = Config::load(&args()).unwrap_err().to_string();
            assert_eq!(told, "configuration: setting \"spill_dir\": there is no folder \"/nonexistent/spill\"");
            Ok(())
        });
    }

    #[test]
    fn the_help_names_the_variable_of_each_setting() {
        let help = <crate::args::Args as clap::CommandFactory>::command();
        let help = help.find_subcommand("serve").unwrap().clone().render_long_help().to_string();
        for name in figment::value::Value::serialize(Config::default()).unwrap().into_dict().unwrap().keys() {
            assert!(help.contains(&format!("BENNU_{}", name.to_uppercase())), "{name}");
        }
    }

    #[test]
    fn a_named_file_must_exist() {
        let flags = ServeArgs { config: Some("/nonexistent/bennu.toml".into()), ..args() };
        assert!(matches!(Config::load(&flags), Err(CliError::NoConfig(_))));
    }
}
