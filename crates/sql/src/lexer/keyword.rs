//! PostgreSQL's reserved words: names only when quoted.

/// Reserved, as neither column nor table may be called without quotes. Sorted.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "constraint",
    "create",
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "from",
    "grant",
    "group",
    "having",
    "in",
    "initially",
    "intersect",
    "into",
    "lateral",
    "leading",
    "limit",
    "localtime",
    "localtimestamp",
    "not",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "placing",
    "primary",
    "references",
    "returning",
    "select",
    "session_user",
    "some",
    "symmetric",
    "table",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "when",
    "where",
    "window",
    "with",
];

/// Reserved for functions and types, or read in a special way inside expressions. Sorted.
const SPECIAL: &[&str] = &[
    "authorization",
    "between",
    "binary",
    "bit",
    "collation",
    "concurrently",
    "cross",
    "current_schema",
    "exists",
    "extract",
    "freeze",
    "full",
    "ilike",
    "inner",
    "interval",
    "is",
    "isnull",
    "join",
    "left",
    "like",
    "natural",
    "notnull",
    "outer",
    "overlaps",
    "overlay",
    "position",
    "right",
    "row",
    "set",
    "similar",
    "substring",
    "tablesample",
    "trim",
    "values",
    "verbose",
];

/// Reserved words that begin an expression, or are one.
const OPERANDS: &[&str] = &[
    "array",
    "case",
    "cast",
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "false",
    "localtime",
    "localtimestamp",
    "not",
    "null",
    "session_user",
    "true",
    "user",
];

/// May the word not be a name without quotes?
pub(crate) fn is_reserved(word: &str) -> bool {
    holds(RESERVED, word)
}

/// Can the word not begin an expression?
pub(crate) fn is_no_operand(word: &str) -> bool {
    holds(RESERVED, word) && !holds(OPERANDS, word)
}

/// Does the word, in small letters, need quotes where it is written as a name?
pub(crate) fn is_keyword(word: &str) -> bool {
    holds(RESERVED, word) || holds(SPECIAL, word)
}

/// Looks a word of any case up in a sorted list.
fn holds(list: &[&str], word: &str) -> bool {
    let small = || word.bytes().map(|byte| byte.to_ascii_lowercase());
    list.binary_search_by(|candidate| candidate.bytes().cmp(small())).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(RESERVED.is_sorted() && SPECIAL.is_sorted() && OPERANDS.is_sorted());
    }
}
