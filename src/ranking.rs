//! Ranking of a home: the preset, the models, and their record beside the index, so that every command ranks alike.
//!
//! Precedence: flags, variables, `lodeseek.toml`, the record of the flags that `index` was run with, default.

use super::config::Config;
pub(crate) use super::config::{FusionSettings, RerankSettings};
use super::encoder::FusionChoice;
use super::provenance;
use anyhow::{Context, bail};
use lodeseek_cli::config::is_path;
use lodeseek_cli::encoder::{
    EncoderArguments, Execution, MULTILINGUAL_MODEL, SHIPPED_MODEL, encoder_options,
};
use lodeseek_cli::ranking_record::{RANKING_RECORD, read_ranking_record};
use lodeseek_cli::streams::messages;
use lodeseek_engine::{
    CrossEncoding, EncodingOptions, create_vectors, has_vectors, vectors_folder,
};
use lodeseek_index::vectors::{self, Precision};
use lodeseek_rerank::encoder::{
    EncoderOptions, ModelError, configured_min_similarity, open, open_both, open_cross_encoder,
};
use lodeseek_rerank::{Encoder, Granularity};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// A way to rank, with good settings for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Preset {
    /// One ranking model, by default fielded BM25.
    Words,
    /// FSDM and BM25, fused.
    Balanced,
    /// FSDM, BM25 and the vectors of models, fused.
    #[default]
    Best,
}

impl Preset {
    fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Balanced => "balanced",
            Self::Best => "best",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Error for an unknown preset.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownPreset(String);

impl fmt::Display for UnknownPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown ranking {:?}; supported: words, balanced, best",
            self.0
        )
    }
}

impl std::error::Error for UnknownPreset {}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        let preset = [Self::Words, Self::Balanced, Self::Best]
            .into_iter()
            .find(|preset| preset.name() == name);
        preset.ok_or_else(|| UnknownPreset(name.to_owned()))
    }
}

/// Flags that `index` was run with. Other commands use them as defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Record {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ranking: Option<Preset>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dpr: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) colbert: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sparse: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pooling: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) onnx: Option<String>,
}

/// Reads the record of a home, empty if there is none.
///
/// # Errors
/// If it cannot be read or parsed.
pub(crate) fn read_record(home: &Path) -> anyhow::Result<Record> {
    read_ranking_record(home)
}

/// Origin of a choice, in ascending order of precedence.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Origin {
    Default,
    /// Recorded with the index.
    Index,
    /// Variable or line of the configuration file.
    Setting(String),
    /// The flags.
    Flag(String),
}

impl Origin {
    /// Returns the origin of the value of a key.
    fn of_setting(config: &Config, key: &str) -> Self {
        Self::Setting(format!("{}, `{key}`", config.place(key)))
    }

    /// Returns the precedence.
    fn level(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::Index => 1,
            Self::Setting(_) => 2,
            Self::Flag(_) => 3,
        }
    }

    /// Returns the text of an explicit choice.
    fn explicit(&self) -> Option<&str> {
        match self {
            Self::Default | Self::Index => None,
            Self::Setting(place) | Self::Flag(place) => Some(place),
        }
    }

    /// Returns true if `index` records the choice in the home. Settings and defaults may change later.
    fn is_recorded(&self) -> bool {
        matches!(self, Self::Flag(_) | Self::Index)
    }
}

/// Returns the name of a model, or the absolute path of one in a folder: other commands may run elsewhere.
fn absolute_model(model: String) -> anyhow::Result<String> {
    if !is_path(&model) && !Path::new(&model).is_dir() {
        return Ok(model);
    }
    let path = Path::new(&model)
        .canonicalize()
        .with_context(|| format!("cannot find the model {model}"))?;
    Ok(path.to_string_lossy().into_owned())
}

/// Models of a home, by name or path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Models {
    dpr: Option<String>,
    colbert: Option<String>,
    sparse: Option<String>,
    /// Pooling of the model with one vector per text, if its folder does not state it.
    pooling: Option<String>,
}

