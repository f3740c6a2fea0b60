//! Words that need quotes to be names.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::keyword::{Category, category};

/// Words besides those of [`types::keyword`] that have a special syntax inside expressions.
const SPECIAL: &str = "between bit exists extract interval overlay position row set substring trim values";

/// Reserved words that begin an expression, or are one.
const OPERANDS: &str = "array case cast current_catalog current_date current_role current_time current_timestamp \
    current_user false localtime localtimestamp not null session_user true user";

/// Does the word need quotes to be a name?
pub(crate) fn is_reserved(word: &str) -> bool {
    category(word) == Some(Category::Reserved)
}

/// Can the word not begin an expression?
pub(crate) fn is_no_operand(word: &str) -> bool {
    is_reserved(word) && !holds(OPERANDS, word)
}

/// Does the word need quotes to be the name of a relation?
pub(super) fn is_no_relation(word: &str) -> bool {
    matches!(category(word), Some(Category::Reserved | Category::TypeOrFunctionName))
}

/// Does the lower-case word need quotes where a name is printed?
pub(crate) fn is_keyword(word: &str) -> bool {
    is_no_relation(word) || holds(SPECIAL, word)
}

/// Makes plain names of words that begin clauses only in other dialects of sqlparser: `SELECT top FROM t settings`.
pub(super) fn free_names(tokens: &mut [TokenWithSpan]) {
    use Keyword as K;
    for token in tokens {
        if let Token::Word(word) = &mut token.token
            && let K::ASOF
            | K::CONNECT
            | K::DISTRIBUTE
            | K::MATCH_CONDITION
            | K::MATCH_RECOGNIZE
            | K::PIVOT
            | K::PREWHERE
            | K::QUALIFY
            | K::SAMPLE
            | K::SETTINGS
            | K::TOP
            | K::UNPIVOT = word.keyword
        {
            word.keyword = K::NoKeyword;
        }
    }
}

/// Does the list contain the word, in any case?
fn holds(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed.eq_ignore_ascii_case(word))
}
