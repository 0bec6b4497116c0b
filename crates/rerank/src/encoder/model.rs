//! Model in a folder: tokenizer, network and head as one [`Encoder`].

use super::forward_cache::ForwardCache;
use super::model_config::{Head, ModelConfig, PooledOutput, Step};
use super::options::configured_min_letters;
use super::query_weights::QueryWeights;
use super::runtime::{Batch, Network, PooledOutputs};
use super::tokenization::{Cause, TextTokenizer, TokenizedText};
use super::vectors::{normalize, term_weights};
use super::{
    EncodeError, Encoder, EncoderOptions, Granularity, Matrix, ModelError, Passage, Similarity,
    folder_name, to_hexadecimal,
};
use crate::Query;
use crate::term_weights::{COLUMNS as TERM_COLUMNS, query_terms};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of tokens in a batch. Larger batches exceed the caches of a CPU, but are faster on a GPU.
const MAX_BATCH_TOKENS: usize = 2048;
const MAX_GPU_BATCH_TOKENS: usize = 32_768;
/// Divisor of these numbers for models with one output for each entry of the vocabulary instead of one for each dimension.
const TERMS_BATCH_DIVISOR: usize = 16;

/// Opened model.
pub(super) struct Model {
    name: String,
    fingerprint: String,
    device: String,
    config: ModelConfig,
    query: TextTokenizer,
    document: TextTokenizer,
    /// Weights by which queries are encoded without the network.
    query_weights: Option<QueryWeights>,
    networks: Vec<Arc<Network>>,
    /// Cache shared with the other head of the same network.
    forward_cache: Option<Arc<ForwardCache>>,
    /// Number of columns before the first step of the head; `dimension` is the number after the last step.
    width: usize,
    dimension: usize,
    batches: Batches,
    sessions: usize,
    /// Minimum number of letters and digits of a passage. Shorter ones have no vector.
    min_letters: usize,
}

/// Batching of texts.
#[derive(Clone, Copy, Debug)]
enum Batches {
    /// Batches of at most this number of tokens, padding included.
    UpTo(usize),
    /// One text per batch. Dynamic quantisation derives its scale from all values of a batch, so that the vector of a text
    /// would depend on the other texts.
    Alone,
}

impl Model {
    pub(super) fn open(folder: &Path, options: &EncoderOptions) -> Result<Self, ModelError> {
        Self::open_beside(None, folder, options)
    }

    /// Opens the head for texts and the head for tokens. They share one network if both configurations name the same file.
    pub(super) fn open_both(
        folder: &Path,
        options: &EncoderOptions,
    ) -> Result<[Self; 2], ModelError> {
        let [text_options, piece_options] =
            [Granularity::Text, Granularity::Piece].map(|granularity| EncoderOptions {
                granularity: Some(granularity),
                ..options.clone()
            });
        let mut texts = Self::open(folder, &text_options)?;
        let mut pieces = Self::open_beside(Some(&texts), folder, &piece_options)?;
        if Arc::ptr_eq(&texts.networks[0], &pieces.networks[0]) {
            let forward_cache = Arc::new(ForwardCache::default());
            texts.forward_cache = Some(Arc::clone(&forward_cache));
            pieces.forward_cache = Some(forward_cache);
        }
        Ok([texts, pieces])
    }

