//! A sorted run on disk: rows one after the other, read from the start each time, never synced (a crash ends the load).
//!
//! ```text
//!   row    family:u16  key len:u32  fragment len:u32  key  fragment      (native byte order: never leaves the process)
//! ```

use super::rows::Rows;
use super::table::RunFolder;
use crate::error::io;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use store::{FamilyId, StoreResult};

const BUFFER: usize = 1 << 20;
/// The least that a run is read by at a time.
const LEAST_BUFFER: usize = 16 << 10;

/// A run that was written.
pub(crate) struct RunFile(PathBuf);

/// A run that is being read.
pub(crate) struct Run {
    input: BufReader<File>,
    /// The row read last.
    family: FamilyId,
    key: Vec<u8>,
    fragment: Vec<u8>,
}

impl RunFile {
    /// Writes sorted rows to `path`.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn write(path: &Path, rows: &Rows) -> StoreResult<Self> {
        if let Some(folder) = path.parent() {
            RunFolder::make(folder)?;
        }
        let doing = || io(format!("writing {}", path.display()));
        let mut output = BufWriter::with_capacity(BUFFER, File::create(path).map_err(doing())?);
        for row in rows.iter() {
            let mut head = [0; 10];
            let (family, lengths) = head.split_at_mut(2);
            family.copy_from_slice(&row.family.0.to_ne_bytes());
            let (key_len, fragment_len) = lengths.split_at_mut(4);
            key_len.copy_from_slice(&(row.key.len() as u32).to_ne_bytes());
            fragment_len.copy_from_slice(&(row.fragment.len() as u32).to_ne_bytes());
            let written = output.write_all(&head).and_then(|()| output.write_all(row.key));
            written.and_then(|()| output.write_all(row.fragment)).map_err(doing())?;
        }
        output.flush().map_err(doing())?;
        Ok(Self(path.to_owned()))
    }

    /// Begins to read it, about so many bytes at a time.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn open(&self, bytes: usize) -> StoreResult<Run> {
        let file = File::open(&self.0).map_err(io(format_args!("reading {}", self.0.display())))?;
        let input = BufReader::with_capacity(bytes.clamp(LEAST_BUFFER, BUFFER), file);
        Ok(Run { input, family: FamilyId::default(), key: Vec::new(), fragment: Vec::new() })
    }
}

impl Run {
    /// Reads the next row; returns whether there is one.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn advance(&mut self) -> StoreResult<bool> {
        self.read_row().map_err(io("reading a run of a bulk load"))
    }

    /// The row read last.
    pub(crate) fn row(&self) -> super::rows::Row<'_> {
        super::rows::Row { family: self.family, key: &self.key, fragment: &self.fragment }
    }

    fn read_row(&mut self) -> std::io::Result<bool> {
        let mut family = [0; 2];
        match self.input.read_exact(&mut family) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
            other => other?,
        }
        let mut lengths = [[0; 4]; 2];
        for length in &mut lengths {
            self.input.read_exact(length)?;
        }
        let [key, fragment] = lengths.map(|length| u32::from_ne_bytes(length) as usize);
        self.family = FamilyId(u16::from_ne_bytes(family));
        self.key.resize(key, 0);
        self.fragment.resize(fragment, 0);
        self.input.read_exact(&mut self.key)?;
        self.input.read_exact(&mut self.fragment)?;
        Ok(true)
    }
}
