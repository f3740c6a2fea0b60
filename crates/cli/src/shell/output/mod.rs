//! Rows on standard output, in the form that was asked for.

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

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, as psql shows them.
    Table,
    /// A line for each column.
    Expanded,
    /// CSV with a header.
    Csv,
    /// A JSON object a line.
    Json,
    /// An Arrow IPC file.
    Arrow,
}

/// Writes all rows of an answer, moments as clocks of `zone` show them. Only aligned rows are kept in memory: their widths
/// are known at the end.
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

/// Writes rows when all are there.
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
        // NULL shows as nothing, as in psql.
        all.extend(text.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()));
    }
    progress.output_begins();
    Ok(print(&rows.columns, &all, out)?)
}

type WriteRow = fn(&[ColumnDesc], &[Option<String>], &mut dyn Write) -> std::io::Result<()>;

/// Writes rows as they come.
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

/// One line; a reader that went away is not an error.
pub(super) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
