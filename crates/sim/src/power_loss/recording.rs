//! Runs a test of the current test binary in a child process and records its file system calls.

use super::{Log, Shim};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The recorded calls of a process below one folder.
#[derive(Debug)]
pub struct Recording {
    /// The recorded folder.
    pub root: PathBuf,
    /// The recorded calls.
    pub log: Log,
    /// Holds `root` until the recording is dropped.
    _parent: tempfile::TempDir,
}

impl Recording {
    /// Runs `test` with the environment variables `variables` and the path of its folder in the variable `folder`.
    ///
    /// # Errors
    /// As [`Self::of_lives`].
    pub fn of(test: &str, folder: &str, variables: &[(&str, &str)]) -> io::Result<Self> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
        Self::of_lives(test, folder, [variables])
    }

    /// Runs `test` in one process after the other, with the environment variables of each.
    ///
    /// # Errors
    /// Without a C compiler, if a process fails (with its stderr), and I/O failures.
    pub fn of_lives(
        test: &str,
        folder: &str,
        lives: impl IntoIterator<Item = Vec<(String, String)>>,
    ) -> io::Result<Self> {
        let parent = in_memory()?;
        let base = parent.path().canonicalize()?;
        let (root, log) = (base.join("root"), base.join("log"));
        std::fs::create_dir(&root)?;
        let shim = Shim::compile(&base)?;
        for variables in lives {
            let variables = variables.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
            record(&shim, test, &root, &log, variables.chain([(OsStr::new(folder), root.as_os_str())]))?;
        }
        Ok(Self { log: Log::read(&log)?, root, _parent: parent })
    }
}

/// Runs `test` with these environment variables, and records its calls below `root` to the file `log`.
///
/// # Errors
/// If the process cannot be started or fails, with its stderr.
pub fn record<K: AsRef<OsStr>, V: AsRef<OsStr>>(
    shim: &Shim,
    test: &str,
    root: &Path,
    log: &Path,
    variables: impl IntoIterator<Item = (K, V)>,
) -> io::Result<Output> {
    let mut child = Command::new(std::env::current_exe()?);
    child.args(["--exact", test, "--nocapture"]).envs(variables);
    shim.preload(&mut child, root, log);
    let output = child.output()?;
    match output.status.success() {
        true => Ok(output),
        false => Err(io::Error::other(format!("{test}: {}", String::from_utf8_lossy(&output.stderr)))),
    }
}

/// A folder in memory, where syncs are fast, or a temporary folder if there is none.
///
/// # Errors
/// If no folder can be created.
pub fn in_memory() -> io::Result<tempfile::TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}
