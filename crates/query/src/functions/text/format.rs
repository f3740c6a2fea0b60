//! `format('%s is %I, %2$L', ...)`.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::any_type::{quoted, shown};
use crate::functions::sql::wrong;
use crate::functions::text::may_have;
use types::Datum;

pub(in crate::functions) fn format(args: &[Datum]) -> QueryResult<Datum> {
    let Some((pattern, values)) = args.split_first() else { return Err(wrong(args)) };
    let pattern = match pattern {
        Datum::Null => return Ok(Datum::Null),
        Datum::Text(pattern) => pattern,
        _ => return Err(wrong(args)),
    };
    let mut out = String::new();
    let mut reader = Reader { rest: pattern, values, next: 0 };
    while let Some(letter) = reader.letter() {
        match letter {
            '%' => reader.specifier(&mut out)?,
            letter => out.push(letter),
        }
    }
    Ok(Datum::Text(out))
}

struct Reader<'a> {
    rest: &'a str,
    values: &'a [Datum],
    /// The index of the value for a specifier without a position.
    next: usize,
}

fn unterminated() -> QueryError {
    Refusal::Argument.because("unterminated format() type specifier")
}

impl Reader<'_> {
    fn letter(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = self.rest.get(letter.len_utf8()..).unwrap_or_default();
        Some(letter)
    }

    /// Reads a decimal number, if there is one.
    ///
    /// # Errors
    /// 22003 for a number that does not fit an integer.
    fn number(&mut self) -> QueryResult<Option<usize>> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let Some((digits, rest)) = self.rest.split_at_checked(end).filter(|_| end > 0) else { return Ok(None) };
        let number = digits.parse::<i32>().ok().and_then(|number| usize::try_from(number).ok());
        let number = number.ok_or_else(|| Refusal::Range.because("number is out of range"))?;
        self.rest = rest;
        Ok(Some(number))
    }

    fn take(&mut self, position: Option<usize>) -> QueryResult<Datum> {
        let at = match position {
            Some(0) => {
                return Err(Refusal::Argument.because("format specifies argument 0, but arguments are numbered from 1"));
            }
            Some(position) => position - 1,
            None => self.next,
        };
        self.next = at + 1;
        let missing = || Refusal::Argument.because("too few arguments for format()");
        self.values.get(at).cloned().ok_or_else(missing)
    }

    /// Prints the specifier after a percent sign: `[n$][-][width]type`.
    fn specifier(&mut self, out: &mut String) -> QueryResult<()> {
        if let Some(rest) = self.rest.strip_prefix('%') {
            self.rest = rest;
            out.push('%');
            return Ok(());
        }
        let mut position = None;
        let before = self.rest;
        if let Some(number) = self.number()? {
            match self.rest.strip_prefix('$') {
                Some(rest) => {
                    self.rest = rest;
                    position = Some(number);
                }
                None => self.rest = before,
            }
        }
        let mut left = false;
        while let Some(rest) = self.rest.strip_prefix('-') {
            self.rest = rest;
            left = true;
        }
        let mut width = self.number()?.unwrap_or(0);
        if let Some(rest) = self.rest.strip_prefix('*') {
            self.rest = rest;
            if let Some(wanted) = self.take(None)?.as_i64() {
                left |= wanted < 0;
                width = usize::try_from(wanted.unsigned_abs()).unwrap_or(0);
            }
        }
        let kind = self.letter().ok_or_else(unterminated)?;
        if !matches!(kind, 's' | 'I' | 'L') {
            return Err(Refusal::Argument.because(format!("unrecognized format() type specifier \"{kind}\"")));
        }
        let value = self.take(position)?;
        push_padded(&converted(kind, &value)?, width, left, out)
    }
}

fn converted(kind: char, value: &Datum) -> QueryResult<String> {
    Ok(match (kind, value) {
        ('L', Datum::Null) => "NULL".to_owned(),
        ('L', value) => quoted(&shown(value)),
        ('I', Datum::Null) => {
            return Err(Refusal::Null.because("null values cannot be formatted as an SQL identifier"));
        }
        ('I', value) => types::ident::quote(&shown(value)).into_owned(),
        (_, value) => shown(value),
    })
}

fn push_padded(text: &str, width: usize, left: bool, out: &mut String) -> QueryResult<()> {
    let missing = width.saturating_sub(text.chars().count());
    may_have(out.len().saturating_add(text.len()).saturating_add(missing))?;
    let blanks = std::iter::repeat_n(' ', missing);
    if left {
        out.push_str(text);
        out.extend(blanks);
    } else {
        out.extend(blanks);
        out.push_str(text);
    }
    Ok(())
}
