//! Arguments of the ranking model, shared by commands.

use lodeseek_index::document::Field;
use lodeseek_index::sparse::{FieldSet, FieldWeights, LengthMode, ModelKind, SparseModel};
use serde_json::{Value, json};

#[derive(clap::Args, Debug, Clone, Copy)]
pub(super) struct ModelArguments {
    /// Ranking model: tf-idf, bm25, lmd or fsdm.
    #[arg(long, value_name = "NAME", default_value_t)]
    pub(super) model: ModelKind,
    /// Fields that the model searches: all, metadata or data.
    #[arg(long, value_name = "WHICH", default_value_t)]
    pub(super) fields: FieldSet,
    /// Field weights instead of the published ones: eight numbers, or title=1,description=.9,…
    #[arg(long, value_name = "WEIGHTS")]
    pub(super) weights: Option<FieldWeights>,
    /// Field lengths: exact, or lucene for Lucene's one-byte approximation.
    #[arg(long, value_name = "MODE", default_value_t)]
    pub(super) lengths: LengthMode,
}

impl ModelArguments {
    /// Returns the model that the arguments specify.
    ///
    /// # Errors
    /// If all weights of the selected fields are 0.
    pub(super) fn model(&self) -> anyhow::Result<Box<dyn SparseModel>> {
        let model = self.model.model(self.lengths);
        let model = self.weights.map_or_else(|| model.restricted_to(&|_| true), |weights| model.with_weights(weights));
        let model = model.restricted_to(&|field| self.fields.contains(field));
        anyhow::ensure!(
            model.weights().fields().next().is_some(),
            "no field is left: --weights sets the weights of all {} fields to 0; give one field a positive weight",
            self.fields.name()
        );
        Ok(model)
    }

    /// Returns true if all arguments have their default values.
    pub(super) fn is_default(&self) -> bool {
        self.model == ModelKind::default()
            && self.fields == FieldSet::default()
            && self.weights.is_none()
            && self.lengths == LengthMode::default()
    }

    /// Returns the arguments and all parameters of the model for the provenance record.
    pub(super) fn record(&self, model: &dyn SparseModel) -> Value {
        let weights: serde_json::Map<String, Value> =
            Field::ALL.into_iter().map(|field| (field.to_string(), json!(model.weights().weight(field)))).collect();
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