impl Models {
    /// Returns true if a model is named.
    fn is_any(&self) -> bool {
        self.dpr.is_some() || self.colbert.is_some() || self.sparse.is_some()
    }

    /// Returns the model that a key of the configuration names, or `None` if the key names no model of these.
    fn by_key(&self, key: &str) -> Option<&Option<String>> {
        match key {
            "encoders.dpr" => Some(&self.dpr),
            "encoders.colbert" => Some(&self.colbert),
            "encoders.sparse" => Some(&self.sparse),
            _ => None,
        }
    }
}

/// The chosen preset and models.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    preset: Preset,
    preset_origin: Origin,
    models: Models,
    models_origin: Origin,
    cross_encoder: Option<String>,
    cross_encoder_deadline: Option<u64>,
    fusion: FusionSettings,
    rerank: RerankSettings,
    onnx: Option<String>,
    onnx_origin: Origin,
    /// If true, the home has vectors of the multilingual model.
    has_multilingual_vectors: bool,
    pub(crate) execution: Execution,
}

impl Choice {
    /// Chooses the ranking of a home by flags, configuration, and record.
    ///
    /// # Errors
    /// If the flags contradict each other, or the record cannot be read.
    pub(crate) fn new(
        home: &Path,
        config: &Config,
        encoders: Option<&EncoderArguments>,
        preset: Option<Preset>,
    ) -> anyhow::Result<Self> {
        let record = read_record(home)?;
        let settings = &config.settings;
        let flags = encoders.cloned().unwrap_or_default();
        if let Some(preset) = preset.filter(|preset| *preset != Preset::Best && flags.is_any()) {
            bail!(
                "--ranking {preset} uses no models: remove --dpr, --colbert and --sparse, or use --ranking best"
            );
        }
        let set = &settings.encoders;
        let of_flags = Models {
            dpr: flags.dpr.clone(),
            colbert: flags.colbert.clone(),
            sparse: flags.sparse.clone(),
            pooling: flags.pooling.clone(),
        };
        let of_settings = Models {
            dpr: set.dpr.clone(),
            colbert: set.colbert.clone(),
            sparse: set.sparse.clone(),
            pooling: flags.pooling.clone().or(set.pooling.clone()),
        };
        let of_record = Models {
            dpr: record.dpr.clone(),
            colbert: record.colbert.clone(),
            sparse: record.sparse.clone(),
            pooling: flags.pooling.clone().or(record.pooling.clone()),
        };
        let (models, models_origin) = if of_flags.is_any() {
            (of_flags, Origin::Flag(flags.text()))
        } else if of_settings.is_any() {
            let keys = [
                ("encoders.dpr", &set.dpr),
                ("encoders.colbert", &set.colbert),
                ("encoders.sparse", &set.sparse),
            ];
            let key = match keys.into_iter().find(|(_, model)| model.is_some()) {
                Some((key, _)) => key,
                None => "encoders.dpr",
            };
            (of_settings, Origin::of_setting(config, key))
        } else if of_record.is_any() {
            (of_record, Origin::Index)
        } else {
            let pooling = flags.pooling.clone();
            (
                Models {
                    dpr: Some(SHIPPED_MODEL.to_owned()),
                    colbert: Some(SHIPPED_MODEL.to_owned()),
                    pooling,
                    ..Models::default()
                },
                Origin::Default,
            )
        };
        let (mut chosen, mut preset_origin) = match (preset, settings.ranking, record.ranking) {
            (Some(preset), ..) => (preset, Origin::Flag(format!("--ranking {preset}"))),
            (None, Some(preset), _) => (preset, Origin::of_setting(config, "ranking")),
            (None, None, Some(preset)) => (preset, Origin::Index),
            (None, None, None) => (Preset::default(), Origin::Default),
        };
        // Only this preset uses models, and these were named with more precedence than the other preset.
        if models_origin.level() > preset_origin.level() {
            (chosen, preset_origin) = (Preset::Best, models_origin.clone());
        }
        let (onnx, onnx_origin) = match (flags.onnx.clone(), set.onnx.clone()) {
            (Some(file), _) => (Some(file.clone()), Origin::Flag(format!("--onnx {file}"))),
            (None, Some(file)) => (Some(file), Origin::of_setting(config, "encoders.onnx")),
            // The recorded file belongs to the recorded models.
            (None, None) if models_origin == Origin::Index => (record.onnx, Origin::Index),
            (None, None) => (None, Origin::Default),
        };
        let execution = flags.execution(set, settings.models.as_deref());
        Ok(Self {
            preset: chosen,
            preset_origin,
            models,
            models_origin,
            cross_encoder: set.cross_encoder.clone(),
            cross_encoder_deadline: set.cross_encoder_deadline,
            fusion: settings.fusion.clone(),
            rerank: settings.rerank.clone(),
            onnx,
            onnx_origin,
            has_multilingual_vectors: has_vectors_of(home, MULTILINGUAL_MODEL)?,
            execution,
        })
    }

