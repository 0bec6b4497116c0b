"""Trains the encoders that Lodeseek ranks with: DR2's coarse-to-fine tuning of DPR and ColBERT, DataFinder's bi-encoder.

Q. Chen et al., *Dense Re-Ranking with Weak Supervision for RDF Dataset Search*, ISWC 2023; V. Viswanathan et al., *DataFinder:
Scientific Dataset Recommendation from Natural Language Descriptions*, ACL 2023. `lodeseek-lab training-data` writes what is read
here, so that the texts trained on are those ranked. The way of the data: `data` (folders to batches), `model` (a network with
one or two heads), `losses`, `stage` (one training run, resumable), `plan` (stages one after the other, by folds), `export`
(ONNX, int8, the settings that Lodeseek reads). Nothing here fetches anything.
"""
