//! ANALYZE, UPDATE STATISTICS and VACUUM.

use super::explain::boolean;
use super::{Cursor, Parse};
use crate::Statement;
use crate::statement::{ObjectName, StatisticsOf, UpdateStatistics, VacuumOptions};
use sqlparser::tokenizer::Token;

/// Parses ANALYZE [VERBOSE] [t [(a, b)], …].
pub(super) fn analyze(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.next();
    let mut verbose = c.eat("VERBOSE");
    if matches!(c.peek(), Token::LParen) {
        c.parenthesised(|c| {
            let place = c.location();
            match c.any_word()?.as_str() {
                "verbose" => verbose = boolean(c)?,
                other => return Err(c.unsupported_at(place, format!("ANALYZE option {}", other.to_ascii_uppercase()))),
            }
            Ok(())
        })?;
    }
    let tables = if c.at_end() { Vec::new() } else { c.list(table)? };
    Ok(Statement::Analyze { tables, verbose })
}

/// Parses `UPDATE STATISTICS t [ALL | INDEX | COLUMNS] [SET property = n, …]`, after UPDATE.
pub(super) fn update_statistics(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("STATISTICS")?;
    let table = c.object_name()?;
    let of = if c.eat("INDEX") {
        StatisticsOf::Indexes
    } else if c.eat("COLUMNS") {
        StatisticsOf::Columns
    } else {
        c.eat("ALL");
        StatisticsOf::All
    };
    let properties = if c.eat("SET") { c.list(property)? } else { Vec::new() };
    Ok(Statement::UpdateStatistics(UpdateStatistics { table, of, properties }))
}

/// Parses `"phoenix.stats.guidepost.width" = 100000000`.
fn property(c: &mut Cursor<'_>) -> Parse<(String, u64)> {
    let name = c.any_word()?.to_ascii_lowercase();
    c.need_token(&Token::Eq)?;
    let number = match c.peek() {
        Token::Number(digits, _) => digits.parse().ok(),
        _ => None,
    };
    let Some(number) = number else { return Err(c.expected("a whole number")) };
    c.next();
    Ok((name, number))
}

fn table(c: &mut Cursor<'_>) -> Parse<(ObjectName, Vec<String>)> {
    let name = c.object_name()?;
    let columns = if matches!(c.peek(), Token::LParen) { c.parenthesised(Cursor::name)? } else { Vec::new() };
    Ok((name, columns))
}

/// Parses VACUUM [FULL] [VERBOSE] [ANALYZE] [t, …] and VACUUM (option, …) [t, …].
pub(super) fn vacuum(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("VACUUM")?;
    let mut options = VacuumOptions::default();
    if matches!(c.peek(), Token::LParen) {
        c.parenthesised(|c| {
            let place = c.location();
            match c.any_word()?.as_str() {
                "full" => options.full = boolean(c)?,
                "verbose" => options.verbose = boolean(c)?,
                "analyze" | "analyse" => options.analyze = boolean(c)?,
                other => return Err(c.unsupported_at(place, format!("VACUUM option {}", other.to_ascii_uppercase()))),
            }
            Ok(())
        })?;
    } else {
        options.full = c.eat("FULL");
        if c.at("FREEZE") {
            return Err(c.unsupported("VACUUM FREEZE"));
        }
        options.verbose = c.eat("VERBOSE");
        options.analyze = c.eat("ANALYZE") || c.eat("ANALYSE");
    }
    let tables = if c.at_end() { Vec::new() } else { c.list(Cursor::object_name)? };
    Ok(Statement::Vacuum { tables, options })
}
