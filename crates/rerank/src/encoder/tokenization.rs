//! Tokenization: tokenizer, markers, separators, prompts and query expansion.

use super::model_config::{Side, Skipped};
use super::{ModelError, Passage};
use rustc_hash::FxHashSet;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;
use tokenizers::{Encoding, Tokenizer, TruncationDirection};

/// Error of the tokenizer.
pub(super) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Input of the network for one text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TokenizedText {
    pub(super) ids: Vec<u32>,
    /// For each token the index of the passage part that contains it.
    pub(super) origins: Vec<Option<usize>>,
    /// Number of tokens before the text, markers included.
    pub(super) prompt: usize,
    /// Number of expansion tokens at the end.
    pub(super) expansion: usize,
    /// If true, the other tokens attend to the expansion.
    pub(super) attended: bool,
}

impl TokenizedText {
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns true if the token at a position is attended to.
    pub(super) fn attention(&self, place: usize) -> bool {
        place < self.len() - self.expansion || self.attended
    }
}

/// Tokenizer of queries or passages, with the token ids of its [`Side`].
pub(super) struct TextTokenizer {
    /// Shared by the queries and the passages of one tower, because a vocabulary may be large.
    tokenizer: Arc<Tokenizer>,
    side: Side,
    lower_case: bool,
    /// Special tokens that the tokenizer adds before and after every text.
    before: Vec<u32>,
    behind: Vec<u32>,
    separator: Option<u32>,
    marker: Option<u32>,
    mask: Option<u32>,
    skipped: FxHashSet<u32>,
}

/// Marker of the beginning of a word in the tokens of SentencePiece.
const WORD_BEGINNING: char = '\u{2581}';

/// Loads the tokenizer of a tower, without truncation and padding.
fn load_tokenizer(tower: &Path) -> Result<Tokenizer, ModelError> {
    let path = tower.join("tokenizer.json");
    let mut tokenizer =
        Tokenizer::from_file(&path).map_err(|cause| ModelError::file(&path, cause))?;
    if tokenizer
        .get_truncation()
        .is_some_and(|truncation| truncation.direction == TruncationDirection::Left)
    {
        return Err(ModelError::file(
            &path,
            "the tokenizer truncates texts on the left, which is not supported",
        ));
    }
    // Truncation and padding of the file may differ from the model's length: all-MiniLM-L6-v2 truncates at 128.
    tokenizer
        .with_truncation(None)
        .map_err(|cause| ModelError::file(&path, cause))?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}

impl TextTokenizer {
    /// Loads the tokenizer of a tower and looks up the special tokens.
    pub(super) fn new(tower: &Path, side: &Side, lower_case: bool) -> Result<Self, ModelError> {
        Self::from_tokenizer(Arc::new(load_tokenizer(tower)?), tower, side, lower_case)
    }

    /// Returns the tokenizer for another side of the same tower.
    pub(super) fn for_side(&self, tower: &Path, side: &Side) -> Result<Self, ModelError> {
        Self::from_tokenizer(Arc::clone(&self.tokenizer), tower, side, self.lower_case)
    }

    /// Returns true if a word is a token of its own. An unknown token is no word.
    pub(super) fn has_word(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let Ok(encoding) = self.tokenizer.encode(word.as_str(), false) else {
            return false;
        };
        match encoding.get_tokens() {
            [token] => token.trim_start_matches(WORD_BEGINNING) == word,
            _ => false,
        }
    }

    fn from_tokenizer(
        tokenizer: Arc<Tokenizer>,
        tower: &Path,
        side: &Side,
        lower_case: bool,
    ) -> Result<Self, ModelError> {
        let path = tower.join("tokenizer.json");
        let (before, behind) =
            special_tokens_around(&tokenizer).map_err(|cause| ModelError::file(&path, cause))?;
        let special = Special::read(tower)?;
        let marker = match &side.marker {
            Some(marker) => Some(find_token(&tokenizer, &marker.token, &path)?),
            None => None,
        };
        let mask = match &side.expansion {
            Some(expansion) => {
                let token = expansion.token.as_deref().unwrap_or(special.filler(tower)?);
                Some(find_token(&tokenizer, token, &path)?)
            }
            None => None,
        };
        let separator = match &special.separator {
            Some(separator) => Some(find_token(&tokenizer, separator, &path)?),
            None => None,
        };
        let skipped = find_skipped_ids(&tokenizer, &side.skipped, &special)
            .map_err(|cause| ModelError::file(&path, cause))?;
        Ok(Self {
            tokenizer,
            side: side.clone(),
            lower_case,
            before,
            behind,
            separator,
            marker,
            mask,
            skipped,
        })
    }

