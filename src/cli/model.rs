//! The arguments that say how to rank, shared by commands.

use crate::document::Field;
use crate::sparse::{FieldWeights, LengthMode, ModelKind, SparseModel};
use serde_json::{Value, json};

#[derive(clap::Args, Debug, Clone, Copy)]
pub(super) struct ModelArguments {
    /// The ranking model: tf-idf, bm25, lmd or fsdm.
    #[arg(long, value_name = "NAME", default_value_t)]
    pub(super) model: ModelKind,
    /// The fields it reads.
    #[arg(long, value_name = "WHICH", value_enum, default_value_t)]
    pub(super) fields: FieldChoice,
    /// Weights of the fields instead of the published ones: eight numbers, or title=1,description=.9,…
    #[arg(long, value_name = "WEIGHTS")]
    pub(super) weights: Option<FieldWeights>,
    /// Field lengths: exact, or lucene for what Lucene keeps in one byte.
    #[arg(long, value_name = "MODE", default_value_t)]
    pub(super) lengths: LengthMode,
}

/// Some of the eight fields.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum FieldChoice {
    /// Metadata and data.
    #[default]
    All,
    /// Title, description, author, tags.
    Metadata,
    /// Entities, literals, classes, properties.
    Data,
}

impl FieldChoice {
    pub(super) const ALL: [Self; 3] = [Self::All, Self::Metadata, Self::Data];

    pub(super) fn passes(self, field: Field) -> bool {
        match self {
            Self::All => true,
            Self::Metadata => field.is_metadata(),
            Self::Data => !field.is_metadata(),
        }
    }

    /// The run tag of a model over these fields: the fields are named where they are not all.
    pub(super) fn tag(self, model: ModelKind) -> String {
        match self {
            Self::All => model.to_string(),
            some => format!("{model}.{}", some.name()),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Metadata => "metadata",
            Self::Data => "data",
        }
    }
}

impl ModelArguments {
    /// The model asked for.
    pub(super) fn model(&self) -> anyhow::Result<Box<dyn SparseModel>> {
        let model = self.model.model(self.lengths);
        let model = self.weights.map_or_else(|| model.only(&|_| true), |weights| model.with_weights(weights));
        let model = model.only(&|field| self.fields.passes(field));
        anyhow::ensure!(
            model.weights().fields().next().is_some(),
            "no field is left: the weights are 0 for all {} fields",
            self.fields.name()
        );
        Ok(model)
    }

    /// What was asked for and all parameters, for the record.
    pub(super) fn record(&self, model: &dyn SparseModel) -> Value {
        let weights: serde_json::Map<String, Value> =
            Field::ALL.into_iter().map(|field| (field.to_string(), json!(model.weights().of(field)))).collect();
        let parameters: serde_json::Map<String, Value> =
            model.parameters().into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
        json!({
            "name": model.name(),
            "fields": self.fields.name(),
            "weights": weights,
            "parameters": parameters,
            "lengths": self.lengths.to_string(),
        })
    }
}
