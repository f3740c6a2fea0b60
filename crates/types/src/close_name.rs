//! Suggestions for misspelled names.

/// Returns the name that differs least from `name`, if it differs in at most a third of its letters.
pub fn close_name<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let near = names.map(|other| (distance(name, other), other)).filter(|(distance, _)| *distance <= limit);
    near.min_by_key(|(distance, _)| *distance).map(|(_, other)| other)
}

/// Levenshtein distance: characters to insert, delete or substitute.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (y, above) in b.iter().zip(row.iter().skip(1)) {
            let cost = diagonal + usize::from(x != *y);
            left = cost.min(above + 1).min(left + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_found_and_far_ones_are_not() {
        let names = ["carrier", "flight", "departed"];
        assert_eq!(close_name("carier", names.into_iter()), Some("carrier"));
        assert_eq!(close_name("fligth", names.into_iter()), Some("flight"));
        assert_eq!(close_name("price", names.into_iter()), None);
    }
}
