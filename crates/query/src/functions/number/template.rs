//! Checks which marks of a `to_char` number template can be combined.

use crate::error::{QueryError, QueryResult};
use crate::functions::number::format::Mark;

/// Refuses invalid templates with PostgreSQL's messages.
///
/// # Errors
/// 42601 for marks that cannot be combined.
pub(in crate::functions) fn check(marks: &[Mark], fill: bool) -> QueryResult<()> {
    let mut seen = Seen::default();
    for mark in marks {
        seen.add(*mark, fill).map_err(|message| QueryError::Invalid { message: message.to_owned() })?;
    }
    Ok(())
}

/// The marks that a template has had so far.
#[derive(Default)]
struct Seen {
    point: bool,
    shift: bool,
    /// `S`
    sign: bool,
    /// `MI`, `PL`, `SG`
    other_sign: bool,
    /// `PR`
    angle: bool,
    roman: bool,
    exponent: bool,
}

impl Seen {
    fn add(&mut self, mark: Mark, fill: bool) -> Result<(), &'static str> {
        if self.exponent && !matches!(mark, Mark::Exponent | Mark::Other(_)) {
            return Err("\"EEEE\" must be the last pattern used");
        }
        match mark {
            Mark::Digit if self.angle => return Err("\"9\" must be ahead of \"PR\""),
            Mark::Zero if self.angle => return Err("\"0\" must be ahead of \"PR\""),
            Mark::Point if self.point => return Err("multiple decimal points"),
            Mark::Point if self.shift => return Err("cannot use \"V\" and decimal point together"),
            Mark::Shift if self.point => return Err("cannot use \"V\" and decimal point together"),
            Mark::Sign if self.sign => return Err("cannot use \"S\" twice"),
            Mark::Sign if self.other_sign || self.angle => {
                return Err("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together");
            }
            Mark::Minus if self.sign => return Err("cannot use \"S\" and \"MI\" together"),
            Mark::Plus if self.sign => return Err("cannot use \"S\" and \"PL\" together"),
            Mark::PlusMinus if self.sign => return Err("cannot use \"S\" and \"SG\" together"),
            Mark::Angle if self.sign || self.other_sign => {
                return Err("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together");
            }
            Mark::Exponent if self.exponent => return Err("cannot use \"EEEE\" twice"),
            Mark::Exponent if !fill || self.sign || self.other_sign || self.angle || self.roman || self.shift => {
                return Err("\"EEEE\" is incompatible with other formats");
            }
            mark => self.note(mark),
        }
        Ok(())
    }

    fn note(&mut self, mark: Mark) {
        match mark {
            Mark::Point => self.point = true,
            Mark::Shift => self.shift = true,
            Mark::Sign => self.sign = true,
            Mark::Minus | Mark::Plus | Mark::PlusMinus => self.other_sign = true,
            Mark::Angle => self.angle = true,
            Mark::Roman(_) => self.roman = true,
            Mark::Exponent => self.exponent = true,
            Mark::Digit | Mark::Zero | Mark::Group | Mark::Currency | Mark::Ordinal(_) | Mark::Other(_) => {}
        }
    }
}
