//! Index writer.

use super::analysis::TokenWriter;
use super::columns::{OPEN_FIRST, OPEN_LAST};
use super::literals;
use super::names::{name_keys, written_words};
use super::schema::{CoverageFields, FORMAT_VERSION, Fields, NameFields, SketchFields};
use super::table_columns;
use super::verified_directory::VerifiedDirectory;
use super::vocabulary::IndexVocabulary;
use super::{
    Analysis, AnalysisKind, Facts, Feature, IndexError, NumericFacts, Snapshot, commit_metadata,
};
use crate::document::{Field, FieldText, FieldedDocument};
use lodeseek_catalog::{BoundingBox, Day, Period};
use lodeseek_ranking::DatasetId;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tantivy::indexer::NoMergePolicy;
use tantivy::{IndexSettings, TantivyDocument, Term};

/// Memory budget of tantivy's single indexing thread, in bytes: 96 MiB.
const WRITER_MEMORY_BYTES: usize = 96 << 20;
/// Maximum size of the analysed text of a field of a dataset, in bytes: 512 MiB. A long label in many triples would exceed the
/// memory.
const MAX_FIELD_BYTES: usize = 512 << 20;
/// Minimum number of small segments for a merge.
const MIN_MERGED_SEGMENTS: usize = 8;
/// All documents are rewritten if one of so many is deleted or outside of the largest segment.
const MIN_REWRITTEN_SHARE: u64 = 100;
/// Maximum ratio of the size of a merged segment to the total of all smaller ones.
const MAX_MERGED_RATIO: u64 = 4;

/// Dataset ready to be indexed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IndexDocument {
    /// Id of the dataset.
    pub id: DatasetId,
    /// Hash of its content and metadata; see [`document_version`].
    pub version: String,
    /// Analysed fields.
    texts: [String; 8],
    lengths: [u64; 8],
    /// Entries of the column of literals.
    literals: Vec<u64>,
    /// Keys of names.
    #[serde(default)]
    names: Vec<String>,
    /// Words as written.
    #[serde(default)]
    words: Vec<String>,
    facts: Facts,
    features: Vec<Feature>,
    /// Sketches of tables, as JSON. Empty without tables.
    #[serde(default)]
    sketches: String,
    /// Hashes of their values and headers.
    #[serde(default)]
    sketch_hashes: Vec<u64>,
    /// Display data (card) as JSON.
    #[serde(with = "json_text")]
    pub card: Vec<u8>,
    /// Compact document for encoders, as JSON.
    #[serde(with = "json_text")]
    pub compact: Vec<u8>,
}

impl IndexDocument {
    /// Analyses a document. Each distinct value is analysed once and copied for each occurrence.
    #[must_use]
    pub fn new(
        id: DatasetId,
        version: String,
        document: &FieldedDocument,
        analysis: &Analysis,
        card: Vec<u8>,
        compact: Vec<u8>,
    ) -> Self {
        let mut texts: [String; 8] = Default::default();
        let mut lengths = [0; 8];
        let mut literals = Vec::new();
        let id_text = id.to_string();
        let mut writer = TokenWriter::new(analysis);
        // Labels are the names of entities, and most of them are literals, too.
        let mut labels: FxHashMap<&str, AnalyzedText> = FxHashMap::default();
        for field in Field::ALL {
            let field_text = document.field(field);
            let values = analyze_values(field_text, &mut writer, &labels);
            let (text, length) = join_occurrences(field_text, &values, MAX_FIELD_BYTES);
            texts[field.index()] = text;
            lengths[field.index()] = length;
            if field == Field::Literal {
                let places = field_text.occurrences.iter().zip(document.literals());
                literals = places
                    .map(|(&value, place)| literals::encode_entry(values[value as usize].1, *place))
                    .collect();
                labels.clear();
            }
            // In `Field::ALL`, literals follow entities.
            if field == Field::Entity {
                labels = field_text
                    .values
                    .iter()
                    .map(String::as_str)
                    .zip(values)
                    .collect();
            }
        }
        Self {
            id,
            version,
            texts,
            lengths,
            literals,
            names: name_keys([id_text.as_str()]),
            words: written_words(document),
            facts: Facts::default(),
            features: Vec::new(),
            sketches: String::new(),
            sketch_hashes: Vec::new(),
            card,
            compact,
        }
    }

