//! Types of times and timestamps in signatures, which have no precision.

use types::DataType;

pub(in crate::functions) const TIME: DataType = DataType::Time(None);
pub(in crate::functions) const TIMESTAMP: DataType = DataType::Timestamp(None);
pub(in crate::functions) const TIMESTAMPTZ: DataType = DataType::TimestampTz(None);
