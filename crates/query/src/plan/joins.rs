//! What joins say of the rows that meet.

use sql::ast::{JoinConstraint, JoinOperator};

/// The operators that have a constraint, and it; `None` for the others.
macro_rules! constraint {
    ($operator:expr) => {
        match $operator {
            JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::Left(constraint)
            | JoinOperator::LeftOuter(constraint)
            | JoinOperator::Right(constraint)
            | JoinOperator::RightOuter(constraint)
            | JoinOperator::FullOuter(constraint) => Some(constraint),
            _ => None,
        }
    };
}

/// ON, USING or NATURAL.
pub(super) fn constraint_of(operator: &JoinOperator) -> Option<&JoinConstraint> {
    constraint!(operator)
}

/// The same to be changed.
pub(super) fn constraint_mut(operator: &mut JoinOperator) -> Option<&mut JoinConstraint> {
    constraint!(operator)
}
