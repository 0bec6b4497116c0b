use super::*;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs;
use std::sync::Arc;

fn labels() -> KeywordLabels {
    let text = r#"{"keyword_frequency": {"gan": 168, "rl": 100, "deep rl": 100, "graph": 48},
                   "keyword_to_label": {"gan": "GANs", "rl": "RL", "deep rl": "deep RL", "graph": "graphs"}}"#;
    serde_json::from_str(text).expect("labels")
}

#[test]
fn the_rarest_keyword_that_is_listed_labels_a_paper() {
    let labels = labels();
    assert_eq!(
        labels.label(&["deep learning", "GAN", " Graph "]),
        Some("graphs")
    );
    assert_eq!(
        labels.label(&["deep rl", "rl", "gan"]),
        Some("deep RL"),
        "the first of equally rare ones"
    );
    assert_eq!(
        (labels.label(&["deep learning"]), labels.label::<&str>(&[])),
        (None, None)
    );
}

fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("papers.jsonl");
    fs::write(&path, text).expect("written");
    (folder, path)
}

#[test]
fn labels_are_the_files_own_or_those_of_keywords() {
    let (_folder, path) = written(
        "{\"title\": \"T\", \"abstract\": \"One.\", \"keywords\": [\"GAN\"], \"year\": 2017}\n\n{\"id\": \"x\", \"abstract\": \"Two.\"}\n",
    );
    let paper = |id: &str, text: &str, label: Option<&str>| Paper {
        id: id.to_owned(),
        text: text.to_owned(),
        label: label.map(str::to_owned),
    };
    let papers = papers::read(&path, &labels()).expect("papers");
    assert_eq!(
        papers,
        [paper("1", "One.", Some("GANs")), paper("x", "Two.", None)]
    );
    let (_folder, path) = written(
        "{\"abstract\": \"One.\", \"keywords\": [\"GAN\"], \"labels\": \"unlabeled\"}\n{\"abstract\": \"Two.\", \"labels\": \"RL\"}",
    );
    let papers = papers::read(&path, &labels()).expect("papers");
    assert_eq!(
        papers,
        [paper("1", "One.", None), paper("2", "Two.", Some("RL"))]
    );
}

/// Writes two papers as pandas does: strings, and a list of strings. The second paper has neither id nor keywords.
fn write_columns(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let schema =
        "message papers { OPTIONAL BYTE_ARRAY id (UTF8); OPTIONAL INT64 year; OPTIONAL BYTE_ARRAY abstract (UTF8);
        OPTIONAL group keywords (LIST) { REPEATED group list { OPTIONAL BYTE_ARRAY element (UTF8); } } }";
    let mut file = SerializedFileWriter::new(
        fs::File::create(path)?,
        parse_message_type(schema)?.into(),
        Arc::default(),
    )?;
    let mut rows = file.next_row_group()?;
    let texts = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| ByteArray::from(*text))
            .collect::<Vec<_>>()
    };
    let mut column = rows.next_column()?.expect("id");
    column
        .typed::<ByteArrayType>()
        .write_batch(&texts(&["x"]), Some(&[1, 0]), None)?;
    column.close()?;
    let mut column = rows.next_column()?.expect("year");
    column
        .typed::<Int64Type>()
        .write_batch(&[2017, 2018], Some(&[1, 1]), None)?;
    column.close()?;
    let mut column = rows.next_column()?.expect("abstract");
    column
        .typed::<ByteArrayType>()
        .write_batch(&texts(&["One.", "Two."]), Some(&[1, 1]), None)?;
    column.close()?;
    let mut column = rows.next_column()?.expect("keywords");
    column.typed::<ByteArrayType>().write_batch(
        &texts(&["GAN", "Graph"]),
        Some(&[3, 3, 0]),
        Some(&[0, 1, 0]),
    )?;
    column.close()?;
    rows.close()?;
    file.close()?;
    Ok(())
}

#[test]
fn columns_are_read_as_lines_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("papers.parquet");
    write_columns(&path).expect("written");
    let (_folder, lines) = written(
        "{\"id\": \"x\", \"abstract\": \"One.\", \"keywords\": [\"GAN\", \"Graph\"]}\n{\"abstract\": \"Two.\"}",
    );
    let papers = papers::read(&path, &labels()).expect("papers");
    assert_eq!(papers, papers::read(&lines, &labels()).expect("papers"));
    assert_eq!(papers[0].label.as_deref(), Some("graphs"));
    fs::write(&path, "no columns").expect("written");
    let error = format!("{:#}", papers::read(&path, &labels()).expect_err("refused"));
    assert!(error.contains("papers.parquet: "), "{error}");
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    for (text, part) in [
        ("{\"abstract\": 1}", "line 1"),
        ("{\"keywords\": []}", "paper 1 has no abstract"),
    ] {
        let (_folder, path) = written(text);
        let error = papers::read(&path, &labels()).expect_err("refused");
        assert!(format!("{error:#}").contains(part), "{error:#}");
    }
}

/// Two fields of thirty papers each, distinguishable by their words.
fn papers() -> Vec<Paper> {
    let words = [
        ["graph", "node", "edge", "walk", "tree"],
        ["reward", "agent", "policy", "game", "value"],
    ];
    let paper = |place: usize| {
        let field = place % 2;
        let text: Vec<&str> = (0..4)
            .map(|word| words[field][(place / 2 + word * word) % 5])
            .collect();
        let label = (place % 7 != 6).then(|| ["graphs", "RL"][field].to_owned());
        Paper {
            id: place.to_string(),
            text: text.join(" "),
            label,
        }
    };
    (0..60).map(paper).collect()
}

#[test]
fn fields_of_different_words_are_distinguished() {
    let papers = papers();
    let benchmark = Benchmark::new(&papers).expect("folds");
    assert_eq!(
        (
            benchmark.counts.papers,
            benchmark.counts.labelled,
            benchmark.counts.labels
        ),
        (60, 52, 2)
    );
    let vectors =
        vectors::compute(Vectors::TfIdf, &benchmark.texts, None, &|_| ()).expect("vectors");
    let judged = benchmark.judge(&vectors).expect("maps");
    let map = benchmark.map("TF-IDF", &judged);
    assert_eq!(
        (
            benchmark.accuracy(&judged.all),
            map.points.len(),
            map.labels.len()
        ),
        (1.0, 60, 60)
    );
    assert!(
        judged.accuracies.len() == 4 && judged.accuracies.iter().all(|accuracy| *accuracy > 0.9)
    );
    assert_eq!(map.accuracy, judged.accuracies[0]);
    let mean_of_maps = mean(&judged.accuracies);
    assert!(
        (benchmark.accuracy(&judged.plane) - mean_of_maps).abs() < 1e-12,
        "folds and maps may be summed in either order"
    );
    assert!(vectors::compute(Vectors::Encoder, &benchmark.texts, None, &|_| ()).is_err());
}

#[test]
fn accuracy_is_the_mean_over_folds() {
    let papers = papers();
    let benchmark = Benchmark::new(&papers).expect("folds");
    let hits: Vec<f64> = benchmark
        .folds
        .iter()
        .map(|fold| f64::from(u8::from(*fold < 3)))
        .collect();
    assert!((benchmark.accuracy(&hits) - 0.3).abs() < 1e-12);
}
