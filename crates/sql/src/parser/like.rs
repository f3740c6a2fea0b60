//! `LIKE source [INCLUDING | EXCLUDING] …` among the columns of CREATE TABLE.

use super::{Cursor, Parse};
use crate::statement::{LikeOption, TableLike};

/// Parses LIKE after `at` columns.
pub(super) fn table_like(c: &mut Cursor<'_>, at: usize) -> Parse<TableLike> {
    c.need("LIKE")?;
    let source = c.object_name()?;
    let mut including = Vec::new();
    loop {
        let includes = c.eat("INCLUDING");
        if !includes && !c.eat("EXCLUDING") {
            return Ok(TableLike { at, source, including });
        }
        let named: Vec<LikeOption> = match c.eat("ALL") {
            true => LikeOption::ALL.iter().map(|(option, _)| *option).collect(),
            false => match LikeOption::ALL.iter().find(|(_, word)| c.at(word)) {
                Some((option, word)) => {
                    c.need(word)?;
                    vec![*option]
                }
                None => return Err(c.syntax()),
            },
        };
        including.retain(|option| !named.contains(option));
        if includes {
            including.extend(named);
        }
    }
}
