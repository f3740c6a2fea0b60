//! Verifies the table of contents of fjall's archives (crate sfa 1.0.0): files of sections with a table of contents at
//! their end.
//!
//! ```text
//!   sections ...
//!   contents   "TOC!"  count:u32  count times { position:u64  length:u64  length of the name:u16  name }    little-endian
//!   trailer    "SFA!"  version:u8 (1)  kind of the checksum:u8 (0)  xxh3 of the contents:u128  position of the contents:u64
//!              length of the contents:u64
//! ```
//! sfa allocates as many entries as the count says, before it compares the checksum. With one bit of the count flipped
//! that exceeds any memory and ends the process.

use std::io::{Read, Result, Seek, SeekFrom};
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_128;

const CONTENTS_MAGIC: &[u8; 4] = b"TOC!";
const TRAILER_MAGIC: &[u8; 6] = b"SFA!\x01\x00";
const TRAILER: usize = 38;
/// Archives have about ten sections.
const MOST_CONTENTS: u64 = 1 << 16;

/// A table of contents with a valid checksum.
pub(crate) struct Contents(Vec<u8>);

impl Contents {
    /// Reads the table of contents; `None` if it is damaged.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn read(file: &mut (impl Read + Seek)) -> Result<Option<Self>> {
        let length = file.seek(SeekFrom::End(0))?;
        let Some(end) = length.checked_sub(TRAILER as u64) else { return Ok(None) };
        let mut trailer = [0; TRAILER];
        file.seek(SeekFrom::Start(end))?;
        file.read_exact(&mut trailer)?;
        let Some((checksum, start)) = parse_trailer(&trailer) else { return Ok(None) };
        if start > end || end - start > MOST_CONTENTS {
            return Ok(None);
        }
        let mut contents = vec![0; (end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut contents)?;
        Ok((xxh3_128(&contents) == checksum).then_some(Self(contents)))
    }

    /// The byte range of a section.
    pub(crate) fn section(&self, wanted: &[u8]) -> Option<Range<usize>> {
        let rest = self.0.strip_prefix(CONTENTS_MAGIC)?;
        let (_, mut rest) = rest.split_first_chunk::<4>()?;
        loop {
            let (position, behind) = rest.split_first_chunk()?;
            let (length, behind) = behind.split_first_chunk()?;
            let (name, behind) = behind.split_first_chunk()?;
            let (name, behind) = behind.split_at_checked(usize::from(u16::from_le_bytes(*name)))?;
            if name == wanted {
                let start = usize::try_from(u64::from_le_bytes(*position)).ok()?;
                let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
                return Some(start..start.checked_add(length)?);
            }
            rest = behind;
        }
    }
}

/// Returns the checksum and the position of the contents.
fn parse_trailer(trailer: &[u8]) -> Option<(u128, u64)> {
    let (checksum, rest) = trailer.strip_prefix(TRAILER_MAGIC)?.split_first_chunk()?;
    let (position, _) = rest.split_first_chunk()?;
    Some((u128::from_le_bytes(*checksum), u64::from_le_bytes(*position)))
}