    /// Chooses one ranking model and no vectors.
    #[must_use]
    pub(crate) fn without_models(self) -> Self {
        Self {
            preset: Preset::Words,
            ..self
        }
    }

    /// Chooses only the model with one vector per text.
    #[must_use]
    pub(crate) fn with_text_model_only(self) -> Self {
        let models = Models {
            colbert: None,
            sparse: None,
            ..self.models
        };
        Self {
            models,
            has_multilingual_vectors: false,
            ..self
        }
    }

    /// Ignores the fusion of the configuration.
    #[must_use]
    pub(crate) fn without_fusion_settings(self) -> Self {
        Self {
            fusion: FusionSettings::default(),
            cross_encoder: None,
            ..self
        }
    }

    /// Returns the fusion of the configuration. It belongs to the models of the home: it is ignored if a flag names others.
    pub(crate) fn fusion(&self) -> FusionSettings {
        let is_of_home =
            self.preset == Preset::Best && !matches!(self.models_origin, Origin::Flag(_));
        if is_of_home {
            self.fusion.clone()
        } else {
            FusionSettings::default()
        }
    }

    /// Returns the configured fusion method, for presets with and without models. It is ignored if a flag names other models.
    pub(crate) fn fusion_method(&self) -> Option<FusionChoice> {
        match self.models_origin {
            Origin::Flag(_) => None,
            _ => self.fusion.method,
        }
    }

    /// Returns the configured candidates and scores of re-ranking.
    pub(crate) fn rerank_settings(&self) -> &RerankSettings {
        &self.rerank
    }

    pub(crate) fn preset(&self) -> Preset {
        self.preset
    }

    /// Returns the models with their granularities: DPR, ColBERT, sparse. Empty for presets without models.
    fn models(&self) -> Vec<(&str, Granularity)> {
        if self.preset != Preset::Best {
            return Vec::new();
        }
        let Models {
            dpr,
            colbert,
            sparse,
            ..
        } = &self.models;
        let models = [
            (dpr, Granularity::Text),
            (colbert, Granularity::Piece),
            (sparse, Granularity::Term),
        ];
        models
            .into_iter()
            .filter_map(|(model, granularity)| Some((model.as_deref()?, granularity)))
            .collect()
    }

    /// Returns the granularities of the models: DPR, ColBERT, sparse. Empty for presets without models.
    pub(crate) fn granularities(&self) -> Vec<Granularity> {
        self.models()
            .into_iter()
            .map(|(_, granularity)| granularity)
            .collect()
    }

    /// Returns the effective value of a key of the configuration that the record of the index sets. `None` if another place sets
    /// it, or the record has no such value.
    pub(crate) fn recorded_value(&self, key: &str) -> Option<String> {
        let has_recorded_models = self.models_origin == Origin::Index;
        match key {
            "ranking" if self.preset_origin == Origin::Index => Some(self.preset.to_string()),
            "encoders.onnx" if self.onnx_origin == Origin::Index => self.onnx.clone(),
            "encoders.pooling" if has_recorded_models => self.models.pooling.clone(),
            _ if has_recorded_models => self.models.by_key(key)?.clone(),
            _ => None,
        }
    }

