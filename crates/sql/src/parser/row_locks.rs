//! The locking clauses of a query, out of what `lexer/row_locks.rs` made of them.

use super::{Cursor, Parse};
use crate::Statement;
use crate::lexer::row_locks::{DOT, STRENGTHS};
use crate::statement::{LockingSelect, RowLock, RowLockStrength, RowLockWait};
use sqlparser::ast::{LockClause, NonBlock, Query};

/// A query as a statement: one whose rows are locked, if it says so.
pub(super) fn statement(c: &Cursor<'_>, mut query: Box<Query>) -> Parse<Statement> {
    let locks = std::mem::take(&mut query.locks);
    if locks.is_empty() {
        return Ok(Statement::Query(query));
    }
    let locks = locks.iter().map(|clause| lock(c, clause)).collect::<Parse<_>>()?;
    Ok(Statement::LockingSelect(Box::new(LockingSelect { query, locks })))
}

fn lock(c: &Cursor<'_>, clause: &LockClause) -> Parse<RowLock> {
    let LockClause { lock_type: _, of, nonblock } = clause;
    let mut parts = of.iter().flat_map(|of| &of.0).filter_map(|part| part.as_ident());
    let written = parts.next().map(|ident| ident.value.as_str()).unwrap_or_default();
    let strength = match STRENGTHS.iter().position(|(_, name)| *name == written) {
        Some(0) => RowLockStrength::NoKeyUpdate,
        Some(1) => RowLockStrength::KeyShare,
        Some(2) => RowLockStrength::Update,
        Some(3) => RowLockStrength::Share,
        _ => return Err(c.syntax()),
    };
    let mut of = Vec::new();
    for part in parts {
        if part.value == DOT {
            let message = format!("{} must specify unqualified relation names", strength.words());
            return Err(c.invalid_at(Some(part.span.start), &message));
        }
        of.push(match part.quote_style {
            Some(_) => part.value.clone(),
            None => part.value.to_ascii_lowercase(),
        });
    }
    let wait = match nonblock {
        None => RowLockWait::Block,
        Some(NonBlock::SkipLocked) => RowLockWait::Skip,
        Some(NonBlock::Nowait) => RowLockWait::Fail,
    };
    Ok(RowLock { strength, of, wait })
}
