//! Comparison operators.

use std::cmp::Ordering;

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `=`
    Eq,
    /// `<>`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CompareOp {
    /// All operators, in the order of their discriminants.
    pub const ALL: [Self; 6] = [Self::Eq, Self::Ne, Self::Lt, Self::Le, Self::Gt, Self::Ge];

    /// Returns the comparison with the given sign.
    pub fn of_sign(sign: &str) -> Option<Self> {
        let sign = if sign == "!=" { "<>" } else { sign };
        Self::ALL.into_iter().find(|op| op.sign() == sign)
    }

    /// Returns the sign of the operator.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "<>",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }

    /// Returns the comparison that holds for `b` and `a` if this one holds for `a` and `b`.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            same @ (Self::Eq | Self::Ne) => same,
        }
    }

    /// Returns whether the comparison holds for two values of this order.
    pub fn matches(self, order: Ordering) -> bool {
        match self {
            Self::Eq => order.is_eq(),
            Self::Ne => order.is_ne(),
            Self::Lt => order.is_lt(),
            Self::Le => order.is_le(),
            Self::Gt => order.is_gt(),
            Self::Ge => order.is_ge(),
        }
    }
}
