//! Compiles the shim and preloads it into a command.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiled shim.
#[derive(Clone, Debug)]
pub struct Shim {
    library: PathBuf,
}

/// An injected fault: a call that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of the call.
    pub call: Call,
    /// The number of the call among those of its kind, from 1.
    pub number: u64,
    /// The error number.
    pub errno: i32,
    /// If set, all later calls fail, too, until this file exists.
    pub until: Option<PathBuf>,
}

/// Kinds of calls that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A write, or a change of a file's length.
    Write,
    /// A sync of a file or folder.
    Sync,
    /// A change of names: rename, link, remove, or create a folder.
    Name,
    /// An opening.
    Open,
}

impl Call {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Write, Self::Sync, Self::Name, Self::Open];

    /// The name that the shim uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Name => "name",
            Self::Open => "open",
        }
    }
}

impl Shim {
    /// Compiles `shim.c` into `folder` with the system's C compiler (`cc`, or `$CC`).
    ///
    /// # Errors
    /// Without a C compiler, or with the compiler's messages if it fails.
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

    /// Makes `command` record its calls below `root` to `log`, which must be outside of `root`.
    pub fn preload(&self, command: &mut Command, root: &Path, log: &Path) {
        command.env("LD_PRELOAD", &self.library).env("POWER_LOSS_ROOT", root).env("POWER_LOSS_LOG", log);
    }

    /// Makes a call of `command` below `root` fail, if there is a `fault`, and writes the number of calls of each kind
    /// to `counts`.
    pub fn inject(&self, command: &mut Command, root: &Path, fault: Option<&Fault>, counts: &Path) {
        command.env("LD_PRELOAD", &self.library).env("FAULT_ROOT", root).env("FAULT_COUNTS", counts);
        if let Some(Fault { call, number, errno, until }) = fault {
            let until = until.as_deref().map(Path::display).map(|path| path.to_string()).unwrap_or_default();
            command.env("FAULT", format!("{} {number} {errno} {until}", call.name()));
        }
    }
}
