//! Compiling the shim and preloading it into a command.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiled shim.
#[derive(Clone, Debug)]
pub struct Shim {
    library: PathBuf,
}

impl Shim {
    /// Compiles `shim.c` into `folder` with the system's C compiler (`cc`, or `$CC`).
    ///
    /// # Errors
    /// When there is no C compiler, with its words when it refuses.
    pub fn compile(folder: &Path) -> io::Result<Self> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("shim/shim.c");
        let library = folder.join("power_loss_shim.so");
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let mut command = Command::new(compiler);
        command.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source).args(["-ldl", "-lpthread"]);
        let output = command.output()?;
        if output.status.success() {
            Ok(Self { library })
        } else {
            Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
        }
    }

    /// Makes `command` record what it does below `root` into `log` (which lies elsewhere).
    pub fn preload(&self, command: &mut Command, root: &Path, log: &Path) {
        command.env("LD_PRELOAD", &self.library).env("POWER_LOSS_ROOT", root).env("POWER_LOSS_LOG", log);
    }
}
