//! `evaluate-snippets` as people run it.

use super::support::{home, run};

#[test]
fn evaluate_snippets_knows_every_method() {
    let home = home("testdata/catalog.ttl");
    let ran = run(
        home.path(),
        &["evaluate-snippets", "--sample", "3", "--format", "json"],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for method in [
        "IlluSnip OPT-RANK",
        "patterns",
        "pcsg",
        "pcsg-tau",
        "KSD",
        "keyword cover",
        "qpcsg",
    ] {
        assert!(
            ran.out.contains(&format!("\"{method}\"")),
            "{method} in {}",
            ran.out
        );
    }
    assert!(!ran.out.contains("BASIC"), "only where asked for");
}