    /// Adds names by which the dataset is found first: titles and alternative names. The id is always one.
    #[must_use]
    pub fn with_names<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        for key in name_keys(names) {
            if !self.names.contains(&key) {
                self.names.push(key);
            }
        }
        self
    }

    /// Sets the facts for filters and facets. Default: none.
    #[must_use]
    pub fn with_facts(self, facts: Facts) -> Self {
        Self { facts, ..self }
    }

    /// Sets the features shared with similar datasets. Default: none.
    #[must_use]
    pub fn with_features(self, features: Vec<Feature>) -> Self {
        Self { features, ..self }
    }

    /// Sets the sketches of its tables, and the hashes by which datasets with common values are found. Default: none.
    #[must_use]
    pub fn with_sketches(self, sketches: String, sketch_hashes: Vec<u64>) -> Self {
        Self {
            sketches,
            sketch_hashes,
            ..self
        }
    }
}

/// Serialization of bytes that are JSON as a text.
mod json_text {
    use serde::{Deserialize, Deserializer, Serializer, ser::Error};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(std::str::from_utf8(bytes).map_err(S::Error::custom)?)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        String::deserialize(deserializer).map(String::into_bytes)
    }
}

/// The tokens of a text, each followed by a space, and their number.
type AnalyzedText = (String, u64);

/// Returns the tokens of each distinct value. `known` contains those of some texts.
fn analyze_values(
    text: &FieldText,
    writer: &mut TokenWriter<'_>,
    known: &FxHashMap<&str, AnalyzedText>,
) -> Vec<AnalyzedText> {
    let mut values = Vec::with_capacity(text.values.len());
    for value in &text.values {
        if let Some(analyzed) = known.get(value.as_str()) {
            values.push(analyzed.clone());
            continue;
        }
        let mut tokens = String::new();
        let count = writer.append(value, &mut tokens);
        values.push((tokens, count));
    }
    values
}

/// Returns the tokens of the first occurrences, in at most `limit` bytes, and their number.
fn join_occurrences(text: &FieldText, values: &[AnalyzedText], limit: usize) -> (String, u64) {
    let bytes: usize = text
        .occurrences
        .iter()
        .map(|&place| values[place as usize].0.len())
        .sum();
    let mut all = String::with_capacity(bytes.min(limit));
    let mut length = 0;
    for &place in &text.occurrences {
        let (tokens, count) = &values[place as usize];
        // Later values are omitted, too: a gap would shift the positions of the tokens behind it, which the column of
        // literals counts.
        if all.len() + tokens.len() > limit {
            break;
        }
        all.push_str(tokens);
        length += count;
    }
    (all, length)
}

