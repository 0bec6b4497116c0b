# Targets for users: demo, test, release. Targets for developers: check, crate, interop, docs. The others measure.
SHELL := /bin/bash
ENV := . tools/env.sh &&
RELEASE_ENV := . tools/env.sh --release &&
HOME_DIR ?= demo-home
# Commit recorded in run files by release builds.
COMMIT = LODESEEK_COMMIT=$$(git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null)
DATA ?= $(or $(LODESEEK_DATA),../shared/data)
# The program of operators and users, and that of experiments.
BOTH := -p lodeseek -p lodeseek-lab
PROGRAM := target/debug/lodeseek
RELEASE := target/release/lodeseek

.DEFAULT_GOAL := help
.PHONY: help setup model build build-lab release release-lab web demo check test crate lint interop docs \
        documentation clients agents federation portal roundtrip feeds pages operator replicas cluster-test export trec scikit train-smoke crash chaos bombs isolation attacks soak useful-work fuzz package packages-test \
        wheel wheel-test bench-load bench-search bench-snippet bench-statistics bench-update bench-rerank bench-encoder bench-federation bench-entities bench-harvest gpu-check clean

help: ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

setup: ## install missing prerequisites, compile RocksDB once (1 to 4 min), download ONNX Runtime and the crates
	@$(ENV) cargo fetch --locked && echo "setup: ready"

demo: ## load, index and search testdata/; in a terminal, serve it on http://localhost:7878/
	@. tools/env.sh --once && cargo build $$LODESEEK_FEATURES && bash tools/demo.sh $(PROGRAM) $(HOME_DIR)

test: ## run text checks, unit, integration and doc tests, real clients
	@bash tools/test.sh

check: ## quick checks, offline and without sudo: formatting, clippy, unit tests, language, documentation
	@bash tools/check.sh

crate: ## run the tests of one library crate, e.g. CRATE=rdf; ARGUMENTS are those of cargo test
	$(if $(CRATE),,$(error CRATE is missing: the name of a folder in crates/, e.g. make crate CRATE=rdf))
	@bash tools/crate.sh $(CRATE) $(ARGUMENTS)

lint: ## check formatting and run clippy
	@$(ENV) cargo fmt --all --check && cargo clippy --workspace --all-targets $$LODESEEK_FEATURES -- -D warnings

interop: build-lab ## test the program with its documentation, real clients and reference implementations; installs them
	@bash tools/interop.sh $(PROGRAM)

docs: ## check the documentation and, if mdBook is installed, build the site
	@python3 tools/docs_check.py
	@if command -v mdbook >/dev/null; then mdbook build docs; else \
	  echo "docs: mdBook is not installed, so the site was not built; run \`cargo install mdbook --locked\`"; fi

build: ## build the program, debug profile
	@$(ENV) cargo build $$LODESEEK_FEATURES

build-lab: ## build the program and lodeseek-lab, the program of experiments, debug profile
	@$(ENV) cargo build $(BOTH) $$LODESEEK_FEATURES

release: ## build the program, release profile
	@$(RELEASE_ENV) $(COMMIT) cargo build --release $$LODESEEK_FEATURES

release-lab: ## build the program and lodeseek-lab, release profile
	@$(RELEASE_ENV) $(COMMIT) cargo build --release $(BOTH) $$LODESEEK_FEATURES

package: release ## write the archive and the Debian package of a release build to dist/; needs cargo-deb
	@tools/package.sh tarball $(RELEASE) dist && tools/package.sh deb $(RELEASE) dist

packages-test: build ## pack the debug build and test archive, Debian package, unit and reverse proxies; needs root and Debian
	@tests/packages/run.sh $(PROGRAM)

wheel: ## write the Python wheels of a release build to dist/
	@$(COMMIT) tools/wheel.sh release dist

wheel-test: ## build the Python wheels of a debug build and use them in an empty virtual environment
	@tools/wheel.sh dev target/wheels && python3 tests/interop/wheel.py target/wheels

model: ## write all-MiniLM-L6-v2, the base model for training, as ONNX (fp32, int8) into the cache folder
	@python3 tools/model.py

web: ## bundle the SPARQL editor from npm into the cache folder and print its path, for `serve --editor`
	@python3 tools/editor.py

documentation: build-lab ## run the commands of the tutorials and check the CLI and HTTP reference
	@$(ENV) python3 tests/interop/documentation.py $(PROGRAM)

clients: build-lab ## test a server with SPARQLWrapper, rdflib and Chromium
	@python3 tests/interop/clients.py $(PROGRAM)

