#!/usr/bin/env bash
# Every test, in one profile: units, integration and doc tests, the library without RocksDB, real clients and peers, exported models, pytrec_eval, scikit-learn.
set -euo pipefail
. .ci/env.sh
# shellcheck disable=SC2086
cargo test $LODESEEK_FEATURES
echo "test: the library without any feature"
cargo test --no-default-features --lib
# shellcheck disable=SC2086
cargo build $LODESEEK_FEATURES
python3 .ci/clients.py target/debug/lodeseek
python3 .ci/federation.py target/debug/lodeseek
python3 .ci/portal.py target/debug/lodeseek
python3 .ci/pages.py target/debug/lodeseek
python3 .ci/export.py target/debug/lodeseek
python3 .ci/trec.py target/debug/lodeseek
python3 .ci/scikit.py target/debug/lodeseek ${LODESEEK_DATA:+"$LODESEEK_DATA"}
