//! Arbitrary fragments are read completely without a panic.

use fragment::{Fragment, Layout, LayoutColumn};

/// Reads `bytes` as a fragment of several layouts.
pub fn fragment_bytes(bytes: &[u8]) {
    let column = |qualifier, width| LayoutColumn { qualifier, width };
    let layouts = [
        Layout::new(1, vec![]),
        Layout::new(1, vec![column(1, Some(8)), column(2, None), column(3, Some(1)), column(4, None)]),
    ];
    let Ok(fragment) = Fragment::parse(bytes) else { return };
    for layout in &layouts {
        if let Ok(view) = fragment.dense(layout) {
            view.cells().for_each(drop);
        }
        // Errors are expected: the bytes are arbitrary.
        let _ = fragment.cells(layout);
    }
    let _ = fragment.sparse();
}