agents: build-lab ## test the Model Context Protocol with its official Python client
	@python3 tests/interop/agents.py $(PROGRAM)

federation: build-lab ## test SERVICE in both directions with Comunica, rdflib, SPARQLWrapper, Jena, Virtuoso and Oxigraph
	@python3 tests/interop/federation.py $(PROGRAM)

portal: build-lab ## test a server with ckanapi, mlcroissant, pySHACL and Chromium
	@python3 tests/interop/portal.py $(PROGRAM)

roundtrip: build-lab ## test that what comes in goes out, with ckanext-dcat, rdflib, mlcroissant and rapper
	@python3 tests/interop/roundtrip.py $(PROGRAM)

feeds: build-lab ## test the published changes with Sickle, oaipmh-scythe and ldes-client; harvest pycsw, oaipmh, oai_repo, pygeoapi, fdpneo, Oxigraph and Virtuoso
	@python3 tests/interop/feeds.py $(PROGRAM)
	@python3 tests/interop/harvest_sources.py $(PROGRAM)

pages: build-lab ## test the pages with Playwright, Chromium and axe-core; PICTURES=FOLDER writes screenshots instead; PORTAL_HOME=HOME adds real datasets
	@python3 tests/interop/pages.py $(PROGRAM) $(if $(PICTURES),--pictures $(PICTURES)) $(if $(PORTAL_HOME),--home $(PORTAL_HOME))

operator: build-lab ## play the operator: harvest, upload, backup, restore beside searches; CHANGES=300 changes beside 32 clients
	@python3 tests/interop/portal_operator.py $(PROGRAM) $(CHANGES)

replicas: build-lab ## test two replicas of snapshots on an S3 server behind HAProxy; CLIENTS=32 clients instead of 8
	@python3 tests/interop/replicas.py $(PROGRAM) $(CLIENTS)

cluster-test: build-lab ## derive DATA/lod on Spark with two executors, kill one, and compare the rankings with one machine; needs Java 17
	@$(ENV) python3 tests/interop/cluster.py $(PROGRAM) $(DATA)/lod

export: build-lab ## test the ONNX export of training against numpy, without torch
	@$(ENV) python3 tests/interop/export.py $(PROGRAM)

trec: build-lab ## compare every value of `evaluate` with pytrec_eval and ir_measures, on random runs and DATA/acordar
	@python3 tests/interop/trec.py $(PROGRAM) $(DATA)

scikit: build-lab ## compare `reproduce iclr` with scikit-learn paper by paper, on random papers and DATA/iclr
	@python3 tests/interop/scikit.py $(PROGRAM)-lab $(DATA)

train-smoke: build-lab ## create training data, train a small model, export it, index and search with it; installs torch (4.4 GB)
	@$(ENV) bash training/smoke.sh $(PROGRAM)

crash: release ## kill load, index and restore ROUNDS (20) times each with SIGKILL and check that nothing committed is lost, on DATA/lod
	@python3 tests/stress/crash.py $(RELEASE) $(DATA)/lod/datasets.json $(or $(ROUNDS),20) $(DATASETS)

bombs: release ## check that hostile inputs are rejected; print time and memory
	@python3 tests/stress/bombs.py $(RELEASE)

chaos: release ## flip bits, kill commands, fill disks; check that damage is detected and repaired; TRIALS=300 SEED=1 PARTS="flips kills"
	@python3 tests/stress/chaos.py $(RELEASE) $(or $(TRIALS),300) $(or $(SEED),1) $(PARTS)

fuzz: ## run fuzz targets of all readers and of SPARQL; TARGET=dump_turtle FOR=60 (seconds for each; default: all targets)
	@bash tools/fuzz.sh $(or $(TARGET),all) $(or $(FOR),60)

isolation: release ## measure what worker processes cost, and what attacks by SPARQL cost other requests
	@python3 tests/stress/isolation.py $(RELEASE)
	@python3 tests/stress/harvest_workers.py $(RELEASE)

attacks: release ## attack a server with 16 clients at once, one attack after the other, beside searches, on HOME_DIR; FOR=20 ATTACK="RDF/XML"
	@python3 tests/stress/attacks.py $(RELEASE) $(HOME_DIR) $(or $(FOR),20) $(ATTACK:%="%")

soak: release ## run 64 clients, 5 % of them hostile, for FOR seconds (default 300) on HOME_DIR; print latencies, outcomes and memory
	@python3 tests/stress/soak.py $(RELEASE) $(HOME_DIR) $(FOR)

