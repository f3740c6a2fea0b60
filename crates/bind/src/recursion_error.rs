//! Errors of recursive queries.

/// An error of a recursive query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecursionError {
    /// It references itself but is not a UNION.
    Form,
    /// It references itself twice.
    Twice,
    /// It references itself in a construct that does not allow it.
    Within {
        /// The construct.
        place: &'static str,
    },
    /// An aggregate in the recursive term.
    Aggregate,
    /// Two CTEs that reference each other.
    Mutual,
    /// A clause after the two terms.
    Clause {
        /// The clause.
        word: &'static str,
    },
}

impl RecursionError {
    /// Returns the message for the query of that name.
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
