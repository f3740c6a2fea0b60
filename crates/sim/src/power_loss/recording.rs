//! A test of the running test binary in a process of its own, whose calls to the file system are recorded.

use super::{Log, Shim};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a recorded process did to its folder.
#[derive(Debug)]
pub struct Recording {
    /// The folder that it wrote to.
    pub root: PathBuf,
    /// What it did there.
    pub log: Log,
    /// Holds `root` until the recording is dropped.
    _parent: tempfile::TempDir,
}

impl Recording {
    /// Runs `test`, which finds its folder in the environment variable `folder`, and `variables`.
    ///
    /// # Errors
    /// As [`Self::of_lives`].
    pub fn of(test: &str, folder: &str, variables: &[(&str, &str)]) -> io::Result<Self> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
        Self::of_lives(test, folder, [variables])
    }

    /// Runs `test` in one process after the other, with these environment variables each.
    ///
    /// # Errors
    /// When there is no C compiler, when a process fails (with its words), and for other failures of files.
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

/// Runs `test` with these environment variables, and records into the file `log` what it does below `root`.
///
/// # Errors
/// When the process cannot be started or fails, with what it wrote to stderr.
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

/// A folder where syncs cost nothing, if there is such a place.
///
/// # Errors
/// When no folder can be made.
pub fn in_memory() -> io::Result<tempfile::TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}
