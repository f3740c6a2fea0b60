//! `ON DUPLICATE KEY IGNORE` and `ON DUPLICATE KEY UPDATE c = c + 1`.

use crate::parser::{Cursor, Parse, assignment};
use crate::statement::OnDuplicate;

/// Parses the rest of ON DUPLICATE KEY.
pub(crate) fn on_duplicate(c: &mut Cursor<'_>) -> Parse<OnDuplicate> {
    if c.eat("IGNORE") {
        return Ok(OnDuplicate::Ignore);
    }
    if c.at("UPDATE_ONLY") {
        return Err(c.unsupported("ON DUPLICATE KEY UPDATE_ONLY"));
    }
    c.need("UPDATE")?;
    Ok(OnDuplicate::Update(c.list(assignment)?))
}
