//! `to_number`.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::number::format::{Mark, compile};
use crate::functions::sql::arguments;
use types::{DataType, Datum};

/// `to_number(text, pattern)`.
pub(in crate::functions) fn parse(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(input), Datum::Text(pattern)]);
    let pattern = compile(pattern)?;
    let mut number = String::new();
    let mut negative = false;
    let mut letters = input.trim_start().chars().peekable();
    if pattern.has(Mark::Angle) && letters.next_if_eq(&'<').is_some() {
        negative = true;
    }
    for mark in &pattern.marks {
        while letters.next_if(|c| c.is_whitespace()).is_some() {}
        match mark {
            Mark::Digit | Mark::Zero => {
                if number.is_empty()
                    && let Some(sign) = letters.next_if(|c| matches!(c, '+' | '-'))
                {
                    negative |= sign == '-';
                }
                if let Some(digit) = letters.next_if(char::is_ascii_digit) {
                    number.push(digit);
                } else if !pattern.has(Mark::Point) && letters.peek() == Some(&'.') {
                    break;
                }
            }
            Mark::Point => {
                if letters.next_if_eq(&'.').is_some() {
                    number.push('.');
                }
            }
            Mark::Group => {
                letters.next_if_eq(&',');
            }
            Mark::Sign | Mark::Minus | Mark::Plus | Mark::PlusMinus => {
                if let Some(sign) = letters.next_if(|c| matches!(c, '+' | '-')) {
                    negative |= sign == '-';
                }
            }
            Mark::Currency => {
                letters.next_if_eq(&'$');
            }
            Mark::Other(_) => {
                letters.next_if(|c| !c.is_ascii_digit());
            }
            Mark::Exponent | Mark::Roman(_) => {
                return Err(QueryError::Unsupported { feature: "EEEE or RN in to_number()".to_owned() });
            }
            Mark::Angle | Mark::Shift | Mark::Ordinal(_) => {}
        }
    }
    if number.is_empty() || number == "." {
        return Err(Refusal::Text.because(format!("invalid input syntax for type numeric: \"{}\"", input.trim())));
    }
    let text = format!("{}{number}", if negative { "-" } else { "" });
    Ok(types::text::parse(&DataType::Numeric(None), &text)?)
}