    /// Adds the ids of the special tokens to a digest.
    pub(super) fn digest(&self, digest: &mut Sha256) {
        let mut skipped: Vec<u32> = self.skipped.iter().copied().collect();
        skipped.sort_unstable();
        let around = (
            &self.before,
            &self.behind,
            self.separator,
            self.marker,
            self.mask,
        );
        digest.update(format!("{around:?} {skipped:?}"));
    }

    /// Tokenizes a query.
    pub(super) fn query(&self, text: &str) -> Result<TokenizedText, Cause> {
        let mut pieces = self.with_special_tokens(self.tokenize_part(0, text, true)?);
        if let (Some(expansion), Some(mask)) = (&self.side.expansion, self.mask) {
            pieces.expansion = expansion.length.saturating_sub(pieces.len());
            pieces.attended = expansion.attended;
            let length = pieces.len() + pieces.expansion;
            pieces.ids.resize(length, mask);
            pieces.origins.resize(length, None);
        }
        Ok(pieces)
    }

    /// Tokenizes a passage; `None` if it has no text.
    pub(super) fn passage(&self, passage: Passage<'_>) -> Result<Option<TokenizedText>, Cause> {
        let mut body: Vec<(u32, Option<usize>)> = Vec::new();
        for (number, part) in passage
            .parts
            .iter()
            .enumerate()
            .filter(|(_, part)| !part.trim().is_empty())
        {
            let mut cut = self.tokenize_part(number, part, body.is_empty())?;
            if let Some(most) = passage.pieces_a_part {
                // The prompt does not count as a part of the passage.
                let prompt = cut
                    .iter()
                    .take_while(|(_, origin)| origin.is_none())
                    .count();
                cut.truncate(prompt + most);
            }
            if cut.iter().all(|(_, origin)| origin.is_none()) {
                continue;
            }
            body.extend(
                self.separator
                    .filter(|_| !body.is_empty())
                    .map(|separator| (separator, None)),
            );
            body.append(&mut cut);
        }
        Ok((!body.is_empty()).then(|| self.with_special_tokens(body)))
    }

    /// Tokenizes one part. The prompt and the first part are tokenized as one text.
    fn tokenize_part(
        &self,
        number: usize,
        text: &str,
        first: bool,
    ) -> Result<Vec<(u32, Option<usize>)>, Cause> {
        let prompt = if first {
            self.side.prompt.trim_start()
        } else {
            ""
        };
        let (prompt, text) = if self.lower_case {
            (prompt.to_lowercase(), text.to_lowercase())
        } else {
            (prompt.to_owned(), text.to_owned())
        };
        let whole = format!("{prompt}{text}");
        // Nothing is cut before a prompt, which begins with no space: offsets count from its beginning.
        let encoding = self.tokenizer.encode(whole.trim(), false)?;
        Ok(encoding
            .get_ids()
            .iter()
            .copied()
            .zip(
                encoding
                    .get_offsets()
                    .iter()
                    .map(|&(_, end)| (end > prompt.len()).then_some(number)),
            )
            .collect())
    }

    /// Truncates to the maximum length, and adds special tokens and the marker.
    fn with_special_tokens(&self, mut body: Vec<(u32, Option<usize>)>) -> TokenizedText {
        let around = self.before.len() + self.behind.len() + usize::from(self.marker.is_some());
        body.truncate(self.side.length.saturating_sub(around));
        let [before, behind] =
            [&self.before, &self.behind].map(|ids| ids.iter().map(|&id| (id, None)));
        let mut all: Vec<_> = before.chain(body).chain(behind).collect();
        if let Some(marker) = self.marker {
            // After the first special token, as in ColBERT: `[CLS] [Q] …`.
            all.insert(all.len().min(1), (marker, None));
        }
        let prompt = all
            .iter()
            .take_while(|(_, origin)| origin.is_none())
            .count();
        let (ids, origins) = all.into_iter().unzip();
        TokenizedText {
            ids,
            origins,
            prompt,
            ..TokenizedText::default()
        }
    }

