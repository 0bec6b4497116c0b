//! Arguments of the ranking model, shared by commands.

use lodeseek_index::document::Field;
use lodeseek_index::sparse::{FieldSet, FieldWeights, LengthMode, ModelKind, SparseModel};
use serde_json::{Value, json};

/// Arguments of the ranking model.
#[derive(clap::Args, Debug, Clone, Copy, Default)]
pub struct ModelArguments {
    /// Rank by this model alone: tf-idf, bm25, lmd or fsdm [default: that of the ranking, bm25 for --ranking words].
    #[arg(long, value_name = "NAME")]
    model: Option<ModelKind>,
    /// Fields that the model searches: all, metadata or data [default: all].
    #[arg(long, value_name = "WHICH")]
    fields: Option<FieldSet>,
    /// Field weights instead of the published ones: eight numbers, or title=1,description=.9,…
    #[arg(long, value_name = "WEIGHTS")]
    pub weights: Option<FieldWeights>,
    /// Field lengths: exact, or lucene for Lucene's one-byte approximation [default: exact].
    #[arg(long, value_name = "MODE")]
    lengths: Option<LengthMode>,
}

impl ModelArguments {
    /// Creates the arguments that name a model, or none, and use its published parameters.
    pub fn from_kind(model: Option<ModelKind>) -> Self {
        Self {
            model,
            ..Self::default()
        }
    }

    /// Returns the kind of the model.
    pub fn kind(&self) -> ModelKind {
        self.model.unwrap_or_default()
    }

    /// Returns the fields that the model searches.
    pub fn fields(&self) -> FieldSet {
        self.fields.unwrap_or_default()
    }

    /// Returns the model that the arguments specify.
    ///
    /// # Errors
    /// If all weights of the selected fields are 0.
    pub fn model(&self) -> anyhow::Result<Box<dyn SparseModel>> {
        let (model, fields) = (
            self.kind().model(self.lengths.unwrap_or_default()),
            self.fields(),
        );
        let model = match self.weights {
            Some(weights) => model.with_weights(weights),
            None => model.restricted_to(&|_| true),
        };
        let model = model.restricted_to(&|field| fields.contains(field));
        anyhow::ensure!(
            model.weights().fields().next().is_some(),
            "no field is left: --weights sets the weights of all {} fields to 0; give one field a positive weight",
            fields.name()
        );
        Ok(model)
    }

    /// Returns true if an argument is given.
    pub fn is_given(&self) -> bool {
        self.model.is_some()
            || self.fields.is_some()
            || self.weights.is_some()
            || self.lengths.is_some()
    }

    /// Returns the arguments and all parameters of the model for the provenance record.
    pub fn record(&self, model: &dyn SparseModel) -> Value {
        let weights: serde_json::Map<String, Value> = Field::ALL
            .into_iter()
            .map(|field| (field.to_string(), json!(model.weights().weight(field))))
            .collect();
        let parameters: serde_json::Map<String, Value> = model
            .parameters()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect();
        json!({
            "name": model.name(),
            "fields": self.fields().name(),
            "weights": weights,
            "parameters": parameters,
            "lengths": self.lengths.unwrap_or_default().to_string(),
        })
    }
}
