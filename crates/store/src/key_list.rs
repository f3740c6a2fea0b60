//! Many keys in one allocation.

/// Keys, concatenated in one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyList {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl KeyList {
    /// An empty list with capacity for `keys` keys.
    pub fn with_capacity(keys: usize) -> Self {
        Self { bytes: Vec::new(), ends: Vec::with_capacity(keys) }
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if the list has no keys.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Appends a key.
    pub fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    /// The keys, in the order in which they were pushed.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let key = self.bytes.get(start..end).unwrap_or_default();
            start = end;
            key
        })
    }
}

impl<'a> FromIterator<&'a [u8]> for KeyList {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(keys: I) -> Self {
        let keys = keys.into_iter();
        let mut list = Self::with_capacity(keys.size_hint().0);
        keys.for_each(|key| list.push(key));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::KeyList;

    #[test]
    fn keys_come_back_as_they_were_pushed() {
        let keys: [&[u8]; 4] = [b"b", b"", b"abc", b""];
        let list: KeyList = keys.into_iter().collect();
        assert_eq!(list.iter().collect::<Vec<_>>(), keys);
        assert_eq!((list.len(), list.is_empty()), (4, false));
        assert!(KeyList::default().is_empty());
    }
}
