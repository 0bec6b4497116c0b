//! The arguments that say how to rank, shared by commands.

use lodeseek_index::document::Field;
use lodeseek_index::sparse::{FieldSet, FieldWeights, LengthMode, ModelKind, SparseModel};
use serde_json::{Value, json};

#[derive(clap::Args, Debug, Clone, Copy)]
pub(super) struct ModelArguments {
    /// The ranking model: tf-idf, bm25, lmd or fsdm.
    #[arg(long, value_name = "NAME", default_value_t)]
    pub(super) model: ModelKind,
    /// The fields it reads: all, metadata or data.
    #[arg(long, value_name = "WHICH", default_value_t)]
    pub(super) fields: FieldSet,
    /// Weights of the fields instead of the published ones: eight numbers, or title=1,description=.9,…
    #[arg(long, value_name = "WEIGHTS")]
    pub(super) weights: Option<FieldWeights>,
    /// Field lengths: exact, or lucene for what Lucene keeps in one byte.
    #[arg(long, value_name = "MODE", default_value_t)]
    pub(super) lengths: LengthMode,
}

impl ModelArguments {
    /// The model asked for.
    pub(super) fn model(&self) -> anyhow::Result<Box<dyn SparseModel>> {
        let model = self.model.model(self.lengths);
        let model = self.weights.map_or_else(|| model.restricted_to(&|_| true), |weights| model.with_weights(weights));
        let model = model.restricted_to(&|field| self.fields.contains(field));
        anyhow::ensure!(
            model.weights().fields().next().is_some(),
            "no field is left: the weights are 0 for all {} fields",
            self.fields.name()
        );
        Ok(model)
    }

    /// Whether it is what is ranked by where nothing is said.
    pub(super) fn is_usual(&self) -> bool {
        self.model == ModelKind::default()
            && self.fields == FieldSet::default()
            && self.weights.is_none()
            && self.lengths == LengthMode::default()
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