    /// Opens a model. It reuses the network of another model if both have one network of the same file and output.
    fn open_beside(
        other: Option<&Self>,
        folder: &Path,
        options: &EncoderOptions,
    ) -> Result<Self, ModelError> {
        let config = ModelConfig::read(folder, options)?;
        let [query_tower, document_tower] =
            [&config.query, &config.document].map(|side| &config.towers[side.tower]);
        let query = TextTokenizer::new(query_tower, &config.query, config.lower_case)?;
        let document = if query_tower == document_tower {
            query.for_side(document_tower, &config.document)?
        } else {
            TextTokenizer::new(document_tower, &config.document, config.lower_case)?
        };
        let graphs = config
            .towers
            .iter()
            .map(|tower| find_graph(tower, options))
            .collect::<Result<Vec<_>, _>>()?;
        let pooled = match config.pooled_output {
            PooledOutput::Never => PooledOutputs::Refused,
            PooledOutput::Serves => PooledOutputs::Allowed,
            PooledOutput::Required => PooledOutputs::Only,
        };
        let networks = match other.and_then(|other| other.network_of(&graphs, &config)) {
            Some(network) => vec![network],
            None => graphs
                .iter()
                .map(|graph| Network::load(graph, options, pooled).map(Arc::new))
                .collect::<Result<Vec<_>, _>>()?,
        };
        let query_weights = config
            .query_weights
            .as_deref()
            .map(QueryWeights::read)
            .transpose()?;
        let width = pooled_width(&config, &networks)?;
        let dimension = output_dimension(&config, width, networks[0].path())?;
        let min_letters = configured_min_letters(folder)?;
        let fingerprint = fingerprint(
            &config,
            &graphs,
            [&query, &document],
            query_weights.as_ref(),
            min_letters,
        )?;
        let batches = choose_batches(
            &graphs,
            options,
            networks[0].on_gpu,
            config.head.granularity(),
        )?;
        Ok(Self {
            name: folder_name(folder),
            fingerprint,
            device: networks[0].device.clone(),
            query,
            document,
            query_weights,
            networks,
            forward_cache: None,
            width,
            dimension,
            batches,
            sessions: options.sessions.max(1),
            min_letters,
            config,
        })
    }

    /// Returns the network, if it is the only one, has the file of `graphs`, and its outputs are used in the same way.
    fn network_of(&self, graphs: &[PathBuf], config: &ModelConfig) -> Option<Arc<Network>> {
        let ([network], [graph]) = (&self.networks[..], graphs) else {
            return None;
        };
        let is_same = network.path().canonicalize().ok()? == graph.canonicalize().ok()?;
        (is_same && config.pooled_output == self.config.pooled_output).then(|| Arc::clone(network))
    }

    /// Returns the number of cached texts.
    #[cfg(test)]
    pub(super) fn cached_passes(&self) -> Option<usize> {
        self.forward_cache.as_ref().map(|cache| cache.len())
    }

    fn error(&self, cause: impl Into<Cause>) -> EncodeError {
        EncodeError {
            model: self.name.clone(),
            cause: cause.into(),
        }
    }

