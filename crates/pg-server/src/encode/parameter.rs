//! Decodes the parameters of Bind.

use engine::{TimeZone, binary};
use types::{DataType, Datum, TypeError};

/// Why a parameter could not be read.
#[derive(Debug)]
pub(crate) enum BadParameter {
    /// The value is invalid for the type.
    Type(TypeError),
    /// Fewer binary bytes than the type has (08P01).
    Short,
    /// Binary bytes of a wrong length or shape (22P03).
    Binary,
    /// A format code other than 0 and 1 (08P01).
    Format(i16),
}

/// Decodes a parameter of type `ty`. Timestamps in text without a zone are in `zone`.
///
/// # Errors
/// See [`BadParameter`].
pub(crate) fn decode_parameter(
    ty: &DataType,
    format: i16,
    bytes: &[u8],
    zone: TimeZone,
) -> Result<Datum, BadParameter> {
    match format {
        0 => {
            let text = std::str::from_utf8(bytes)
                .map_err(|error| BadParameter::Type(TypeError::not_utf8(bytes, error.valid_up_to())))?;
            types::text::parse_in(ty, text, &zone).map_err(BadParameter::Type)
        }
        1 if usize::try_from(ty.wire_len()).is_ok_and(|length| bytes.len() < length) => Err(BadParameter::Short),
        1 => {
            let value = binary::get(ty, bytes).map_err(BadParameter::Type)?.ok_or(BadParameter::Binary)?;
            types::coerce::assign(ty, value).map_err(BadParameter::Type)
        }
        other => Err(BadParameter::Format(other)),
    }
}