    /// Returns true if the vector of a token is kept.
    pub(super) fn keeps(&self, id: u32) -> bool {
        !self.skipped.contains(&id)
    }

    /// Returns the readable form of a token.
    pub(super) fn name(&self, id: u32) -> String {
        match &self.side.marker {
            Some(marker) if self.marker == Some(id) => marker.shown.clone(),
            _ => self
                .tokenizer
                .id_to_token(id)
                .unwrap_or_else(|| id.to_string()),
        }
    }
}

/// Returns the id of a token that the vocabulary at `path` must contain.
fn find_token(tokenizer: &Tokenizer, name: &str, path: &Path) -> Result<u32, ModelError> {
    tokenizer.token_to_id(name).ok_or_else(|| {
        ModelError::file(path, format!("the token {name:?} is not in the vocabulary"))
    })
}

/// Returns the special tokens that the tokenizer adds before and after a text.
fn special_tokens_around(tokenizer: &Tokenizer) -> Result<(Vec<u32>, Vec<u32>), Cause> {
    let encoding = tokenizer.encode("a", true)?;
    let (ids, special) = (encoding.get_ids(), encoding.get_special_tokens_mask());
    let before = special.iter().take_while(|&&special| special == 1).count();
    let behind = special[before..]
        .iter()
        .rev()
        .take_while(|&&special| special == 1)
        .count();
    Ok((ids[..before].to_vec(), ids[ids.len() - behind..].to_vec()))
}

/// Names of special tokens, from `tokenizer_config.json` or `special_tokens_map.json`.
struct Special {
    separator: Option<String>,
    mask: Option<String>,
    end: Option<String>,
    unknown: Option<String>,
}

impl Special {
    fn read(tower: &Path) -> Result<Self, ModelError> {
        let mut files = Vec::new();
        for name in ["tokenizer_config.json", "special_tokens_map.json"] {
            let path = tower.join(name);
            if path.exists() {
                let text = std::fs::read(&path).map_err(|cause| ModelError::file(&path, cause))?;
                files.push(
                    serde_json::from_slice::<serde_json::Value>(&text)
                        .map_err(|cause| ModelError::file(&path, cause))?,
                );
            }
        }
        Ok(Self {
            separator: find_name(&files, "sep_token"),
            mask: find_name(&files, "mask_token"),
            end: find_name(&files, "eos_token"),
            unknown: find_name(&files, "unk_token"),
        })
    }

    /// Returns the token that expands queries: the mask, or the end-of-text token if there is no mask, as in PyLate.
    fn filler(&self, tower: &Path) -> Result<&str, ModelError> {
        let filler = self.mask.as_deref().or(self.end.as_deref());
        filler.ok_or_else(|| {
            ModelError::folder(
                tower,
                "query expansion needs a mask_token, which the tokenizer does not define",
            )
        })
    }
}

/// Returns the name of a special token in the first file that has it: a text, or the `content` of an object.
fn find_name(files: &[serde_json::Value], key: &str) -> Option<String> {
    files.iter().find_map(|file| {
        let token = &file[key];
        let name = token.as_str().or_else(|| token["content"].as_str())?;
        Some(name.to_owned())
    })
}

fn find_skipped_ids(
    tokenizer: &Tokenizer,
    skipped: &Skipped,
    special: &Special,
) -> Result<FxHashSet<u32>, Cause> {
    Ok(match skipped {
        Skipped::Nothing => FxHashSet::default(),
        Skipped::FirstPieces(texts) => {
            let encodings = texts
                .iter()
                .map(|text| tokenizer.encode(text.as_str(), false))
                .collect::<Result<Vec<Encoding>, _>>()?;
            encodings
                .iter()
                .filter_map(|encoding| encoding.get_ids().first().copied())
                .collect()
        }
        Skipped::Entries(words) => {
            let unknown = special.unknown.as_ref();
            let unknown = unknown.and_then(|word| tokenizer.token_to_id(word));
            words
                .iter()
                .filter_map(|word| tokenizer.token_to_id(word).or(unknown))
                .collect()
        }
        Skipped::KnownEntries(words) => words
            .iter()
            .filter_map(|word| tokenizer.token_to_id(word))
            .collect(),
    })
}

#[cfg(test)]
mod tests;
