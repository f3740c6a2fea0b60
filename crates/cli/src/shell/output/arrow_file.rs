//! An Arrow IPC file.

use super::super::failure::Failure;
use super::super::wait::Progress;
use bennu::Batches;
use bennu::arrow::ipc::writer::FileWriter;
use std::io::Write;

/// Writes the batches as they arrive, then the footer, without which the file cannot be read.
pub(super) async fn write(mut batches: Batches, out: &mut impl Write, progress: &Progress) -> Result<(), Failure> {
    let mut writer = FileWriter::try_new(out, &batches.schema())?;
    while let Some(batch) = batches.next().await? {
        progress.rows(batch.num_rows());
        writer.write(&batch)?;
    }
    Ok(writer.finish()?)
}
