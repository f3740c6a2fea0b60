//! Power loss: the recorded calls of a process, and the disk state that they leave.

mod disk;
mod file;
mod log;
mod recording;
mod shim;

pub use disk::{Disk, Unsynced};
pub use log::{Event, Log, LogError};
pub use recording::{Recording, in_memory, record};
pub use shim::{Call, Fault, Shim};