    /// Returns true if a key is that of a model that is not used, because settings or the record name other models alone.
    pub(crate) fn excludes_model(&self, key: &str) -> bool {
        self.models_origin != Origin::Default && self.models.by_key(key) == Some(&None)
    }

    /// Returns the text of the explicit choice of models, or `None` if it is that of the index or the default.
    fn explicit(&self) -> Option<&str> {
        self.models_origin
            .explicit()
            .or_else(|| self.preset_origin.explicit())
    }

    /// Returns the record after `index`: choices by flags, and kept ones.
    fn record(&self) -> anyhow::Result<Record> {
        let models = if self.models_origin.is_recorded() {
            self.models.clone()
        } else {
            Models::default()
        };
        Ok(Record {
            ranking: Some(self.preset).filter(|_| self.preset_origin.is_recorded()),
            dpr: models.dpr.map(absolute_model).transpose()?,
            colbert: models.colbert.map(absolute_model).transpose()?,
            sparse: models.sparse.map(absolute_model).transpose()?,
            pooling: models.pooling,
            onnx: self.onnx.clone().filter(|_| self.onnx_origin.is_recorded()),
        })
    }

    /// Records the choice in a home, for all other commands.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub(crate) fn write_record(&self, home: &Path) -> anyhow::Result<()> {
        let record = self.record()?;
        if record == read_record(home)? {
            return Ok(());
        }
        super::provenance::write(&home.join(RANKING_RECORD), &serde_json::to_value(record)?)
    }

    /// Opens the models, DPR first. `threads` is the default number of threads of one run. If models that nobody named cannot
    /// be opened, the result is empty with a message. The multilingual model is opened if the home has vectors of it.
    ///
    /// # Errors
    /// If a model that was named cannot be opened, or a model is broken.
    pub(crate) fn open(&self, threads: Option<NonZeroUsize>) -> anyhow::Result<Opened> {
        let encoders = match self.try_open(threads) {
            Ok(encoders) => encoders,
            Err(error) if self.explicit().is_some() => return Err(error),
            Err(error) => {
                let missing = Some(missing_model_reason(error)?);
                return Ok(Opened {
                    missing,
                    ..Opened::default()
                });
            }
        };
        let mut opened = Opened {
            encoders,
            ..Opened::default()
        };
        if self.has_multilingual_vectors {
            (opened.multilingual, opened.missing) = self.open_multilingual(threads)?;
        }
        Ok(opened)
    }

    /// Returns true if the multilingual model may take part: the models are the default ones.
    pub(crate) fn allows_multilingual(&self) -> bool {
        self.preset == Preset::Best && self.models_origin == Origin::Default
    }

    /// Opens the multilingual model, or returns the reason why it is missing. `None` twice if other models than the default ones are
    /// used.
    ///
    /// # Errors
    /// If the model is broken.
    pub(crate) fn open_multilingual(
        &self,
        threads: Option<NonZeroUsize>,
    ) -> anyhow::Result<(Option<MultilingualEncoder>, Option<String>)> {
        if !self.allows_multilingual() {
            return Ok((None, None));
        }
        let folder = match self.execution.folder(MULTILINGUAL_MODEL) {
            Ok(folder) => folder,
            Err(error) => return Ok((None, Some(format!("{error:#}")))),
        };
        let min_similarity = configured_min_similarity(&folder, Granularity::Text)?;
        let options = self.options(Some(Granularity::Text), threads);
        match open(&folder, &options) {
            Ok(encoder) => Ok((
                Some(MultilingualEncoder {
                    encoder,
                    min_similarity,
                }),
                None,
            )),
            Err(error) => Ok((None, Some(missing_model_reason(error.into())?))),
        }
    }

    fn try_open(&self, threads: Option<NonZeroUsize>) -> anyhow::Result<Vec<Box<dyn Encoder>>> {
        let folders = self.folders()?;
        let mut encoders = Vec::new();
        let mut rest = &folders[..];
        if let [
            (dpr, Granularity::Text),
            (colbert, Granularity::Piece),
            others @ ..,
        ] = rest
            && provenance::is_same_file(dpr, colbert)
        {
            // A model in both roles is loaded once, and makes both kinds of vectors in one pass.
            let both = open_both(dpr, &self.options(None, threads))?;
            tracing::debug!(
                model = both[0].name(),
                device = both[0].device(),
                "model opened for both"
            );
            encoders.extend(both);
            rest = others;
        }
        for &(ref folder, granularity) in rest {
            let encoder = open(folder, &self.options(Some(granularity), threads))?;
            tracing::debug!(
                model = encoder.name(),
                device = encoder.device(),
                "model opened"
            );
            encoders.push(encoder);
        }
        Ok(encoders)
    }

    fn folders(&self) -> anyhow::Result<Vec<(PathBuf, Granularity)>> {
        self.models()
            .into_iter()
            .map(|(model, granularity)| match self.execution.folder(model) {
                Ok(folder) => Ok((folder, granularity)),
                Err(error) => Err(anyhow::Error::new(MissingModel(format!("{error:#}")))),
            })
            .collect()
    }

    fn options(
        &self,
        granularity: Option<Granularity>,
        threads: Option<NonZeroUsize>,
    ) -> EncoderOptions {
        let pooling = self.models.pooling.clone();
        encoder_options(
            &self.execution,
            self.onnx.clone(),
            granularity,
            pooling,
            threads,
        )
    }

    /// Opens the cross-encoder of an argument, else of the configuration, for presets with models.
    ///
    /// # Errors
    /// If it cannot be found or opened.
    pub(crate) fn open_cross_encoder(
        &self,
        model: Option<&str>,
        deadline: Option<u64>,
    ) -> anyhow::Result<Option<CrossEncoding>> {
        let configured = self
            .cross_encoder
            .as_deref()
            .filter(|_| self.preset == Preset::Best);
        let Some(model) = model.or(configured) else {
            return Ok(None);
        };
        let options = encoder_options(&self.execution, None, None, None, Some(NonZeroUsize::MIN));
        let mut stage = CrossEncoding::new(open_cross_encoder(
            &self.execution.folder(model)?,
            &options,
        )?);
        if let Some(deadline) = deadline.or(self.cross_encoder_deadline) {
            stage.deadline = Duration::from_millis(deadline);
        }
        Ok(Some(stage))
    }

    /// Returns the minimum similarities that the folders of the models declare. The list is empty if a model by text or token declares
    /// none. It has `None` for a model by term that declares none: any common term gives a score, which alone makes no match.
    ///
    /// # Errors
    /// If a declaration is not valid.
    pub(crate) fn declared_min_similarities(&self) -> anyhow::Result<Vec<Option<f64>>> {
        let mut declared = Vec::new();
        for (folder, granularity) in self.folders()? {
            let similarity = configured_min_similarity(&folder, granularity)?;
            if similarity.is_none() && granularity != Granularity::Term {
                return Ok(Vec::new());
            }
            declared.push(similarity);
        }
        Ok(declared)
    }

    /// Opens the models whose vectors a home has. If vectors of models that nobody named are missing, the result is empty with
    /// a message.
    ///
    /// # Errors
    /// If the home has no vectors of a model that was named, or a model cannot be opened.
    pub(crate) fn open_for(&self, home: &Path) -> anyhow::Result<Opened> {
        let mut opened = self.open(Some(NonZeroUsize::MIN))?;
        if let Some(multilingual) = &opened.multilingual
            && !has_vectors(home, multilingual.encoder.as_ref())?
        {
            opened.multilingual = None;
            opened.missing = Some(missing_vectors(MULTILINGUAL_MODEL));
        }
        for encoder in &opened.encoders {
            if has_vectors(home, encoder.as_ref())? {
                continue;
            }
            if let Some(explicit) = self.explicit() {
                bail!(
                    "{}",
                    describe_contradiction(
                        home,
                        explicit,
                        encoder.name(),
                        matches!(self.models_origin, Origin::Flag(_))
                    )?
                );
            }
            return Ok(Opened {
                missing: Some(missing_vectors(encoder.name())),
                ..Opened::default()
            });
        }
        Ok(opened)
    }

    /// Opens the models for a server that makes vectors itself. Missing vectors are created empty.
    ///
    /// # Errors
    /// If a model that was named cannot be opened, or vectors cannot be written.
    pub(crate) fn open_and_create(
        &self,
        home: &Path,
        precision: Option<Precision>,
    ) -> anyhow::Result<Opened> {
        let opened = self.open(Some(NonZeroUsize::MIN))?;
        for encoder in opened.all() {
            if !has_vectors(home, encoder)? {
                let options = EncodingOptions {
                    precision: precision.unwrap_or_default(),
                    ..EncodingOptions::default()
                };
                create_vectors(home, encoder, &options)?;
            }
        }
        Ok(opened)
    }

    /// Checks that the models can be found.
    ///
    /// # Errors
    /// If a model that was named cannot be found.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        match self.folders() {
            Err(error) if self.explicit().is_some() => Err(error),
            _ => Ok(()),
        }
    }
}