    /// Returns a matrix for each text, in the given order, independent of the batches.
    fn encode(
        &self,
        tower: usize,
        texts: &[Option<TokenizedText>],
        keep: &(dyn Fn(u32) -> bool + Sync),
    ) -> Result<Vec<Matrix>, EncodeError> {
        let job = EncodingJob {
            model: self,
            tower,
            texts,
            groups: self.batches.group(texts),
            next: AtomicUsize::new(0),
            keep,
        };
        let workers = self.sessions.min(job.groups.len());
        let done = std::thread::scope(|scope| {
            let helpers: Vec<_> = (1..workers).map(|_| scope.spawn(|| job.run())).collect();
            let own = job.run();
            let others = helpers.into_iter().map(|helper| {
                helper
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            std::iter::once(own)
                .chain(others)
                .collect::<ort::Result<Vec<_>>>()
        });
        let mut matrices = vec![Matrix::new(self.dimension, Vec::new()); texts.len()];
        for (place, matrix) in done
            .map_err(|cause| self.error(cause.to_string()))?
            .into_iter()
            .flatten()
        {
            matrices[place] = matrix;
        }
        Ok(matrices)
    }

    fn encode_group(
        &self,
        tower: usize,
        texts: &[Option<TokenizedText>],
        group: &[usize],
        keep: &(dyn Fn(u32) -> bool + Sync),
        done: &mut Vec<(usize, Matrix)>,
    ) -> ort::Result<()> {
        let network = &self.networks[tower];
        let mut group: Vec<(usize, &TokenizedText)> = group
            .iter()
            .filter_map(|&place| Some((place, texts[place].as_ref()?)))
            .collect();
        if let Some(cache) = &self.forward_cache {
            group.retain(
                |(place, pieces)| match cache.take(self.granularity(), pieces) {
                    Some(rows) => {
                        done.push((
                            *place,
                            self.finish(self.head(&rows, network.columns, pieces, keep)),
                        ));
                        false
                    }
                    None => true,
                },
            );
        }
        if group.is_empty() {
            return Ok(());
        }
        let batch = build_batch(&group);
        let rows = network.run(&batch)?;
        let each = rows.len() / batch.texts;
        for ((place, pieces), rows) in group.iter().zip(rows.chunks_exact(each)) {
            let matrix = self.finish(if network.is_pooled() {
                Vec::from(rows)
            } else {
                self.head(rows, network.columns, pieces, keep)
            });
            done.push((*place, matrix));
            if let Some(forward_cache) =
                self.forward_cache.as_ref().filter(|_| !network.is_pooled())
            {
                forward_cache.store(
                    self.granularity(),
                    pieces,
                    &rows[..pieces.len() * network.columns],
                );
            }
        }
        Ok(())
    }

    /// Returns the pooled row, or the rows of the tokens that satisfy `keep`.
    fn head(
        &self,
        rows: &[f32],
        columns: usize,
        pieces: &TokenizedText,
        keep: &(dyn Fn(u32) -> bool + Sync),
    ) -> Vec<f32> {
        let rows = &rows[..pieces.len() * columns];
        match &self.config.head {
            Head::Text {
                pooling,
                prompt_counts,
                ..
            } => {
                let counted: Vec<bool> = (0..pieces.len())
                    .map(|place| *prompt_counts || place >= pieces.prompt)
                    .collect();
                pooling
                    .iter()
                    .flat_map(|pooling| pooling.apply(rows, columns, &counted))
                    .collect()
            }
            Head::Tokens { .. } => {
                let kept = rows
                    .chunks_exact(columns)
                    .zip(&pieces.ids)
                    .filter(|(_, id)| keep(**id));
                kept.flat_map(|(row, _)| row.iter().copied()).collect()
            }
            Head::Terms(pooling) => term_weights(rows, columns, *pooling),
        }
    }

    fn finish(&self, mut rows: Vec<f32>) -> Matrix {
        let mut columns = self.width;
        for step in self.config.head.steps() {
            match step {
                Step::Dense(dense) => (rows, columns) = (dense.apply(&rows), dense.rows()),
                Step::Normalize => normalize(&mut rows, columns),
            }
        }
        Matrix::new(self.dimension, rows)
    }

    fn passage(&self, passage: Passage<'_>) -> Result<Option<TokenizedText>, EncodeError> {
        let characters = passage.parts.iter().flat_map(|part| part.chars());
        let letters = characters.filter(|one| one.is_alphanumeric());
        if letters.take(self.min_letters).count() < self.min_letters {
            return Ok(None);
        }
        self.document
            .passage(passage)
            .map_err(|cause| self.error(cause))
    }

    fn query(&self, query: &str) -> Result<TokenizedText, EncodeError> {
        self.query.query(query).map_err(|cause| self.error(cause))
    }
}

impl Encoder for Model {
    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn has_word(&self, word: &str) -> bool {
        self.document.has_word(word)
    }

    fn granularity(&self) -> Granularity {
        self.config.head.granularity()
    }

    fn similarity(&self) -> Similarity {
        self.config.similarity
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn device(&self) -> &str {
        &self.device
    }

    fn encode_queries(&self, queries: &[&str]) -> Result<Vec<Matrix>, EncodeError> {
        if let Some(weights) = &self.query_weights {
            return queries
                .iter()
                .map(|query| weights.encode(query).map_err(|cause| self.error(cause)))
                .collect();
        }
        let pieces = queries
            .iter()
            .map(|query| self.query(query).map(Some))
            .collect::<Result<Vec<_>, _>>()?;
        self.encode(self.config.query.tower, &pieces, &|_| true)
    }

    fn encode_passages(&self, passages: &[Passage<'_>]) -> Result<Vec<Matrix>, EncodeError> {
        let pieces = passages
            .iter()
            .map(|passage| self.passage(*passage))
            .collect::<Result<Vec<_>, _>>()?;
        self.encode(self.config.document.tower, &pieces, &|id| {
            self.document.keeps(id)
        })
    }

    fn origins(&self, passage: Passage<'_>) -> Result<Vec<Option<usize>>, EncodeError> {
        let Some(pieces) = self.passage(passage)? else {
            return Ok(Vec::new());
        };
        Ok(match self.granularity() {
            Granularity::Text => vec![None],
            Granularity::Term => vec![
                None;
                self.encode_passages(&[passage])?
                    .iter()
                    .map(Matrix::rows)
                    .sum()
            ],
            Granularity::Piece => {
                let kept = pieces
                    .ids
                    .iter()
                    .zip(&pieces.origins)
                    .filter(|(id, _)| self.document.keeps(**id));
                kept.map(|(_, origin)| *origin).collect()
            }
        })
    }

    fn query_pieces(&self, query: &str) -> Result<Vec<String>, EncodeError> {
        match self.granularity() {
            Granularity::Text => Ok(vec![query.to_owned()]),
            Granularity::Piece => Ok(self
                .query(query)?
                .ids
                .iter()
                .map(|&id| self.query.name(id))
                .collect()),
            Granularity::Term => {
                let matrix = self.encode_queries(&[query])?.pop().unwrap_or_default();
                Ok(query_terms(&Query::new(&matrix))
                    .into_iter()
                    .map(|(term, _)| self.document.name(term))
                    .collect())
            }
        }
    }
}

/// Texts that several threads encode: each takes the next group of texts until none is left.
struct EncodingJob<'j> {
    model: &'j Model,
    tower: usize,
    texts: &'j [Option<TokenizedText>],
    groups: Vec<Vec<usize>>,
    /// Index of the next group.
    next: AtomicUsize,
    /// Returns true if the vector of a token is kept.
    keep: &'j (dyn Fn(u32) -> bool + Sync),
}

impl EncodingJob<'_> {
    /// Encodes groups until none is left. Returns the matrices of this thread, each with the index of its text.
    fn run(&self) -> ort::Result<Vec<(usize, Matrix)>> {
        let mut done = Vec::new();
        // Each index is taken once, and the results are joined: no other order matters.
        while let Some(group) = self.groups.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            self.model
                .encode_group(self.tower, self.texts, group, self.keep, &mut done)?;
        }
        Ok(done)
    }
}

impl Batches {
    /// Groups the indexes of texts by similar length.
    fn group(self, texts: &[Option<TokenizedText>]) -> Vec<Vec<usize>> {
        let mut places: Vec<(usize, usize)> = texts
            .iter()
            .enumerate()
            .filter_map(|(place, text)| Some((text.as_ref()?.len(), place)))
            .filter(|(length, _)| *length > 0)
            .collect();
        places.sort_unstable();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (length, place) in places {
            match (groups.last_mut(), self) {
                // Lengths ascend, so this text is the longest, to which the others are padded.
                (Some(group), Self::UpTo(most)) if (group.len() + 1) * length <= most => {
                    group.push(place)
                }
                _ => groups.push(vec![place]),
            }
        }
        groups
    }
}

/// Builds a batch of texts padded to the longest. Padding has no attention and no vector.
fn build_batch(group: &[(usize, &TokenizedText)]) -> Batch {
    let width = group
        .iter()
        .map(|(_, pieces)| pieces.len())
        .max()
        .unwrap_or(0);
    let mut batch = Batch {
        texts: group.len(),
        width,
        ids: vec![0; group.len() * width],
        attention: vec![0; group.len() * width],
        types: None,
    };
    for (line, (_, pieces)) in group.iter().enumerate() {
        for (place, &id) in pieces.ids.iter().enumerate() {
            batch.ids[line * width + place] = i64::from(id);
            batch.attention[line * width + place] = i64::from(pieces.attention(place));
        }
    }
    batch
}

/// Default ONNX files, in order of preference: the full network, else the one quantised to eight bits.
const DEFAULT_FILES: [&str; 2] = ["model.onnx", "model_int8.onnx"];

/// Finds the ONNX file of a tower, the requested one or a default one, in the folder or in its folder `onnx`.
pub(super) fn find_graph(tower: &Path, options: &EncoderOptions) -> Result<PathBuf, ModelError> {
    let files = match options.variant.as_deref() {
        Some(file) => vec![file],
        None => DEFAULT_FILES.to_vec(),
    };
    let mut places = files
        .iter()
        .flat_map(|file| [tower.join(file), tower.join("onnx").join(file)]);
    places.find(|path| path.is_file()).ok_or_else(|| {
        let files = files.join(" nor ");
        ModelError::folder(
            tower,
            format!(
                "neither {files} is there, nor in the folder onnx; export the model to ONNX first"
            ),
        )
    })
}

fn choose_batches(
    graphs: &[PathBuf],
    options: &EncoderOptions,
    on_gpu: bool,
    granularity: Granularity,
) -> Result<Batches, ModelError> {
    for graph in graphs {
        let bytes = std::fs::read(graph).map_err(|cause| ModelError::file(graph, cause))?;
        if memchr::memmem::find(&bytes, b"DynamicQuantizeLinear").is_some() {
            return Ok(Batches::Alone);
        }
    }
    let most = if on_gpu {
        MAX_GPU_BATCH_TOKENS
    } else {
        MAX_BATCH_TOKENS
    };
    let most = if granularity == Granularity::Term {
        most / TERMS_BATCH_DIVISOR
    } else {
        most
    };
    Ok(Batches::UpTo(options.tokens_a_batch.unwrap_or(most)))
}

/// Returns the number of columns before the first step: the network's output size times the number of poolings.
fn pooled_width(config: &ModelConfig, networks: &[Arc<Network>]) -> Result<usize, ModelError> {
    let columns = networks[0].columns;
    if let Some(other) = networks.iter().find(|network| network.columns != columns) {
        return Err(ModelError::graph(
            other.path(),
            "the output dimension differs from that of the other network",
        ));
    }
    Ok(match &config.head {
        Head::Text { pooling, .. } => columns * pooling.len(),
        Head::Tokens { .. } => columns,
        Head::Terms(_) => TERM_COLUMNS,
    })
}

/// Returns the number of columns after the last step; an error if the dimensions of the steps do not match.
fn output_dimension(config: &ModelConfig, width: usize, graph: &Path) -> Result<usize, ModelError> {
    config
        .head
        .steps()
        .iter()
        .try_fold(width, |columns, step| match step {
            Step::Normalize => Ok(columns),
            Step::Dense(dense) if dense.columns() == columns => Ok(dense.rows()),
            Step::Dense(dense) => {
                let reason = format!(
                    "the input of a projection has {columns} columns, not {}",
                    dense.columns()
                );
                Err(ModelError::graph(graph, reason))
            }
        })
}

/// Computes a digest of everything that vectors depend on: graphs with external weights, tokenizers with the special tokens
/// named in other files, and the parsed settings. Settings without effect and the location of the folder are excluded.
///
/// It contains the `Debug` form of [`Side`](super::model_config::Side), [`Pooling`](super::vectors::Pooling) and
/// [`Similarity`]. Renaming their fields or variants invalidates all stored vectors.
fn fingerprint(
    config: &ModelConfig,
    graphs: &[PathBuf],
    tokenizers: [&TextTokenizer; 2],
    query_weights: Option<&QueryWeights>,
    min_letters: usize,
) -> Result<String, ModelError> {
    let mut digest = Sha256::new();
    // Vectors of models without this setting keep their fingerprint.
    if min_letters > 0 {
        digest.update(format!("letters {min_letters} "));
    }
    for (graph, tower) in graphs.iter().zip(&config.towers) {
        for path in std::iter::once(graph.clone())
            .chain(find_external_weights(graph)?)
            .chain([tower.join("tokenizer.json")])
        {
            let mut file =
                std::fs::File::open(&path).map_err(|cause| ModelError::file(&path, cause))?;
            let mut content = Sha256::new();
            std::io::copy(&mut file, &mut Digesting(&mut content))
                .map_err(|cause| ModelError::file(&path, cause))?;
            digest.update(content.finalize());
        }
    }
    tokenizers
        .iter()
        .for_each(|tokenizer| tokenizer.digest(&mut digest));
    digest.update(format!(
        "{:?} {:?} {:?} {}",
        config.query, config.document, config.similarity, config.lower_case
    ));
    if let Head::Text {
        pooling,
        prompt_counts,
        ..
    } = &config.head
    {
        digest.update(format!("{pooling:?} {prompt_counts}"));
    }
    for step in config.head.steps() {
        match step {
            Step::Dense(dense) => dense.digest(&mut digest),
            Step::Normalize => digest.update("normalize"),
        }
    }
    if let Head::Terms(pooling) = config.head {
        digest.update(format!("{pooling:?}"));
    }
    if let Some(weights) = query_weights {
        weights.digest(&mut digest);
    }
    Ok(to_hexadecimal(&digest.finalize()))
}

struct Digesting<'d>(&'d mut Sha256);

