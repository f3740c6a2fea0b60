//! The release binary.

use super::{Peer, free_port, memory_of};
use crate::error::BenchError;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

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
        let port = free_port()?;
        let log = std::fs::File::create(data.with_extension("log"))?;
        let child = Command::new(binary)
            .args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--http", "off", "--data"])
            .arg(data)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        Ok(Self { child, port, binary: binary.into(), data: data.into() })
    }

    /// Kills it as `kill -9` does and starts it again.
    pub(crate) fn kill_and_restart(&mut self) -> Result<(), BenchError> {
        self.child.kill()?;
        self.child.wait()?;
        let mut again = Self::start(&self.binary, &self.data)?;
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
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