/// Opened models, and the reason why some are missing.
#[derive(Default)]
pub(crate) struct Opened {
    pub(crate) encoders: Vec<Box<dyn Encoder>>,
    pub(crate) multilingual: Option<MultilingualEncoder>,
    /// Reason and remedy, if models that nobody named are missing.
    pub(crate) missing: Option<String>,
}

/// The multilingual model, with the minimum similarity of a match that its folder declares.
pub(crate) struct MultilingualEncoder {
    pub(crate) encoder: Box<dyn Encoder>,
    pub(crate) min_similarity: Option<f64>,
}

impl Opened {
    /// Writes a line if models are missing, and returns the opened ones.
    ///
    /// # Errors
    /// If stderr cannot be written.
    pub(crate) fn or_warn(self) -> io::Result<Self> {
        if let Some(reason) = &self.missing {
            let consequence = if self.encoders.is_empty() {
                "datasets are ranked by words, not by meaning"
            } else {
                "datasets are ranked without the multilingual model"
            };
            writeln!(messages(), "lodeseek: {consequence}: {reason}")?;
        }
        Ok(self)
    }

    /// Returns all encoders, the multilingual one last.
    pub(crate) fn into_all(self) -> Vec<Box<dyn Encoder>> {
        let mut all = self.encoders;
        all.extend(self.multilingual.map(|multilingual| multilingual.encoder));
        all
    }