impl std::io::Write for Digesting<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Protobuf encoding of the key `location` in a tensor's `external_data`, followed by the tag of its value.
const LOCATION: &[u8] = b"\x0a\x08location\x12";
/// Tag of an entry: field number of `external_data` in ONNX's `TensorProto`, and wire type.
const EXTERNAL_DATA_TAG: u8 = 13 << 3 | 2;

/// Returns the files with external weights of a graph. ONNX Runtime has already opened them, and rejects names outside the
/// folder.
fn find_external_weights(graph: &Path) -> Result<BTreeSet<PathBuf>, ModelError> {
    let bytes = std::fs::read(graph).map_err(|cause| ModelError::file(graph, cause))?;
    let folder = graph.parent().unwrap_or(Path::new(""));
    Ok(external_file_names(&bytes)
        .into_iter()
        .map(|name| folder.join(name))
        .collect())
}

/// Returns the file names in a graph's `external_data`.
///
/// This does not need a complete parser: an entry is a key and a value, each with a length prefix. The only other message with
/// this field number and shape is an inner value named `location`. Its type starts with a control character, which no file name
/// does.
fn external_file_names(graph: &[u8]) -> BTreeSet<&str> {
    memchr::memmem::find_iter(graph, LOCATION)
        .filter_map(|place| parse_location(graph, place))
        .collect()
}

