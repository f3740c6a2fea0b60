//! Types of moments as signatures name them: no function asks for digits of a second.

use types::DataType;

pub(super) const TIME: DataType = DataType::Time(None);
pub(super) const TIMESTAMP: DataType = DataType::Timestamp(None);
pub(super) const TIMESTAMPTZ: DataType = DataType::TimestampTz(None);
