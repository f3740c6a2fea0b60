//! Bennu's release binary.

use super::{Peer, free_port, memory_of};
use crate::error::BenchError;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a graceful shutdown may take: the server flushes its memtables.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `bennu serve`.
pub(crate) struct BennuServer {
    child: Child,
    port: u16,
    binary: PathBuf,
    data: PathBuf,
}

impl BennuServer {
    /// Starts `binary` on `data` with default settings.
    pub(crate) fn start(binary: &Path, data: &Path) -> Result<Self, BenchError> {
        Self::start_with(binary, data, None)
    }

    /// Like [`Self::start`], with a block cache of `cache_mib`.
    fn start_with(binary: &Path, data: &Path, cache_mib: Option<u32>) -> Result<Self, BenchError> {
        let port = free_port()?;
        let log = std::fs::File::create(data.with_extension("log"))?;
        let child = Command::new(binary)
            .args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--http", "off", "--data"])
            .arg(data)
            .envs(cache_mib.map(|mib| ("BENNU_CACHE_MIB", mib.to_string())))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        Ok(Self { child, port, binary: binary.into(), data: data.into() })
    }

    /// Kills the server by SIGKILL and restarts it.
    pub(crate) fn kill_and_restart(&mut self) -> Result<(), BenchError> {
        self.child.kill()?;
        self.child.wait()?;
        let mut again = Self::start(&self.binary, &self.data)?;
        std::mem::swap(self, &mut again);
        Ok(())
    }

    /// Stops the server by SIGTERM, which may take a minute, and restarts it with a block cache of `cache_mib`, or its
    /// default.
    pub(crate) async fn restart(&mut self, cache_mib: Option<u32>) -> Result<(), BenchError> {
        Command::new("kill").arg("-TERM").arg(self.child.id().to_string()).status()?;
        let begin = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begin.elapsed() > PATIENCE {
                return Err(BenchError::Wrong("the server does not end at SIGTERM".to_string()));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let mut again = Self::start_with(&self.binary, &self.data, cache_mib)?;
        std::mem::swap(self, &mut again);
        Ok(())
    }
}

impl Peer for BennuServer {
    fn name(&self) -> &'static str {
        "Bennu"
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn login(&self) -> (&'static str, &'static str) {
        ("bench", "bennu")
    }

    fn resident(&self) -> u64 {
        memory_of(self.child.id(), "VmRSS")
    }

    fn peak(&self) -> u64 {
        memory_of(self.child.id(), "VmHWM")
    }
}

impl Drop for BennuServer {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
