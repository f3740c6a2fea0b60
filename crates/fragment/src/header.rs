//! The header: the first 20 bytes, equal in every fragment, so that a store can stamp and compare fragments that it
//! cannot decode.
//!
//! ```text
//!   0       1      2..4       4..12              12..20
//!   format  flags  layout id  timestamp in ms    commit number
//! ```

use crate::FragmentError;
use store::{CommitNo, Timestamp};

/// Bytes of the header.
pub const LEN: usize = 20;
/// The value of byte 0.
pub const FORMAT: u8 = 1;
/// Flag: all columns of the layout at its offsets. If clear: cells with sorted qualifiers.
pub const DENSE: u8 = 1;
/// Flag: end offsets have 4 bytes instead of 2.
pub const WIDE: u8 = 2;

/// Mark: an index entry that was written before its row or is about to be deleted, so that its row must be checked.
/// Marked fragments are only for the layer that maintains indexes row by row; it never returns them.
pub const UNVERIFIED: u8 = 0x80;
/// Mark: a placeholder without a row. An insert writes it first, so that later writes can compare its stamp.
pub const VOID: u8 = 0x40;
/// Mark: a reservation of a unique value, not an entry. The key is the unique value; the rowkey that holds it follows
/// the header.
pub const RESERVED: u8 = 0x20;

const MARKS: u8 = UNVERIFIED | VOID | RESERVED;

/// The marks of a fragment.
pub fn marks_of(fragment: &[u8]) -> u8 {
    fragment.get(1).copied().unwrap_or_default() & MARKS
}

/// The fragment with exactly these marks.
#[must_use]
pub fn with_marks(fragment: &[u8], marks: u8) -> Vec<u8> {
    let mut marked = fragment.to_vec();
    if let Some(flags) = marked.get_mut(1) {
        *flags = (*flags & !MARKS) | (marks & MARKS);
    }
    marked
}

/// Checks that there is a valid header, with or without marks. Stores check the bytes that they keep with this.
///
/// # Errors
/// The error in the header.
pub fn check(fragment: &[u8]) -> Result<(), FragmentError> {
    Header::read_with(fragment, DENSE | WIDE | MARKS).map(drop)
}

/// A header with these marks and no content.
#[must_use]
pub fn marked(marks: u8) -> Vec<u8> {
    let mut header = Vec::with_capacity(LEN);
    write(marks & MARKS, 0, &mut header);
    header
}

/// The header's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) flags: u8,
    pub(crate) layout: u16,
    pub(crate) timestamp: u64,
    pub(crate) commit: u64,
}

impl Header {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, FragmentError> {
        Self::read_with(bytes, DENSE | WIDE)
    }

    fn read_with(bytes: &[u8], known: u8) -> Result<Self, FragmentError> {
        let &[format, flags, l0, l1, ref stamp @ ..] = bytes else {
            return Err(FragmentError::Truncated { part: "header", len: bytes.len(), need: LEN });
        };
        let (Some(timestamp), Some(commit)) = (be_u64(stamp, 0), be_u64(stamp, 8)) else {
            return Err(FragmentError::Truncated { part: "header", len: bytes.len(), need: LEN });
        };
        if format != FORMAT {
            return Err(FragmentError::UnknownFormat { found: format });
        }
        if flags & !known != 0 {
            return Err(FragmentError::UnknownFlags { found: flags });
        }
        Ok(Self { flags, layout: u16::from_be_bytes([l0, l1]), timestamp, commit })
    }
}

/// Appends a header with a zero stamp; the store stamps it.
pub(crate) fn write(flags: u8, layout: u16, out: &mut Vec<u8>) {
    out.extend([FORMAT, flags]);
    out.extend(layout.to_be_bytes());
    out.extend([0; 16]);
}

/// Writes the timestamp and the commit number; changes nothing else.
///
/// # Errors
/// [`FragmentError::Truncated`] if the bytes are shorter than a header.
pub fn stamp(fragment: &mut [u8], at: Timestamp, commit: CommitNo) -> Result<(), FragmentError> {
    let len = fragment.len();
    let Some(field) = fragment.get_mut(4..LEN) else {
        return Err(FragmentError::Truncated { part: "header", len, need: LEN });
    };
    let (time, number) = field.split_at_mut(8);
    time.copy_from_slice(&at.0.to_be_bytes());
    number.copy_from_slice(&commit.0.to_be_bytes());
    Ok(())
}

/// The commit number of the fragment; `None` if it is shorter than a header.
pub fn commit_of(fragment: &[u8]) -> Option<CommitNo> {
    be_u64(fragment, 12).map(CommitNo)
}

/// The timestamp of the fragment; `None` if it is too short.
pub fn timestamp_of(fragment: &[u8]) -> Option<Timestamp> {
    be_u64(fragment, 4).map(Timestamp)
}

fn be_u64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_back_and_touches_nothing_else() {
        let mut bytes = Vec::new();
        write(DENSE, 0x0102, &mut bytes);
        bytes.push(9);
        stamp(&mut bytes, Timestamp(7), CommitNo(u64::MAX)).unwrap();
        let header = Header::read(&bytes).unwrap();
        assert_eq!(header, Header { flags: DENSE, layout: 0x0102, timestamp: 7, commit: u64::MAX });
        assert_eq!((commit_of(&bytes), timestamp_of(&bytes)), (Some(CommitNo(u64::MAX)), Some(Timestamp(7))));
        assert_eq!((&bytes[..4], &bytes[20..]), ([1, 1, 1, 2].as_slice(), [9].as_slice()));
    }

    #[test]
    fn a_marked_fragment_is_none_until_its_marks_are_taken_away() {
        let mut bytes = Vec::new();
        write(DENSE, 3, &mut bytes);
        bytes.push(9);
        for mark in [UNVERIFIED, VOID, RESERVED] {
            let marked = with_marks(&bytes, mark);
            assert_eq!(marks_of(&marked), mark);
            assert_eq!(Header::read(&marked), Err(FragmentError::UnknownFlags { found: DENSE | mark }));
            check(&marked).unwrap();
            assert_eq!(with_marks(&marked, 0), bytes);
            assert_eq!(marks_of(&super::marked(mark)), mark);
        }
        assert_eq!((marks_of(&bytes), marks_of(&[])), (0, 0));
    }

    #[test]
    fn a_cut_header_can_neither_be_read_nor_stamped() {
        let mut bytes = Vec::new();
        write(0, 0, &mut bytes);
        while bytes.pop().is_some() {
            assert!(Header::read(&bytes).is_err() && commit_of(&bytes).is_none());
            assert!(stamp(&mut bytes, Timestamp(0), CommitNo(0)).is_err());
        }
    }

    #[test]
    fn formats_and_flags_of_the_future_are_refused_by_name() {
        let mut bytes = vec![0; LEN];
        assert_eq!(Header::read(&bytes), Err(FragmentError::UnknownFormat { found: 0 }));
        bytes[..2].copy_from_slice(&[FORMAT, 0x11]);
        assert_eq!(Header::read(&bytes), Err(FragmentError::UnknownFlags { found: 0x11 }));
        assert_eq!(check(&bytes), Err(FragmentError::UnknownFlags { found: 0x11 }));
    }
}
