//! Clauses of queries and contexts of expressions, as error messages name them.

/// A clause of a query, as error messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the clause of its name")]
pub enum Clause {
    SelectList,
    From,
    FunctionInFrom,
    JoinOn,
    Where,
    GroupBy,
    Having,
    OrderBy,
    DistinctOn,
    Limit,
    Offset,
    Values,
    Filter,
    Update,
    Returning,
    IndexPredicate,
    WindowDefinition,
    Check,
    Generated,
    IndexExpression,
    Default,
    CopyWhere,
    Execute,
    SplitPoint,
    Transform,
}

impl Clause {
    /// Are the expressions stored, or evaluated outside a query? Then they must not contain subqueries.
    pub(crate) fn is_over_one_row(self) -> bool {
        matches!(
            self,
            Self::IndexPredicate
                | Self::Check
                | Self::Generated
                | Self::IndexExpression
                | Self::Default
                | Self::CopyWhere
                | Self::Execute
                | Self::SplitPoint
                | Self::Transform
        )
    }

    /// Returns the name for messages of a clause whose expression must be boolean.
    pub(crate) fn condition(self) -> Option<&'static str> {
        match self {
            Self::Check => Some("CHECK"),
            Self::IndexPredicate | Self::CopyWhere => Some("WHERE"),
            _ => None,
        }
    }

    /// Returns the name for messages of a single expression of the clause.
    #[must_use]
    pub fn singular(self) -> String {
        self.to_string().trim_end_matches('s').to_owned()
    }
}

impl std::fmt::Display for Clause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::SelectList => "SELECT",
            Self::From => "FROM clause of their own query level",
            Self::FunctionInFrom => "functions in FROM",
            Self::JoinOn => "JOIN conditions",
            Self::Where => "WHERE",
            Self::GroupBy => "GROUP BY",
            Self::Having => "HAVING",
            Self::OrderBy => "ORDER BY",
            Self::DistinctOn => "DISTINCT ON",
            Self::Limit => "LIMIT",
            Self::Offset => "OFFSET",
            Self::Values => "VALUES",
            Self::Filter => "FILTER",
            Self::Update => "UPDATE",
            Self::Returning => "RETURNING",
            Self::IndexPredicate => "index predicates",
            Self::Transform => "transform expressions",
            Self::WindowDefinition => "window definitions",
            Self::Check => "check constraints",
            Self::Generated => "column generation expressions",
            Self::IndexExpression => "index expressions",
            Self::Default => "DEFAULT expressions",
            Self::CopyWhere => "COPY FROM WHERE conditions",
            Self::Execute => "EXECUTE parameters",
            Self::SplitPoint => "split points",
        })
    }
}