useful-work: release ## compare complete answers under load with `oxigraph serve`, 1 to 64 clients, on HOME_DIR; FOR=40
	@python3 tests/stress/useful_work.py $(RELEASE) $(HOME_DIR) $(FOR)

bench-load: release ## compare load and index with Oxigraph's bulk load of the same files, on DATA/lod
	@$(RELEASE_ENV) $(COMMIT) cargo bench $$LODESEEK_FEATURES --bench load -- $(DATA)/lod/datasets.json

bench-search: ## compare search times with tantivy's BM25; SIZES="476 31589 1000000" for all, KEEP=FOLDER keeps generated data
	@$(RELEASE_ENV) $(COMMIT) cargo bench $$LODESEEK_FEATURES --bench search -- $(DATA)/lod $(KEEP:%=--keep=%) $(SIZES)

bench-snippet: release ## compare snippet times with those of the published Java code, and graphs with petgraph's; TRIPLES="1000000 10000000" sets sizes
	@$(RELEASE_ENV) cargo bench $$LODESEEK_FEATURES --bench snippet -- $(DATA) $(or $(TRIPLES),1000000)
	@cargo bench -p lodeseek-snippet --bench graph

bench-statistics: ## compare counts and listings from statistics with their evaluation, on HOME_DIR
	@$(RELEASE_ENV) cargo bench $$LODESEEK_FEATURES --bench statistics -- $(HOME_DIR)

bench-update: ## change one of SIZE generated datasets while all are searched; FOLDER keeps them
	@$(RELEASE_ENV) cargo bench $$LODESEEK_FEATURES --bench update -- $(or $(SIZE),31589) $(or $(FOLDER),$(error FOLDER is missing: folder of the generated datasets))

bench-rerank: ## measure re-ranking on HOME_DIR and on SIZE generated datasets beside Python's ONNX Runtime (benches/rerank/main.rs)
	@$(RELEASE_ENV) cargo bench $$LODESEEK_FEATURES --bench rerank -- $(PARTS) --size=$(or $(SIZE),31589) \
	  --model="$(or $(MODEL),$$(python3 tools/model.py))" --home=$(HOME_DIR) --topics=$(or $(TOPICS),$(DATA)/lod/dev/queries.tsv) \
	  --qrels=$(or $(QRELS),$(DATA)/lod/dev/qrels.txt) --peer=tools/rerank_peer.py --pylate=$(PYLATE) --keep=$(KEEP) \
	  --encoded=$(ENCODED) --rounds=$(ROUNDS) --formats=$(FORMATS)

bench-encoder: ## measure the base model's speed and its similarity to REFERENCE (format: benches/encoder.rs)
	$(if $(REFERENCE),,$(error REFERENCE is missing: a JSON file of texts and their reference vectors (format: benches/encoder.rs); make bench-encoder REFERENCE=FILE))
	@$(RELEASE_ENV) cargo bench $$LODESEEK_FEATURES --bench encoder -- "$$(python3 tools/model.py)" $(REFERENCE) model.onnx model_int8.onnx

gpu-check: release ## pack a check of CUDA in FOLDER (default: cache folder), and run it if this machine has a GPU; ARGUMENTS are those of prepare (docs/src/how-to/gpu.md)
	@python3 tools/gpu_check.py prepare $(FOLDER) --program $(RELEASE) --base "$$(python3 tools/model.py)" $(ARGUMENTS)
	@if command -v nvidia-smi >/dev/null; then python3 tools/gpu_check.py run $(FOLDER); \
	  else echo "gpu-check: nvidia-smi is not installed, so nothing was measured"; fi

bench-federation: release ## compare bound joins by SERVICE with forwarding, one request a binding and Comunica; ROUNDS=5, KEEP=FILE
	@python3 tools/bench_federation.py $(RELEASE) --rounds $(or $(ROUNDS),5) $(KEEP:%=--keep=%)

bench-entities: release ## p50 and p95 of entity search on an indexed home; HOME_DIR=FOLDER, QUERIES=FILE, ROUNDS=5
	@python3 tools/bench_entities.py $(RELEASE) $(HOME_DIR) $(or $(QUERIES),testdata/queries.tsv) --rounds $(or $(ROUNDS),5)

bench-harvest: release ## compare harvests by CSW and OAI-PMH with OWSLib and Sickle; RECORDS=10000, ROUNDS=3
	@python3 tools/bench_harvest.py $(RELEASE) --records $(or $(RECORDS),10000) --rounds $(or $(ROUNDS),3)

clean: ## remove target/ and HOME_DIR (the prebuilt RocksDB stays in the cache folder)
	@cargo clean && rm -rf $(HOME_DIR)