/// Returns the file name of the entry whose key begins at `place`. `None`: it is no entry of `external_data`.
fn parse_location(graph: &[u8], place: usize) -> Option<&str> {
    let before = &graph[place.saturating_sub(3)..place];
    // The length of the entry is between its tag and the key: one byte or two.
    let framed = before
        .iter()
        .rev()
        .skip(1)
        .any(|&byte| byte == EXTERNAL_DATA_TAG);
    let (length, rest) = parse_varint(&graph[place + LOCATION.len()..])?;
    let name = std::str::from_utf8(rest.get(..length)?).ok()?;
    (framed && !name.is_empty() && !name.contains(char::is_control)).then_some(name)
}

/// Parses a protobuf varint; returns the number and the remaining bytes.
fn parse_varint(bytes: &[u8]) -> Option<(usize, &[u8])> {
    // Four bytes have 28 bits: no name is that long, and the shifts below cannot overflow.
    let end = bytes.iter().take(4).position(|byte| byte & 0x80 == 0)?;
    let number = bytes[..=end]
        .iter()
        .rev()
        .fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f));
    Some((number, &bytes[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry of a message: key and value behind the field's tag.
    fn entry(tag: u8, key: &str, value: &[u8]) -> Vec<u8> {
        let length = |length: usize| {
            if length < 128 {
                vec![length as u8]
            } else {
                vec![length as u8 | 0x80, (length >> 7) as u8]
            }
        };
        let value = [&[0x12][..], &length(value.len()), value].concat();
        let body = [&[0x0a, key.len() as u8], key.as_bytes(), &value].concat();
        [&[tag][..], &length(body.len()), &body].concat()
    }

    /// Stored vectors are valid only while the fingerprint is unchanged, and it contains these texts.
    #[test]
    fn debug_forms_in_the_fingerprint_are_fixed() {
        use super::super::model_config::{Expansion, Marker, Side, Skipped};
        use super::super::vectors::{Activation, Pooling};
        let side = Side {
            tower: 0,
            prompt: "p".to_owned(),
            marker: Some(Marker {
                token: "t".to_owned(),
                shown: "s".to_owned(),
            }),
            length: 9,
            expansion: Some(Expansion {
                token: None,
                length: 9,
                attended: true,
            }),
            skipped: Skipped::Nothing,
        };
        let expected = "Side { tower: 0, prompt: \"p\", marker: Some(Marker { token: \"t\", shown: \"s\" }), length: 9, \
                        expansion: Some(Expansion { token: None, length: 9, attended: true }), skipped: Nothing }";
        assert_eq!(format!("{side:?}"), expected);
        let words = || vec!["w".to_owned()];
        let skipped = [
            Skipped::FirstPieces(words()),
            Skipped::Entries(words()),
            Skipped::KnownEntries(words()),
        ];
        assert_eq!(
            format!("{skipped:?}"),
            "[FirstPieces([\"w\"]), Entries([\"w\"]), KnownEntries([\"w\"])]"
        );
        assert_eq!(
            format!("{:?}", [Similarity::Dot, Similarity::Cosine]),
            "[Dot, Cosine]"
        );
        use Pooling::{First, Last, Max, Mean, MeanSqrt, WeightedMean};
        let pooling = [First, Max, Mean, MeanSqrt, WeightedMean, Last];
        assert_eq!(
            format!("{pooling:?}"),
            "[First, Max, Mean, MeanSqrt, WeightedMean, Last]"
        );
        let activations = [
            Activation::Identity,
            Activation::Tanh,
            Activation::Relu,
            Activation::Sigmoid,
        ];
        assert_eq!(
            format!("{activations:?}"),
            "[Identity, Tanh, Relu, Sigmoid]"
        );
    }

    #[test]
    fn files_with_weights_are_found_by_name() {
        let long = "w".repeat(200);
        let graph = [
            b"\x08\x07weights of any bytes\xff".to_vec(),
            entry(EXTERNAL_DATA_TAG, "location", b"all weights.bin"),
            entry(EXTERNAL_DATA_TAG, "offset", b"4096"),
            entry(EXTERNAL_DATA_TAG, "location", long.as_bytes()),
            entry(EXTERNAL_DATA_TAG, "location", b"all weights.bin"),
            entry(14 << 3 | 2, "location", b"metadata of the model"),
            entry(EXTERNAL_DATA_TAG, "location", b"\x0a\x02\x08\x01"),
            entry(EXTERNAL_DATA_TAG, "location", b"cut off")[..16].to_vec(),
        ];
        assert_eq!(
            external_file_names(&graph.concat())
                .into_iter()
                .collect::<Vec<_>>(),
            ["all weights.bin", &long]
        );
        assert!(external_file_names(LOCATION).is_empty() && external_file_names(b"").is_empty());
    }
}
