//! DataFusion over Parquet in its own process: the wheel from PyPI, so that the peer needs no features of the
//! DataFusion
//! that Bennu links.

use crate::error::BenchError;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const PROGRAM: &str = include_str!("datafusion.py");

/// A running Python interpreter.
#[derive(Debug)]
pub(crate) struct DataFusion {
    child: Child,
    queries: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl DataFusion {
    /// Starts `python` on `folder`, which has the DDL and a CSV file per table, and waits until Parquet is written.
    pub(crate) fn start(python: &Path, folder: &Path) -> Result<Self, BenchError> {
        let mut child = Command::new(python)
            .args(["-c", PROGRAM])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(queries), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(BenchError::Wrong("python has no pipes".into()));
        };
        let mut started = Self { child, queries, answers: BufReader::new(answers) };
        match started.line()?.as_str() {
            "ready" => Ok(started),
            other => {
                Err(BenchError::Wrong(format!("DataFusion says {other:?}: is the wheel there (make bench-peers)?")))
            }
        }
    }

    fn line(&mut self) -> Result<String, BenchError> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(BenchError::Wrong("DataFusion's process has ended: see its output above".into()));
        }
        line.truncate(line.trim_end_matches('\n').len());
        Ok(line)
    }

    /// Run time in seconds and rows of `query`, timed within the process.
    pub(crate) fn answer(&mut self, query: &str) -> Result<(f64, Vec<Vec<String>>), BenchError> {
        self.queries.write_all(format!("{}\n;\n", query.trim_end()).as_bytes())?;
        self.queries.flush()?;
        let first = self.line()?;
        let seconds = first.parse().map_err(|_| BenchError::Wrong(format!("DataFusion says {first:?}")))?;
        let mut rows = Vec::new();
        loop {
            let line = self.line()?;
            if line == "." {
                return Ok((seconds, rows));
            }
            rows.push(line.split('|').map(str::to_owned).collect());
        }
    }
}

impl Drop for DataFusion {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
