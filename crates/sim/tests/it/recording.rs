//! A test of this binary in a process of its own, whose calls to the file system are recorded.

use crate::folder;
use bennu_sim::power_loss::{Log, Shim};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a recorded process did to its folder.
pub(crate) struct Recording {
    /// The folder that it wrote to.
    pub(crate) root: PathBuf,
    pub(crate) log: Log,
    /// Holds `root` until the recording is dropped.
    _parent: tempfile::TempDir,
}

impl Recording {
    /// Runs `test`, which finds its folder in the variable `folder`, and `variables`.
    pub(crate) fn of(test: &str, folder: &str, variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        Self::of_lives(test, folder, [variables])
    }

    /// Runs `test` in one process after the other, with these variables each.
    pub(crate) fn of_lives(
        test: &str,
        folder: &str,
        lives: impl IntoIterator<Item = Vec<(OsString, OsString)>>,
    ) -> Self {
        let parent = folder::in_memory();
        let base = parent.path().canonicalize().unwrap();
        let (root, log) = (base.join("root"), base.join("log"));
        std::fs::create_dir(&root).unwrap();
        let shim = Shim::compile(&base).expect("a C compiler is needed");
        for mut variables in lives {
            variables.push((folder.into(), root.clone().into()));
            run(&shim, test, &root, &log, variables);
        }
        Self { root, log: read(&log), _parent: parent }
    }
}

/// Runs `test` with these variables, and records into the file `log` what it does below `root`.
pub(crate) fn run<K: AsRef<OsStr>, V: AsRef<OsStr>>(
    shim: &Shim,
    test: &str,
    root: &Path,
    log: &Path,
    variables: impl IntoIterator<Item = (K, V)>,
) -> Output {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture"]).envs(variables);
    shim.preload(&mut child, root, log);
    let output = child.output().unwrap();
    assert!(output.status.success(), "{test}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Reads what [`run`] recorded.
pub(crate) fn read(log: &Path) -> Log {
    Log::parse(&std::fs::read(log).unwrap()).unwrap()
}
