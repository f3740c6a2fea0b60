//! `x LIKE p ESCAPE e` with a computed `e` becomes `x LIKE like_escape(p, e)`, as in PostgreSQL.
//!
//! sqlparser accepts only a constant after ESCAPE. With a constant, the trees built here are the same as sqlparser's.

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// A pattern-matching operator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Match {
    Like,
    ILike,
    Similar,
}

/// Has the statement an ESCAPE that is not a single constant?
pub(crate) fn is_computed(tokens: &[TokenWithSpan]) -> bool {
    let constant = |token: &Token| {
        let null = matches!(token, Token::Word(word) if word.keyword == Keyword::NULL);
        null || matches!(
            token,
            Token::SingleQuotedString(_)
                | Token::EscapedStringLiteral(_)
                | Token::DollarQuotedString(_)
                | Token::Placeholder(_)
        )
    };
    let operator = |token: Option<&TokenWithSpan>| {
        let ends = |token: &Token| matches!(token, Token::Word(_) | Token::Comma | Token::RParen | Token::RBracket);
        token.is_some_and(|token| !ends(&token.token))
    };
    tokens.iter().enumerate().any(|(at, token)| {
        matches!(&token.token, Token::Word(word) if word.keyword == Keyword::ESCAPE && word.quote_style.is_none())
            && tokens.get(at + 1).is_some_and(|next| !constant(&next.token) || operator(tokens.get(at + 2)))
    })
}

/// Parses `[NOT] LIKE`, `[NOT] ILIKE` and `[NOT] SIMILAR TO` with a pattern, after an operand; `None` if another
/// operator follows. `precedence` is that of LIKE.
pub(crate) fn matched(parser: &mut Parser<'_>, operand: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
    let words = |n: usize| match &parser.peek_nth_token_ref(n).token {
        Token::Word(word) => word.keyword,
        _ => Keyword::NoKeyword,
    };
    let negated = words(0) == Keyword::NOT;
    let at = usize::from(negated);
    let (kind, length) = match (words(at), words(at + 1)) {
        // Lists of patterns are parsed elsewhere.
        (Keyword::LIKE | Keyword::ILIKE, Keyword::ANY | Keyword::SOME | Keyword::ALL) => return None,
        (Keyword::LIKE, _) => (Match::Like, 1),
        (Keyword::ILIKE, _) => (Match::ILike, 1),
        (Keyword::SIMILAR, Keyword::TO) => (Match::Similar, 2),
        _ => return None,
    };
    (0..at + length).for_each(|_| drop(parser.next_token()));
    Some(pattern(parser, (operand, precedence), kind, negated))
}

fn pattern(
    parser: &mut Parser<'_>,
    (operand, precedence): (&Expr, u8),
    kind: Match,
    negated: bool,
) -> Result<Expr, ParserError> {
    let mut pattern = parser.parse_subexpr(precedence)?;
    let mut escape_char = None;
    if parser.parse_keyword(Keyword::ESCAPE) {
        match (parser.parse_subexpr(precedence)?, kind) {
            (Expr::Value(value), _) => escape_char = Some(value),
            (escape, Match::Similar) => {
                let right = Box::new(call("similar_to_escape", pattern, escape));
                let op = if negated { BinaryOperator::PGRegexNotMatch } else { BinaryOperator::PGRegexMatch };
                return Ok(Expr::BinaryOp { left: Box::new(operand.clone()), op, right });
            }
            (escape, _) => pattern = call("like_escape", pattern, escape),
        }
    }
    let (expr, pattern) = (Box::new(operand.clone()), Box::new(pattern));
    Ok(match kind {
        Match::Like => Expr::Like { negated, any: false, expr, pattern, escape_char },
        Match::ILike => Expr::ILike { negated, any: false, expr, pattern, escape_char },
        Match::Similar => Expr::SimilarTo { negated, expr, pattern, escape_char },
    })
}

/// Returns a call of the PostgreSQL function of that name.
fn call(name: &str, pattern: Expr, escape: Expr) -> Expr {
    let args = [pattern, escape].map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)));
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new("pg_catalog"), Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: args.to_vec(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}
