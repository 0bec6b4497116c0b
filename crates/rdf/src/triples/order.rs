//! Sorting of the term table by cached eight-byte keys.
//!
//! IRIs share long prefixes, so comparisons of whole terms would read them from memory again and again. Instead, groups of
//! terms are sorted by eight bytes at a time, which are stored beside the term numbers. The common prefix of a group is
//! skipped. Terms with equal keys form a new group.
//!
//! The algorithm is the string sort of J. L. Bentley and R. Sedgewick, *Fast Algorithms for Sorting and Searching
//! Strings*, SODA 1997, with the key cache of W. Ng and K. Kakehi, *Cache Efficient Radix Sort for String Sorting*, IEICE
//! Transactions 2007.

use super::TermTable;
use std::cmp::Ordering;
use std::ops::Range;

/// Number of bytes of a key.
const KEY_BYTES: usize = 8;
/// Maximum size of a group that is sorted by comparing whole terms.
const MAX_SMALL_GROUP_TERMS: usize = 8;

/// Eight bytes of a term's text and their number. The number is above [`KEY_BYTES`] if the text continues.
#[derive(Clone, Copy)]
struct Key {
    bytes: u64,
    length: u32,
    term: u32,
}

/// Group of terms of one kind with the same bytes before `depth`.
struct Group {
    keys: Range<usize>,
    depth: usize,
}

/// Returns the positions of all terms, sorted by kind, text and suffix.
///
/// Each shared byte is read at most twice. The time is O(bytes + n log n) for `n` terms at each depth where they differ.
pub(super) fn sort_terms(terms: &TermTable) -> Vec<u32> {
    let mut keys = Vec::with_capacity(terms.entries.len());
    for (term, entry) in terms.entries.iter().enumerate() {
        keys.push(Key {
            bytes: entry.kind as u64,
            length: 0,
            term: term as u32,
        });
    }
    keys.sort_unstable_by_key(|key| key.bytes);
    let mut groups = Vec::new();
    each_tie(&keys, |tie| {
        groups.push(Group {
            keys: tie,
            depth: 0,
        })
    });
    // A stack of groups, not recursion: common beginnings of texts may be long.
    while let Some(group) = groups.pop() {
        sort_group(terms, &mut keys, group, &mut groups);
    }
    keys.into_iter().map(|key| key.term).collect()
}

/// Sorts a group by its next key. Terms with equal keys are added to `groups`.
fn sort_group(
    terms: &TermTable,
    keys: &mut [Key],
    Group { keys: range, depth }: Group,
    groups: &mut Vec<Group>,
) {
    let start = range.start;
    let keys = &mut keys[range];
    if keys.len() <= MAX_SMALL_GROUP_TERMS {
        keys.sort_unstable_by(|a, b| compare_terms(terms, *a, *b, depth));
        return;
    }
    let depth = depth + common_prefix_length(terms, keys, depth);
    for key in &mut *keys {
        (key.bytes, key.length) = read_key(&text(terms, key.term)[depth..]);
    }
    // Shorter texts are padded with zeros, so the length decides between equal keys.
    keys.sort_unstable_by_key(|key| (key.bytes, key.length));
    // Sorted after the loop, which borrows the keys.
    let mut same_text = Vec::new();
    each_tie(keys, |tie| {
        if keys[tie.start].length as usize > KEY_BYTES {
            groups.push(Group {
                keys: start + tie.start..start + tie.end,
                depth: depth + KEY_BYTES,
            });
        } else {
            same_text.push(tie);
        }
    });
    for tie in same_text {
        keys[tie].sort_unstable_by(|a, b| suffix(terms, a.term).cmp(suffix(terms, b.term)));
    }
}

/// Calls `call` with each run of two or more equal keys.
fn each_tie(keys: &[Key], mut call: impl FnMut(Range<usize>)) {
    let mut start = 0;
    for tie in keys.chunk_by(|a, b| (a.bytes, a.length) == (b.bytes, b.length)) {
        if tie.len() > 1 {
            call(start..start + tie.len());
        }
        start += tie.len();
    }
}

/// Returns the length of the common prefix of all terms after `depth`.
fn common_prefix_length(terms: &TermTable, keys: &[Key], depth: usize) -> usize {
    let Some((first, others)) = keys.split_first() else {
        return 0;
    };
    let mut common = &text(terms, first.term)[depth..];
    for other in others {
        let other = &text(terms, other.term)[depth..];
        if !other.starts_with(common) {
            let same = common.iter().zip(other).take_while(|(a, b)| a == b).count();
            common = &common[..same];
        }
    }
    common.len()
}

/// Returns the first eight bytes in big-endian order, and the length, limited to [`KEY_BYTES`] + 1.
fn read_key(text: &[u8]) -> (u64, u32) {
    let mut bytes = [0; KEY_BYTES];
    let length = text.len().min(KEY_BYTES);
    bytes[..length].copy_from_slice(&text[..length]);
    (
        u64::from_be_bytes(bytes),
        text.len().min(KEY_BYTES + 1) as u32,
    )
}

fn compare_terms(terms: &TermTable, a: Key, b: Key, depth: usize) -> Ordering {
    let texts = text(terms, a.term)[depth..].cmp(&text(terms, b.term)[depth..]);
    texts.then_with(|| suffix(terms, a.term).cmp(suffix(terms, b.term)))
}

fn text(terms: &TermTable, term: u32) -> &[u8] {
    let entry = terms.entries[term as usize];
    &terms.arena.as_bytes()[entry.start as usize..][..entry.text as usize]
}

fn suffix(terms: &TermTable, term: u32) -> &[u8] {
    let entry = terms.entries[term as usize];
    &terms.arena.as_bytes()[entry.start as usize + entry.text as usize..][..entry.suffix as usize]
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;
    use proptest::prelude::*;

    /// Texts that share prefixes, end with zero bytes and are prefixes of others.
    fn text() -> impl Strategy<Value = String> {
        proptest::collection::vec(
            prop_oneof![
                Just("http://e.org/"),
                Just("a"),
                Just("b"),
                Just("\0"),
                Just("ü")
            ],
            0..5,
        )
        .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn it_is_the_order_of_kind_text_and_suffix(
            all in proptest::collection::vec((0u8..7, text(), "[a-c]{0,2}"), 0..200)
        ) {
            let mut terms = TermTable::default();
            for (kind, text, suffix) in &all {
                terms.push(text, suffix, Kind::from_byte(*kind).expect("below seven"));
            }
            let order = sort_terms(&terms);
            prop_assert!(order.is_sorted_by(|&a, &b| terms.key(a as usize) <= terms.key(b as usize)));
            let mut places = order;
            places.sort_unstable();
            prop_assert!(places.into_iter().eq(0..all.len() as u32));
        }
    }

    /// Each text is a prefix of all later ones, so each forms a group. The groups must not nest on the stack.
    #[test]
    fn beginnings_of_beginnings_do_not_nest() {
        let mut terms = TermTable::default();
        for length in (0..3000).rev() {
            terms.push(&"x".repeat(length), "", Kind::Plain);
        }
        assert!(sort_terms(&terms).into_iter().eq((0..3000).rev()));
    }
}
