//! Types of moments as signatures name them: no function asks for digits of a second.

use types::DataType;

pub(in crate::functions) const TIME: DataType = DataType::Time(None);
pub(in crate::functions) const TIMESTAMP: DataType = DataType::Timestamp(None);
pub(in crate::functions) const TIMESTAMPTZ: DataType = DataType::TimestampTz(None);
