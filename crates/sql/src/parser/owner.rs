//! OWNER TO.

use super::{Cursor, Parse};
use crate::Statement;
use crate::statement::{ChangeOwner, OwnedObject};
use sqlparser::tokenizer::Token;

/// Parses `OWNER TO {role | CURRENT_ROLE | CURRENT_USER | SESSION_USER}`.
pub(super) fn owner_to(c: &mut Cursor<'_>, object: OwnedObject, if_exists: bool) -> Parse<Statement> {
    c.need_all(&["OWNER", "TO"])?;
    // All three are the same role, since there is no SET ROLE.
    let current = ["CURRENT_ROLE", "CURRENT_USER", "SESSION_USER"].iter().any(|word| c.eat(word));
    let to = if current { None } else { Some(c.name()?) };
    if matches!(c.peek(), Token::Comma) {
        return Err(c.unsupported("OWNER TO beside other actions"));
    }
    Ok(Statement::ChangeOwner(ChangeOwner { object, if_exists, to }))
}