/// Returns the version of a dataset's document. It changes with its content, its metadata, the analysis and the format of the
/// index.
#[must_use]
pub fn document_version(analysis: AnalysisKind, content: &str, metadata: &str) -> String {
    use sha2::{Digest, Sha256};
    let revision = analysis.revision();
    let digest = Sha256::digest(format!(
        "{FORMAT_VERSION}\n{analysis}{revision}\n{content}\n{metadata}"
    ));
    digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Index writer. Nothing is visible or durable before [`commit`](Self::commit).
pub struct IndexWriter {
    index: tantivy::Index,
    writer: tantivy::IndexWriter,
    fields: Fields,
    analysis: AnalysisKind,
}

impl IndexWriter {
    /// Opens the index in a folder for writing, or creates it.
    pub fn open(folder: &Path) -> Result<Self, IndexError> {
        fs::create_dir_all(folder)?;
        let directory = VerifiedDirectory::open(folder)?;
        let index = match folder.join("meta.json").exists() {
            true => tantivy::Index::open(directory)?,
            false => tantivy::Index::create(directory, Fields::schema(), IndexSettings::default())?,
        };
        let fields = Fields::from_schema(&index.schema())
            .ok_or_else(|| IndexError::OtherVersion(folder.to_owned()))?;
        Self::new(index, fields)
    }

    /// Creates an index in memory. It exists as long as the writer and its snapshots.
    pub fn in_memory() -> Result<Self, IndexError> {
        let index = tantivy::Index::create_in_ram(Fields::schema());
        let fields = Fields::from_schema(&index.schema())
            .ok_or_else(|| IndexError::OtherVersion(Path::new("memory").into()))?;
        Self::new(index, fields)
    }

    fn new(index: tantivy::Index, fields: Fields) -> Result<Self, IndexError> {
        let writer = lock_writer(&index)?;
        // Segments are merged once, at the end. Earlier merges would compete with indexing.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        // A killed process may have left files of an unfinished commit. This writer would create files of the same names.
        writer.garbage_collect_files().wait()?;
        let analysis = commit_metadata::analysis_of(&index)?;
        Ok(Self {
            index,
            writer,
            fields,
            analysis,
        })
    }

    /// Returns the analysis recorded with the last commit, or that of [`with_analysis`](Self::with_analysis).
    #[must_use]
    pub fn analysis(&self) -> AnalysisKind {
        self.analysis
    }

    /// Sets another analysis, which is recorded with the next commit. Documents with another analysis remain until they
    /// are replaced; their [version](document_version) identifies them.
    #[must_use]
    pub fn with_analysis(self, analysis: AnalysisKind) -> Self {
        Self { analysis, ..self }
    }

    /// Returns the last commit.
    pub fn snapshot(&self) -> Result<Snapshot, IndexError> {
        let searcher = self.index.reader()?.searcher();
        let vocabulary = IndexVocabulary::new(searcher.clone(), self.fields.clone());
        let analysis = Analysis::new(commit_metadata::analysis_of(&self.index)?)
            .with_vocabulary(Arc::new(vocabulary));
        Snapshot::new(searcher, self.fields.clone(), analysis)
    }

    /// Adds a document, or replaces the one with the same id.
    pub fn put(&mut self, document: IndexDocument) -> Result<(), IndexError> {
        // tantivy cannot replace: this deletes the documents that were added before.
        self.remove(&document.id);
        let mut out = TantivyDocument::default();
        out.add_text(self.fields.id, document.id.as_str());
        out.add_text(self.fields.version, &document.version);
        out.add_bytes(self.fields.card, &document.card);
        out.add_bytes(self.fields.compact, &document.compact);
        add_facts(&mut out, &self.fields, &document.facts);
        for feature in &document.features {
            out.add_text(self.fields.features, feature.key());
        }
        if let Some(SketchFields { sketches, hashes }) = self.fields.sketches
            && !document.sketches.is_empty()
        {
            out.add_bytes(sketches, document.sketches.as_bytes());
            for hash in document.sketch_hashes {
                out.add_u64(hashes, hash);
            }
        }
        if let Some(literals) = self.fields.literals {
            for entry in document.literals {
                out.add_u64(literals, entry);
            }
        }
        if let Some(NameFields { names, words }) = self.fields.names {
            for name in document.names {
                out.add_text(names, name);
            }
            for word in document.words {
                out.add_text(words, word);
            }
        }
        for (field, text) in Field::ALL.into_iter().zip(document.texts) {
            out.add_u64(self.fields.length(field), document.lengths[field.index()]);
            out.add_text(self.fields.text(field), text);
        }
        self.writer.add_document(out)?;
        Ok(())
    }

    /// Removes a document.
    pub fn remove(&mut self, id: &DatasetId) {
        self.writer
            .delete_term(Term::from_field_text(self.fields.id, id.as_str()));
    }

    /// Makes all changes since the last commit visible and durable.
    pub fn commit(&mut self) -> Result<(), IndexError> {
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&commit_metadata::payload(self.analysis));
        commit.commit()?;
        Ok(())
    }

    /// Merges small segments if there are at least eight, and removes unused files. Use it after changes of few
    /// documents, which must not cost a rewrite of all others.
    pub fn merge_segments(mut self) -> Result<(), IndexError> {
        let mut segments = self.index.searchable_segment_metas()?;
        segments.sort_by_key(|segment| segment.num_docs());
        let small = count_small(
            &segments
                .iter()
                .map(|segment| u64::from(segment.num_docs()))
                .collect::<Vec<_>>(),
        );
        if small >= MIN_MERGED_SEGMENTS {
            let ids: Vec<_> = segments[..small]
                .iter()
                .map(tantivy::SegmentMeta::id)
                .collect();
            self.writer.merge(&ids).wait()?;
        }
        self.writer.garbage_collect_files().wait()?;
        self.writer.wait_merging_threads()?;
        Ok(())
    }

    /// Merges all segments into one and removes unused files. Few changed documents are merged as by [`Self::merge_segments`].
    ///
    /// Frequencies of words include deleted documents until a merge. For so few, the difference is not worth the rewriting of all others.
    pub fn finish(mut self) -> Result<(), IndexError> {
        let [mut total, mut largest, mut deleted] = [0, 0, 0];
        for segment in self.index.searchable_segment_metas()? {
            let documents = u64::from(segment.num_docs());
            total += documents;
            largest = largest.max(documents);
            deleted += u64::from(segment.num_deleted_docs());
        }
        let changed = total - largest + deleted;
        if changed < total / MIN_REWRITTEN_SHARE {
            return self.merge_segments();
        }
        let segments = self.index.searchable_segment_ids()?;
        if changed > 0 {
            self.writer.merge(&segments).wait()?;
        }
        self.writer.garbage_collect_files().wait()?;
        self.writer.wait_merging_threads()?;
        Ok(())
    }
}

