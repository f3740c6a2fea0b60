//! Operator classes of ordered indexes: the part of PostgreSQL 15's `pg_opclass` whose method is `btree`, with the
//! operator families of `pg_opfamily`. `data/operator_classes.txt` has them:
//!
//! ```text
//!   1978 int4_ops 1976 integer_ops 23 0 d     oid, name, family's oid and name, type, type that is kept, d for default
//! ```

use std::sync::LazyLock;

/// A row of `pg_opclass`.
#[derive(Debug)]
pub struct OperatorClass {
    /// Its oid.
    pub oid: u32,
    /// Its name, such as `int4_ops`.
    pub name: &'static str,
    /// The oid of its family.
    pub family: u32,
    /// The name of its family, such as `integer_ops`.
    pub family_name: &'static str,
    /// The type that it orders.
    pub ty: u32,
    /// The type that indexes store, or 0 for the same type.
    pub key_type: u32,
    /// Whether it is the default of its type.
    pub default: bool,
}

const TEXT: u32 = 25;
const VARCHAR: u32 = 1043;

static CLASSES: LazyLock<Vec<OperatorClass>> =
    LazyLock::new(|| include_str!("../data/operator_classes.txt").lines().filter_map(class).collect());

/// Returns all operator classes, by oid.
pub fn operator_classes() -> &'static [OperatorClass] {
    &CLASSES
}

impl OperatorClass {
    /// Returns whether an index can order values of the type with this oid by the class.
    pub fn accepts(&self, ty: u32) -> bool {
        self.ty == ty || self.ty == TEXT && ty == VARCHAR
    }
}

/// Returns the default operator class of the type with this oid.
pub fn default_operator_class(ty: u32) -> Option<&'static OperatorClass> {
    operator_classes().iter().find(|class| class.default && class.accepts(ty))
}

fn class(line: &'static str) -> Option<OperatorClass> {
    let mut words = line.split(' ');
    Some(OperatorClass {
        oid: words.next()?.parse().ok()?,
        name: words.next()?,
        family: words.next()?.parse().ok()?,
        family_name: words.next()?,
        ty: words.next()?.parse().ok()?,
        key_type: words.next()?.parse().ok()?,
        default: words.next()? == "d",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read() {
        assert_eq!(operator_classes().len(), include_str!("../data/operator_classes.txt").lines().count());
    }

    #[test]
    fn varchar_has_the_order_of_text() {
        assert_eq!(default_operator_class(VARCHAR).map(|class| class.name), Some("text_ops"));
        assert!(default_operator_class(0).is_none());
    }
}
