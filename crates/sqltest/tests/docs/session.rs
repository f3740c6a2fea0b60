//! Runs a page's blocks in one session.

use crate::page::Block;
use bennu::{Answer, Bennu, Error, Options, Session};
use futures::StreamExt;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The result that a page shows: rows as psql prints them, without the frame.
type Shown = Vec<String>;

struct Page {
    session: Session,
    /// Files that the page defines.
    files: BTreeMap<String, Vec<u8>>,
    flights: PathBuf,
}

/// Runs the blocks; the error names the block that failed and why.
pub(crate) async fn run(root: &Path, blocks: Vec<Block>) -> Result<(), String> {
    let db = Bennu::open_in_memory(&Options::default()).await.map_err(|e| e.to_string())?;
    let session = db.session().map_err(|e| e.to_string())?;
    let flights = root.join("examples/flights/flights.csv.gz");
    let mut page = Page { session, files: BTreeMap::new(), flights };
    let mut last: Option<Shown> = None;
    for block in &blocks {
        let place = |problem: String| format!("line {}: {problem}", block.line);
        if let Some(name) = block.csv() {
            page.files.insert(name.to_owned(), (block.lines.join("\n") + "\n").into_bytes());
        } else if block.runs() {
            last = page.block(block).await.map_err(place)?;
        } else if block.info == "text" && block.follows && last.is_some() {
            let (expected, got) = (shown(&block.lines), last.take().unwrap());
            if expected != got {
                return Err(place(format!("the page shows\n{}\nbut it is\n{}", expected.join("\n"), got.join("\n"))));
            }
        } else {
            last = None;
        }
    }
    Ok(())
}

impl Page {
    async fn block(&mut self, block: &Block) -> Result<Option<Shown>, String> {
        let (mut text, mut last) = (String::new(), Ok(None));
        let mut lines = block.lines.iter();
        while let Some(line) = lines.next() {
            if let Err(error) = last {
                return Err(described(&error));
            }
            let copy = if text.trim().is_empty() { line.strip_prefix("\\copy ") } else { None };
            if let Some(copy) = copy {
                let (sql, file) = copy_command(copy);
                let data = self.file(&file)?;
                last = self.statement(&sql, &data).await;
                continue;
            }
            text.push_str(line);
            text.push('\n');
            if code(line).ends_with(';') {
                let sql = std::mem::take(&mut text);
                let mut data = String::new();
                if sql.contains("FROM STDIN") {
                    // The data follows the statement, up to `\.`.
                    for line in lines.by_ref().take_while(|l| *l != "\\.") {
                        data.push_str(line);
                        data.push('\n');
                    }
                }
                last = self.statement(&sql, data.as_bytes()).await;
            }
        }
        if !text.trim().is_empty() && text.lines().any(|l| !code(l).is_empty()) {
            return Err(format!("a statement without an end: {text}"));
        }
        match (last, block.fails()) {
            (Ok(shown), None) => Ok(shown),
            (Err(error), Some(code)) if error.code() == code => Ok(Some(vec![error.message().to_owned()])),
            (Ok(_), Some(code)) => Err(format!("it should fail with {code}")),
            (Err(error), _) => Err(described(&error)),
        }
    }

    async fn statement(&mut self, sql: &str, data: &[u8]) -> Result<Option<Shown>, Error> {
        let mut shown = None;
        let session = self.session.inner();
        for statement in session.parse(sql)? {
            shown = match session.run(&statement).await? {
                Answer::Empty => None,
                Answer::Done(tag) => Some(vec![tag]),
                Answer::Rows(mut rows) => {
                    let zone = session.time_zone();
                    let names: Vec<&str> = rows.columns.iter().map(|c| c.name.as_str()).collect();
                    let mut lines = vec![normal(&names.join("|"))];
                    while let Some(chunk) = rows.chunks.next().await {
                        for row in chunk?.to_text(&rows.columns, zone)? {
                            let row: Vec<String> = row.into_iter().map(Option::unwrap_or_default).collect();
                            lines.push(normal(&row.join("|")));
                        }
                    }
                    Some(lines)
                }
                Answer::CopyIn(mut copy) => {
                    copy.feed(data).await?;
                    Some(vec![copy.finish(session).await?])
                }
                Answer::CopyOut(mut copy) => {
                    let mut all = Vec::new();
                    while let Some(bytes) = copy.data.next().await {
                        all.extend_from_slice(&bytes?);
                    }
                    Some(String::from_utf8_lossy(&all).lines().map(normal).collect())
                }
            };
        }
        Ok(shown)
    }

    fn file(&self, name: &str) -> Result<Vec<u8>, String> {
        if let Some(data) = self.files.get(name) {
            return Ok(data.clone());
        }
        if name != "flights.csv" {
            return Err(format!("the page has no file {name}"));
        }
        let unpacked = Command::new("gzip").arg("-dc").arg(&self.flights).output();
        unpacked.map(|o| o.stdout).map_err(|e| format!("gzip: {e}"))
    }
}

fn described(error: &Error) -> String {
    format!("{}: {} (at {:?})", error.code(), error.message(), error.position())
}

/// A line without its comment and trailing blanks.
fn code(line: &str) -> &str {
    line.split("--").next().unwrap_or_default().trim_end()
}

/// Converts `flights FROM 'flights.csv' CSV HEADER` to COPY FROM STDIN; returns the file too.
fn copy_command(copy: &str) -> (String, String) {
    let mut parts = copy.splitn(3, '\'');
    let (head, file, options) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    (format!("COPY {head} STDIN {options}"), file.to_owned())
}

/// A block of psql's output without its frame.
fn shown(lines: &[String]) -> Shown {
    let frame = |l: &&String| {
        let ruler = !l.is_empty() && l.chars().all(|c| c == '-' || c == '+');
        let count = l.starts_with('(') && (l.ends_with(" rows)") || l.ends_with(" row)"));
        !ruler && !count && !l.trim().is_empty()
    };
    lines.iter().filter(frame).map(|l| normal(l)).collect()
}

/// Columns without the blanks that align them.
fn normal(line: &str) -> String {
    line.split('|').map(str::trim).collect::<Vec<_>>().join("|")
}
