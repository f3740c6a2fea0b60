//! Writes rows to standard output in the requested format.

mod arrow_file;
mod csv;
mod expanded;
mod json;
mod table;

use super::failure::Failure;
use super::wait::Progress;
use bennu::{Batches, ColumnDesc, RowStream, TimeZone};
use futures::StreamExt;
use std::io::{BufWriter, Write};

/// Output format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, as psql shows them.
    Table,
    /// A line for each column.
    Expanded,
    /// CSV with a header.
    Csv,
    /// One JSON object per line.
    Json,
    /// An Arrow IPC file.
    Arrow,
}

/// Writes all rows of a result, with timestamps in `zone`. Only aligned formats keep the rows in memory: they need all
/// rows to compute the widths.
pub(super) async fn rows(format: Format, rows: RowStream, zone: TimeZone, progress: &Progress) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout());
    match format {
        Format::Arrow => arrow_file::write(Batches::new(rows), &mut out, progress).await?,
        Format::Table => aligned(rows, zone, &mut out, table::print, progress).await?,
        Format::Expanded => aligned(rows, zone, &mut out, expanded::print, progress).await?,
        Format::Csv => {
            csv::header(&rows.columns, &mut out)?;
            each(rows, zone, &mut out, csv::row, progress).await?;
        }
        Format::Json => each(rows, zone, &mut out, json::row, progress).await?,
    }
    Ok(out.flush()?)
}

type Print<W> = fn(&[ColumnDesc], &[Vec<String>], &mut W) -> std::io::Result<()>;

/// Collects all rows, then writes them.
async fn aligned<W: Write>(
    mut rows: RowStream,
    zone: TimeZone,
    out: &mut W,
    print: Print<W>,
    progress: &Progress,
) -> Result<(), Failure> {
    let mut all: Vec<Vec<String>> = Vec::new();
    while let Some(chunk) = rows.chunks.next().await {
        let text = chunk.and_then(|chunk| chunk.to_text(&rows.columns, zone)).map_err(bennu::Error::from)?;
        progress.rows(text.len());
        // NULL is empty, as in psql.
        all.extend(text.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()));
    }
    progress.output_begins();
    Ok(print(&rows.columns, &all, out)?)
}

type WriteRow = fn(&[ColumnDesc], &[Option<String>], &mut dyn Write) -> std::io::Result<()>;

/// Writes rows as they arrive.
async fn each(
    mut rows: RowStream,
    zone: TimeZone,
    out: &mut impl Write,
    write: WriteRow,
    progress: &Progress,
) -> Result<(), Failure> {
    while let Some(chunk) = rows.chunks.next().await {
        let text = chunk.and_then(|chunk| chunk.to_text(&rows.columns, zone)).map_err(bennu::Error::from)?;
        progress.rows(text.len());
        progress.output_begins();
        for row in text {
            write(&rows.columns, &row, out)?;
        }
    }
    Ok(())
}

/// Prints one line; a closed pipe is not an error.
pub(super) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
