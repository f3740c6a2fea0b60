//! Converts LIKE to a condition.

use super::condition::Condition;
use types::{CompareOp, DataType, Datum};

/// The condition of `part LIKE pattern` on a text part: the prefix before the first wildcard.
pub fn like(part: usize, ty: &DataType, pattern: &str, escape: char) -> Condition {
    let mut prefix = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            letter if letter == escape => match letters.next() {
                Some(escaped) => prefix.push(escaped),
                // Evaluation reports the invalid pattern.
                None => return Condition::Unknown,
            },
            '%' if letters.as_str().chars().all(|rest| rest == '%') => return Condition::Prefix { part, prefix },
            '%' | '_' if prefix.is_empty() => return Condition::Unknown,
            '%' | '_' => return Condition::And(vec![Condition::Prefix { part, prefix }, Condition::Unknown]),
            letter => prefix.push(letter),
        }
    }
    match ty {
        // LIKE matches the padding blanks of a char(n), `=` does not.
        DataType::Char(_) => Condition::Unknown,
        _ => Condition::Compare { part, op: CompareOp::Eq, value: Datum::Text(prefix) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_cut_at_their_first_wildcard() {
        let like = |pattern| like(0, &DataType::Text, pattern, '\\');
        let prefix = |prefix: &str| Condition::Prefix { part: 0, prefix: prefix.to_owned() };
        assert_eq!(like("ab%"), prefix("ab"));
        assert_eq!(like(r"a\%b%%"), prefix("a%b"));
        assert_eq!(like("ab%c"), Condition::And(vec![prefix("ab"), Condition::Unknown]));
        assert_eq!(like("_b%"), Condition::Unknown);
        assert_eq!(like(r"ab\"), Condition::Unknown);
        let whole = Condition::Compare { part: 0, op: CompareOp::Eq, value: Datum::Text("ab".to_owned()) };
        assert_eq!(like("ab"), whole);
        assert_eq!(
            super::like(0, &DataType::Text, "ab%%_", '%'),
            Condition::And(vec![prefix("ab%"), Condition::Unknown])
        );
        assert_eq!(super::like(0, &DataType::Char(2), "ab", '\\'), Condition::Unknown);
    }
}