    /// Returns all encoders, the multilingual one last.
    pub(crate) fn all(&self) -> impl Iterator<Item = &dyn Encoder> {
        let multilingual = self.multilingual.iter().map(|one| &one.encoder);
        self.encoders
            .iter()
            .chain(multilingual)
            .map(|encoder| encoder.as_ref())
    }
}

/// Error: a model was not found.
#[derive(Debug)]
struct MissingModel(String);

impl fmt::Display for MissingModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MissingModel {}

/// Returns reason and remedy if an error means that the model or the runtime is absent.
///
/// # Errors
/// The error itself, if the model is broken.
fn missing_model_reason(error: anyhow::Error) -> anyhow::Result<String> {
    if let Some(MissingModel(reason)) = error.downcast_ref() {
        return Ok(reason.clone());
    }
    match error.downcast_ref() {
        Some(ModelError::FeatureDisabled { .. }) => Ok(
            "this program was built without the feature onnx; install a build with it".to_owned(),
        ),
        Some(ModelError::Runtime { library, .. }) => Ok(format!(
            "ONNX Runtime could not be loaded from {}; install it (pip install onnxruntime), set ORT_DYLIB_PATH to its \
             library, and run `lodeseek index`",
            library.display()
        )),
        _ => Err(error),
    }
}

/// Returns true if a home has vectors of a model with this name, also those of another version of the model.
fn has_vectors_of(home: &Path, model: &str) -> anyhow::Result<bool> {
    let stored = vectors::list(&vectors_folder(home))?;
    Ok(stored.iter().any(|one| {
        one.description
            .as_ref()
            .is_ok_and(|description| description.model == model)
    }))
}

