//! Sorting of numbers that exceed memory: sorted runs on disk, merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::PathBuf;

/// Bytes of a run in memory.
const MAX_RUN_BYTES: usize = 64 << 20;

/// Number that an [`ExternalSorter`] can sort.
pub trait SortKey: Ord + Copy {
    /// Size in bytes.
    const BYTES: usize;

    /// Writes the number to [`Self::BYTES`] bytes.
    fn to_bytes(self, out: &mut [u8]);

    /// Reads the number from [`Self::BYTES`] bytes.
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! sort_key {
    ($($type:ty),*) => {$(
        impl SortKey for $type {
            const BYTES: usize = size_of::<$type>();

            fn to_bytes(self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_le_bytes());
            }

            fn from_bytes(bytes: &[u8]) -> Self {
                let mut number = [0; size_of::<$type>()];
                number.copy_from_slice(bytes);
                Self::from_le_bytes(number)
            }
        }
    )*};
}

sort_key!(u64, u128);

/// Folder of temporary files. It is made when the first file is, and removed with the value.
#[derive(Debug)]
pub(crate) struct ScratchFolder(PathBuf);

impl ScratchFolder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn create(&self, name: &str) -> io::Result<(PathBuf, BufWriter<File>)> {
        fs::create_dir_all(&self.0)?;
        let path = self.0.join(name);
        let file = File::create(&path)?;
        Ok((path, BufWriter::with_capacity(1 << 18, file)))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // The caller removes files that remain with those of killed processes.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Sorter of distinct numbers in bounded memory: 64 MiB, and 64 KB for each run of that size.
///
/// ```
/// use lodeseek_rdf::ExternalSorter;
/// let folder = tempfile::tempdir()?;
/// let mut sorter = ExternalSorter::new(folder.path().join("runs")).with_limit(2);
/// for number in [3_u64, 1, 2, 3] {
///     sorter.push(number)?;
/// }
/// assert_eq!(sorter.finish()?.collect::<Result<Vec<_>, _>>()?, [1, 2, 3]);
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ExternalSorter<K> {
    keys: Vec<K>,
    limit: usize,
    folder: ScratchFolder,
    runs: Vec<PathBuf>,
}

impl<K: SortKey> ExternalSorter<K> {
    /// Creates a sorter with a folder for runs, which need not exist. The folder is removed at the end.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self {
            keys: Vec::new(),
            limit: MAX_RUN_BYTES / K::BYTES,
            folder: ScratchFolder::new(folder),
            runs: Vec::new(),
        }
    }

    /// Sets the maximum number of numbers in memory. Default: 64 MiB of them.
    #[must_use]
    pub fn with_limit(self, limit: usize) -> Self {
        Self {
            limit: limit.max(1),
            ..self
        }
    }

    /// Adds a number.
    ///
    /// # Errors
    /// If a run cannot be written.
    pub fn push(&mut self, key: K) -> io::Result<()> {
        if self.keys.len() == self.limit {
            self.sort();
            // Repeated numbers may leave room; sorting again for a few more would take long.
            if self.keys.len() > self.limit / 2 {
                self.write_run()?;
            }
        }
        self.keys.push(key);
        Ok(())
    }

    fn sort(&mut self) {
        self.keys.sort_unstable();
        self.keys.dedup();
    }

    fn write_run(&mut self) -> io::Result<()> {
        let (path, mut out) = self.folder.create(&format!("run-{}", self.runs.len()))?;
        let mut bytes = vec![0; K::BYTES];
        for key in self.keys.drain(..) {
            key.to_bytes(&mut bytes);
            out.write_all(&bytes)?;
        }
        out.flush()?;
        self.runs.push(path);
        Ok(())
    }

    /// Returns all numbers, sorted, each once.
    ///
    /// # Errors
    /// If a run cannot be read.
    pub fn finish(mut self) -> io::Result<SortedKeys<K>> {
        self.sort();
        let mut runs = Vec::with_capacity(self.runs.len());
        let mut heads = BinaryHeap::with_capacity(self.runs.len());
        for (number, path) in self.runs.iter().enumerate() {
            let mut run = Run {
                input: BufReader::with_capacity(1 << 16, File::open(path)?),
                bytes: vec![0; K::BYTES],
            };
            if let Some(key) = run.next_key()? {
                heads.push(Reverse((key, number)));
            }
            runs.push(run);
        }
        let memory = self.keys.into_iter();
        Ok(SortedKeys {
            memory: memory.peekable(),
            runs,
            heads,
            last: None,
            _folder: self.folder,
        })
    }
}

#[derive(Debug)]
struct Run {
    input: BufReader<File>,
    bytes: Vec<u8>,
}

impl Run {
    fn next_key<K: SortKey>(&mut self) -> io::Result<Option<K>> {
        match self.input.read_exact(&mut self.bytes) {
            Ok(()) => Ok(Some(K::from_bytes(&self.bytes))),
            // Runs have whole numbers only, so this is the end.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Iterator over the numbers of an [`ExternalSorter`].
#[derive(Debug)]
pub struct SortedKeys<K: SortKey> {
    memory: std::iter::Peekable<std::vec::IntoIter<K>>,
    runs: Vec<Run>,
    heads: BinaryHeap<Reverse<(K, usize)>>,
    last: Option<K>,
    _folder: ScratchFolder,
}

impl<K: SortKey> SortedKeys<K> {
    fn next_key(&mut self) -> io::Result<Option<K>> {
        let stored = self.heads.peek().map(|Reverse((key, _))| *key);
        let is_in_memory = match (self.memory.peek(), stored) {
            (Some(key), Some(stored)) => *key <= stored,
            (key, _) => key.is_some(),
        };
        if is_in_memory {
            return Ok(self.memory.next());
        }
        let Some(mut top) = self.heads.peek_mut() else {
            return Ok(None);
        };
        let Reverse((key, run)) = *top;
        match self.runs[run].next_key()? {
            Some(next) => *top = Reverse((next, run)),
            None => drop(PeekMut::pop(top)),
        }
        Ok(Some(key))
    }
}

impl<K: SortKey> Iterator for SortedKeys<K> {
    type Item = io::Result<K>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_key() {
                // Numbers are distinct within a run, not between runs.
                Ok(Some(key)) if self.last == Some(key) => {}
                Ok(Some(key)) => {
                    self.last = Some(key);
                    return Some(Ok(key));
                }
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorted_as_in_memory(numbers in proptest::collection::vec(0_u128..50, 0..80), limit in 1_usize..20) {
            let folder = tempfile::tempdir().expect("a folder");
            let runs = folder.path().join("runs");
            let mut sorter = ExternalSorter::new(runs.clone()).with_limit(limit);
            for number in &numbers {
                sorter.push(*number).expect("written");
            }
            let sorted: Vec<u128> = sorter.finish().expect("opened").map(|number| number.expect("read")).collect();
            let expected: Vec<u128> = numbers.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
            prop_assert_eq!(sorted, expected);
            prop_assert!(!runs.exists(), "temporary files remain");
        }
    }
}
