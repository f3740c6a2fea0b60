//! An Arrow IPC file.

use super::super::failure::Failure;
use bennu::Batches;
use bennu::arrow::ipc::writer::FileWriter;
use std::io::Write;

/// Writes the batches as they come; the file's end is what readers begin with.
pub(super) async fn write(mut batches: Batches, out: &mut impl Write) -> Result<(), Failure> {
    let mut writer = FileWriter::try_new(out, &batches.schema())?;
    while let Some(batch) = batches.next().await? {
        writer.write(&batch)?;
    }
    Ok(writer.finish()?)
}