/// Describes a choice for which the home has no vectors: both values, and the remedy.
fn describe_contradiction(
    home: &Path,
    explicit: &str,
    model: &str,
    is_flag: bool,
) -> anyhow::Result<String> {
    let stored = vectors::list(&vectors_folder(home))?;
    let mut names: Vec<String> = stored
        .into_iter()
        .filter_map(|one| Some(one.description.ok()?.model))
        .collect();
    names.dedup();
    let has = if names.is_empty() {
        "no vectors".to_owned()
    } else {
        format!("vectors of {} only", names.join(", "))
    };
    let index = if is_flag {
        format!("`lodeseek index {explicit}`")
    } else {
        "`lodeseek index`".to_owned()
    };
    Ok(format!(
        "{explicit} requires vectors of {model}, but {} has {has}; run {index}, or remove the option to rank as indexed",
        home.display()
    ))
}

/// Returns the reason why a model whose vectors a home lacks is not used, and the remedy.
fn missing_vectors(model: &str) -> String {
    format!("the home has no vectors of {model}; run `lodeseek index` to make them")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(dpr: Option<&str>, colbert: Option<&str>) -> EncoderArguments {
        let [dpr, colbert] = [dpr, colbert].map(|model| model.map(str::to_owned));
        EncoderArguments {
            dpr,
            colbert,
            ..EncoderArguments::default()
        }
    }

    fn models(choice: &Choice) -> Vec<&str> {
        choice
            .models()
            .into_iter()
            .map(|(model, _)| model)
            .collect()
    }

    #[test]
    fn flags_are_recorded_and_used_by_later_commands() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path();
        let config = Config::default();
        let choose = |flags: Option<&EncoderArguments>, preset| {
            Choice::new(home, &config, flags, preset).expect("valid")
        };
        let default = choose(None, None);
        assert_eq!(
            (default.preset, models(&default)),
            (Preset::Best, vec![SHIPPED_MODEL; 2])
        );
        default.write_record(home).expect("written");
        assert_eq!(
            read_record(home).expect("a record"),
            Record::default(),
            "defaults are not recorded"
        );

        choose(None, Some(Preset::Words))
            .write_record(home)
            .expect("written");
        assert_eq!(choose(None, None).preset, Preset::Words);
        choose(None, None).write_record(home).expect("written");
        assert_eq!(choose(None, None).preset, Preset::Words, "a record is kept");

        choose(Some(&arguments(Some("other"), None)), None)
            .write_record(home)
            .expect("written");
        let recorded = choose(None, None);
        assert_eq!(
            (recorded.preset, models(&recorded)),
            (Preset::Best, vec!["other"]),
            "models precede an older preset"
        );
        assert!(models(&choose(None, Some(Preset::Balanced))).is_empty());
        assert!(
            recorded.explicit().is_none() && choose(None, Some(Preset::Best)).explicit().is_some()
        );
        let refused = Choice::new(
            home,
            &config,
            Some(&arguments(Some("m"), None)),
            Some(Preset::Words),
        );
        assert!(
            format!("{:#}", refused.expect_err("a contradiction"))
                .contains("--ranking words uses no models")
        );
    }

    #[test]
    fn a_missing_default_model_is_an_absence_and_a_named_one_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = Config::default();
        config.settings.models = Some(folder.path().to_owned());
        let opened = Choice::new(folder.path(), &config, None, None)
            .expect("valid")
            .open(None)
            .expect("no error");
        assert!(opened.encoders.is_empty());
        assert!(
            opened
                .missing
                .expect("a reason")
                .contains("LODESEEK_MODELS")
        );
        let named = arguments(Some("lodeseek-minilm"), None);
        let named = Choice::new(folder.path(), &config, Some(&named), None)
            .expect("valid")
            .open(None);
        assert!(named.is_err_and(|error| {
            error
                .to_string()
                .contains("the model lodeseek-minilm was not found")
        }));
    }
}
