//! What can be wrong with a recursive query.

/// What is wrong with a recursive query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecursionError {
    /// It reads itself and is no UNION.
    Form,
    /// It reads itself twice.
    Twice,
    /// Where it must not read itself.
    Within {
        /// The place.
        place: &'static str,
    },
    /// An aggregate in the second term.
    Aggregate,
    /// Two queries of WITH that read each other.
    Mutual,
    /// A clause behind the two terms.
    Clause {
        /// Which.
        word: &'static str,
    },
}

impl RecursionError {
    /// The message, about the query of that name.
    pub(crate) fn message(self, name: &str) -> String {
        match self {
            Self::Form => {
                format!(
                    "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] recursive-term"
                )
            }
            Self::Twice => format!("recursive reference to query \"{name}\" must not appear more than once"),
            Self::Within { place } => {
                format!("recursive reference to query \"{name}\" must not appear within {place}")
            }
            Self::Aggregate => "aggregate functions are not allowed in a recursive query's recursive term".to_owned(),
            Self::Mutual => "mutual recursion between WITH items is not implemented".to_owned(),
            Self::Clause { word } => format!("{word} in a recursive query is not implemented"),
        }
    }

    /// The SQLSTATE.
    pub(crate) fn sqlstate(self) -> &'static str {
        match self {
            Self::Mutual | Self::Clause { .. } => "0A000",
            _ => "42P19",
        }
    }
}
