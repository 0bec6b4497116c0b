# Targets people use: demo, test, release. The others measure; each says what it needs.
SHELL := /bin/bash
ENV := . .ci/env.sh &&
HOME_DIR ?= demo-home
# What a release build records beside the runs it makes.
COMMIT = LODESEEK_COMMIT=$$(git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null)
DATA ?= $(or $(LODESEEK_DATA),../shared/data)

.DEFAULT_GOAL := help
.PHONY: help setup model build release web demo test lint clients federation portal pages trec scikit train-smoke crash bombs soak bench-load bench-search bench-snippet bench-statistics bench-update bench-rerank bench-encoder bench-federation clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

setup: ## install what the build needs, compile RocksDB once, fetch ONNX Runtime
	@$(ENV) echo "setup: ready"

model: ## the base that models are trained from, all-MiniLM-L6-v2, as ONNX in fp32 and int8, into the cache folder
	@python3 .ci/model.py

build: ## the program, quickly built
	@$(ENV) cargo build $$LODESEEK_FEATURES

release: ## the program, as fast as it gets
	@$(ENV) $(COMMIT) cargo build --release $$LODESEEK_FEATURES

web: ## the SPARQL editor of the page /sparql, bundled from npm into the cache folder; `serve --editor` takes it
	@python3 .ci/editor.py

demo: build ## load testdata/, index it, search it, and serve it where there is a terminal
	@$(ENV) bash .ci/demo.sh target/debug/lodeseek $(HOME_DIR)

test: ## every test
	@bash .ci/test.sh

lint: ## formatting and clippy
	@$(ENV) cargo fmt --check && cargo clippy $$LODESEEK_FEATURES --all-targets -- -D warnings

clients: build ## SPARQLWrapper, rdflib and Chromium against a running server
	@python3 .ci/clients.py target/debug/lodeseek

federation: build ## Comunica, rdflib, SPARQLWrapper, Jena, Virtuoso and Oxigraph ask a running server, and are asked by it
	@python3 .ci/federation.py target/debug/lodeseek

portal: build ## ckanapi, mlcroissant and Chromium against a running server
	@python3 .ci/portal.py target/debug/lodeseek

pages: build ## the pages in Chromium by Playwright, and axe-core's rules; PICTURES=FOLDER takes pictures instead
	@python3 .ci/pages.py target/debug/lodeseek $(if $(PICTURES),--pictures $(PICTURES))

trec: build ## every value of `evaluate` against pytrec_eval and ir_measures, on random runs and DATA/acordar
	@python3 .ci/trec.py target/debug/lodeseek $(DATA)

scikit: build ## `reproduce iclr` against scikit-learn, paper by paper, on random papers and DATA/iclr
	@python3 .ci/scikit.py target/debug/lodeseek $(DATA)

train-smoke: build ## training data, a small training run, ONNX, an index and a search by it; installs torch, some gigabytes
	@$(ENV) bash training/smoke.sh target/debug/lodeseek

crash: release ## kill -9 in the middle of load and index, twenty times each, on DATA/lod
	@python3 .ci/crash.py target/release/lodeseek $(DATA)/lod/datasets.json

bombs: release ## hostile inputs: refused, how soon, with how much memory
	@python3 .ci/bombs.py target/release/lodeseek

soak: release ## 64 clients for five minutes (or FOR seconds) on HOME_DIR: what they wait for; errors may be 429 and 503 alone
	@python3 .ci/soak.py target/release/lodeseek $(HOME_DIR) $(FOR)

bench-load: release ## the whole chain against Oxigraph's own bulk load of the same files, on DATA/lod
	@$(ENV) $(COMMIT) cargo bench $$LODESEEK_FEATURES --bench load -- $(DATA)/lod/datasets.json

bench-search: ## search times beside tantivy's BM25; SIZES="476 31589 1000000" for all, KEEP=FOLDER to keep what is made up
	@$(ENV) $(COMMIT) cargo bench $$LODESEEK_FEATURES --bench search -- $(DATA)/lod $(KEEP:%=--keep=%) $(SIZES)

bench-snippet: release ## snippets beside the times of the published Java code, and generated graphs; TRIPLES="1000000 10000000" for both
	@$(ENV) cargo bench $$LODESEEK_FEATURES --bench snippet -- $(DATA) $(or $(TRIPLES),1000000)

bench-statistics: ## counts and listings read off statistics beside their evaluation, on HOME_DIR
	@$(ENV) cargo bench $$LODESEEK_FEATURES --bench statistics -- $(HOME_DIR)

bench-update: ## one dataset of SIZE made-up ones changes while all are searched; FOLDER keeps them
	@$(ENV) cargo bench $$LODESEEK_FEATURES --bench update -- $(or $(SIZE),31589) $(or $(FOLDER),$(error FOLDER is missing: where the datasets are made up))

bench-rerank: ## ranking again, whole queries on HOME_DIR beside Python's ONNX Runtime, SIZE made-up datasets (benches/rerank/main.rs)
	@$(ENV) cargo bench $$LODESEEK_FEATURES --bench rerank -- $(PARTS) --size=$(or $(SIZE),31589) \
	  --model="$(or $(MODEL),$$(python3 .ci/model.py))" --home=$(HOME_DIR) --topics=$(or $(TOPICS),$(DATA)/lod/dev/queries.tsv) \
	  --qrels=$(or $(QRELS),$(DATA)/lod/dev/qrels.txt) --peer=.ci/rerank_peer.py --pylate=$(PYLATE) --keep=$(KEEP) \
	  --encoded=$(ENCODED) --rounds=$(ROUNDS)

bench-encoder: ## the base model's speed, and its likeness to REFERENCE (benches/encoder.rs says what that is)
	$(if $(REFERENCE),,$(error REFERENCE is missing: the JSON file of texts and of their vectors by the model's own software, as benches/encoder.rs says; make bench-encoder REFERENCE=FILE))
	@$(ENV) cargo bench $$LODESEEK_FEATURES --bench encoder -- "$$(python3 .ci/model.py)" $(REFERENCE) model.onnx model_int8.onnx

bench-federation: release ## SERVICE by blocks of bindings beside plain forwarding, one request a binding and Comunica; ROUNDS=5, KEEP=FILE for every figure
	@python3 .ci/bench_federation.py target/release/lodeseek --rounds $(or $(ROUNDS),5) $(KEEP:%=--keep=%)

clean: ## what the build made (the RocksDB in the cache stays)
	@cargo clean && rm -rf $(HOME_DIR)