/// Locks the index for writing. A process that this program starts holds its locks between fork and exec, so a busy lock is
/// tried again for a fifth of a second.
fn lock_writer(index: &tantivy::Index) -> Result<tantivy::IndexWriter, IndexError> {
    for _ in 0..10 {
        match index.writer_with_num_threads(1, WRITER_MEMORY_BYTES) {
            Err(tantivy::TantivyError::LockFailure(..)) => thread::sleep(Duration::from_millis(20)),
            other => return Ok(other?),
        }
    }
    Ok(index.writer_with_num_threads(1, WRITER_MEMORY_BYTES)?)
}

/// Returns the number of small segments among ascending sizes. A size is small if it is not much larger than all
/// smaller ones together.
fn count_small(sizes: &[u64]) -> usize {
    let mut sum = 0;
    for (place, &size) in sizes.iter().enumerate() {
        if sum > 0 && size > MAX_MERGED_RATIO * sum {
            return place;
        }
        sum += size;
    }
    sizes.len()
}

fn add_facts(
    out: &mut TantivyDocument,
    fields: &Fields,
    Facts {
        numbers,
        values,
        place,
        period,
        columns,
    }: &Facts,
) {
    if let Some(field) = fields.table_columns {
        for term in columns.iter().filter_map(table_columns::term) {
            out.add_text(field, term);
        }
    }
    if let Some(coverage) = &fields.coverage {
        add_coverage(out, coverage, *place, *period);
    }
    let NumericFacts {
        year,
        uses,
        variants,
    } = numbers;
    if let Some(year) = year {
        out.add_i64(fields.year, i64::from(*year));
    }
    if let Some(uses) = uses {
        out.add_u64(fields.uses, *uses);
    }
    out.add_u64(fields.variants, *variants);
    for (facet, value) in values {
        if let Some(field) = fields.facet(*facet) {
            out.add_text(field, value);
        }
    }
}

fn add_coverage(
    out: &mut TantivyDocument,
    fields: &CoverageFields,
    place: Option<BoundingBox>,
    period: Option<Period>,
) {
    if let Some(place) = place {
        for (field, edge) in fields.place.into_iter().zip(place.microdegrees()) {
            out.add_i64(field, i64::from(edge));
        }
    }
    if let Some(period) = period {
        let [first, last] = fields.period;
        out.add_i64(first, day_number(period.first(), OPEN_FIRST));
        out.add_i64(last, day_number(period.last(), OPEN_LAST));
    }
}

/// Returns the number of a day in its column; `open` if it is unknown.
fn day_number(day: Option<Day>, open: i64) -> i64 {
    match day {
        Some(day) => i64::from(day.number()),
        None => open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_field_is_limited() {
        let text = FieldText {
            values: vec![String::new(), String::new()],
            occurrences: vec![0, 1, 0, 1],
        };
        let values = [("red oak ".to_owned(), 2), ("fir ".to_owned(), 1)];
        assert_eq!(
            join_occurrences(&text, &values, 24),
            ("red oak fir red oak fir ".to_owned(), 6)
        );
        assert_eq!(
            join_occurrences(&text, &values, 23),
            ("red oak fir red oak ".to_owned(), 5)
        );
        assert_eq!(join_occurrences(&text, &values, 7), (String::new(), 0));
    }

    fn document(name: &str) -> IndexDocument {
        let id = DatasetId::new(name).expect("an id");
        let fields = FieldedDocument::default().with(Field::Title, [name]);
        IndexDocument::new(
            id,
            name.to_owned(),
            &fields,
            &Analysis::default(),
            b"{}".to_vec(),
            b"{}".to_vec(),
        )
    }

    #[test]
    fn files_of_an_unfinished_commit_do_not_prevent_the_next_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = IndexWriter::open(folder.path()).expect("opened");
        for name in ["one", "two"] {
            writer.put(document(name)).expect("added");
        }
        writer.commit().expect("committed");
        let segment = writer.index.searchable_segment_ids().expect("segments")[0].uuid_string();
        drop(writer);
        // The names of deletions that a killed process wrote before it could record them.
        let list = folder.path().join(".managed.json");
        let mut managed: Vec<String> =
            serde_json::from_slice(&fs::read(&list).expect("read")).expect("names");
        for stamp in 0..20 {
            let name = format!("{segment}.{stamp}.del");
            fs::write(folder.path().join(&name), b"unfinished").expect("written");
            managed.push(name);
        }
        fs::write(&list, serde_json::to_vec(&managed).expect("JSON")).expect("written");
        let mut writer = IndexWriter::open(folder.path()).expect("opened");
        writer.put(document("one")).expect("added");
        writer.commit().expect("committed");
        assert_eq!(writer.snapshot().expect("a snapshot").len(), 2);
    }
}
