//! `lodeseek search`: ranks datasets for a query and explains the hits.

mod remote;

use super::ExitStatus;
use super::config::{Config, check_analysis};
use super::dataset_ids::{self, empty_collection};
use super::encoder::{RerankArguments, method_name};
use super::filter::{self, FilterArguments, write_counts};
use super::model::ModelArguments;
use super::output::{OutputArguments, write_json};
use super::ranking::Preset;
use super::rows::table_lines;
use super::terminal::{Style, counted, cut, grouped, safe, verb_form};
use super::values::positive;
use anyhow::Context;
use lodeseek_catalog::{DatasetId, Metadata, Scheme};
use lodeseek_engine::hit_json;
use lodeseek_engine::{
    Coverage, DenseMatch, DuplicateMode, EncoderSummary, Evidence, Example, ExampleGraph,
    ExampleSimilarity, Hit, Interpretation, InterpretationKind, MatchQuality, PairSummary,
    PartKind, QuerySyntax, RerankSummary, SearchRequest, SearchResponse, Searcher, SimilarityPart,
    SnippetKind, SnippetTable, SnippetTriple, SuggestedFilter, WorkEvidence, check_query,
};
use lodeseek_index::sparse::ModelKind;
use lodeseek_rdf::language_name;
use lodeseek_rerank::Granularity;
use lodeseek_snippet::LabelledTriple;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Models, fusion and candidates are settings of the home: `lodeseek config show` lists all keys."
)]
pub(crate) struct Arguments {
    /// Query: words, or a description of the data in a sentence. `-` reads it from stdin.
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Search on the server at this address instead of a home on this machine. The server ranks with its own settings.
    #[arg(
        long,
        value_name = "URL",
        env = "LODESEEK_SERVER",
        conflicts_with = "ranking"
    )]
    server: Option<String>,
    /// Maximum number of hits.
    #[arg(short = 'k', long, value_name = "N", default_value = "10", value_parser = positive, help_heading = RESULTS)]
    depth: NonZeroUsize,
    #[command(flatten, next_help_heading = RESULTS)]
    output: OutputArguments,
    /// Show the methods of the ranking, the parts of each score and the matching triples.
    #[arg(long, help_heading = RESULTS)]
    explain: bool,
    /// Snippet of a hit: stored (with the index), query (computed for the query), none, or a method: illusnip, patterns, ksd,
    /// optimal, cover, qpcsg and others, as listed by `lodeseek snippet --help`.
    #[arg(long, value_name = "KIND", default_value = "stored", help_heading = RESULTS)]
    snippet: SnippetKind,
    /// Languages of labels, in order of preference: `de,en`.
    #[arg(long, value_name = "TAG", value_delimiter = ',', default_value = "en", help_heading = RESULTS)]
    lang: Vec<String>,
    /// Count the hits by year, task, modality, theme, class, keyword, publisher, author, format, licence, language, vocabulary
    /// and portal.
    #[arg(long, help_heading = RESULTS)]
    facets: bool,
    /// Show duplicates as hits of their own, not merged into one.
    #[arg(long, help_heading = RESULTS)]
    duplicates: bool,
    /// Search for the words of the query as typed: quotation marks, minus and names such as `foaf:Person` have no meaning.
    #[arg(long, help_heading = QUERY)]
    literal: bool,
    /// Example of what is searched for: the id of a dataset, or an RDF file. Datasets are ranked by the query and by their similarity to
    /// the examples. Repeatable, up to five times.
    #[arg(long, value_name = "DATASET|FILE", help_heading = QUERY)]
    like: Vec<String>,
    #[command(flatten)]
    filter: FilterArguments,
    /// Ranking: words (one model, by default BM25), balanced (FSDM and BM25, fused) or best (fused with the vectors of models)
    /// [default: as configured or indexed, else best].
    #[arg(long, value_name = "PRESET", help_heading = RANKING)]
    ranking: Option<Preset>,
    /// Rank by this model alone: tf-idf, bm25, lmd or fsdm [default: that of the ranking, bm25 for --ranking words].
    #[arg(long, value_name = "NAME", help_heading = RANKING)]
    model: Option<ModelKind>,
}

/// Headings of the help.
const QUERY: &str = "Query";
const RESULTS: &str = "Results";
const RANKING: &str = "Ranking";
/// Maximum number of snippet triples printed for a hit. Matching triples come first.
const MAX_HIT_TRIPLES: usize = 5;
/// Maximum number of parts printed for a hit that is only similar in meaning.
const MAX_SIMILAR_PARTS: usize = 2;

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    if let Some(address) = arguments
        .server
        .as_deref()
        .filter(|address| !address.is_empty())
    {
        return remote::run(address, arguments);
    }
    let query = arguments.query()?;
    let model = ModelArguments::from_kind(arguments.model);
    let mut searcher = Searcher::open(home)?.with_model(model.model()?);
    check_analysis(config, searcher.catalog().analysis()?)?;
    let rerank = RerankArguments::from_preset(arguments.ranking);
    let choice = rerank.choice(home, config, Some(&model))?;
    let reranker = rerank.reranker(home, &choice, Some(&model), arguments.depth.get())?;
    if let Some(reranker) = reranker {
        searcher = searcher.with_reranker(reranker);
    }
    let examples: Vec<Example> = arguments
        .like
        .iter()
        .map(|named| find_example(home, &searcher, named))
        .collect::<anyhow::Result<_>>()?;
    let request = SearchRequest {
        syntax: if arguments.literal {
            QuerySyntax::Literal
        } else {
            QuerySyntax::Interpreted
        },
        depth: arguments.depth.get(),
        explain: arguments.explain,
        snippet: arguments.snippet,
        languages: arguments.lang.clone(),
        filter: arguments.filter.filter()?,
        facets: arguments.facets.then_some(filter::MAX_FACET_VALUES),
        duplicates: if arguments.duplicates {
            DuplicateMode::All
        } else {
            DuplicateMode::Grouped
        },
        examples,
        ..SearchRequest::new(query.clone())
    };
    let response = searcher.search(&request)?;
    let mut out = io::stdout().lock();
    if arguments.output.is_json() {
        write_json(&mut out, &hit_json(&query, &response))?;
    } else {
        if searcher.catalog().len()? == 0 {
            writeln!(out, "{}", empty_collection(home))?;
            return Ok(ExitStatus::NoResult);
        }
        write_response(&mut out, &searcher, &request, &response, &arguments.like)?;
        if response.hits.is_empty() {
            let unsatisfied = arguments
                .filter
                .unsatisfied_conditions(searcher.catalog(), &response.unknown_values)?;
            if !unsatisfied.is_empty() {
                writeln!(
                    out,
                    "No dataset has {}; --facets lists the values of all hits.",
                    unsatisfied.join(", or ")
                )?;
            }
        }
    }
    Ok(if response.hits.is_empty() || response.only_closest {
        ExitStatus::NoResult
    } else {
        ExitStatus::Success
    })
}

impl Arguments {
    /// Returns the query: the words of the command line, or for `-` the text of stdin.
    ///
    /// # Errors
    /// If stdin cannot be read, or the query is empty.
    fn query(&self) -> anyhow::Result<String> {
        let mut query = self.query.join(" ");
        if query == "-" {
            let text =
                io::read_to_string(io::stdin()).context("cannot read the query from stdin")?;
            query = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        check_query(&query)?;
        Ok(query)
    }
}

/// Returns an example by the id of a dataset, or else by the path of a file.
fn find_example(home: &Path, searcher: &Searcher, named: &str) -> anyhow::Result<Example> {
    let id = DatasetId::new(named);
    if let Ok(id) = &id
        && searcher.catalog().numeric_facts(id)?.is_some()
    {
        return Ok(Example::Dataset(id.clone()));
    }
    if Path::new(named).exists() {
        let graph = super::snippet::read_file(named)?;
        let example = ExampleGraph::new(&graph);
        return Ok(Example::Graph(if searcher.encodes_examples() {
            example.with_texts(&graph)
        } else {
            example
        }));
    }
    let unknown = match &id {
        Ok(id) => dataset_ids::unknown(home, searcher, id).to_string(),
        Err(error) => error.to_string(),
    };
    anyhow::bail!("--like {named}: neither a dataset nor a file; {unknown}")
}

fn write_response(
    out: &mut impl Write,
    searcher: &Searcher,
    request: &SearchRequest,
    response: &SearchResponse,
    examples: &[String],
) -> anyhow::Result<()> {
    let style = Style::of_stdout();
    if response.terms.is_empty() && response.hits.is_empty() {
        writeln!(
            out,
            "“{}” contains no searchable words: common words are ignored.",
            safe(&request.query)
        )?;
        return Ok(());
    }
    write_count(out, searcher, request, response)?;
    if response.hits.is_empty() {
        write_interpretations(out, &response.interpretations)?;
        write_suggestion(out, style, response)?;
        if let Some(counts) = &response.facets {
            write_counts(out, counts)?;
        }
        return Ok(());
    }
    write_interpretations(out, &response.interpretations)?;
    write_suggested_filters(out, &response.suggested_filters)?;
    write_suggestion(out, style, response)?;
    if let Some(counts) = &response.facets {
        write_counts(out, counts)?;
    }
    if let Some(rerank) = &response.rerank {
        if request.explain {
            write_rerank(out, rerank)?;
        }
        write_missing_vectors(out, rerank)?;
    }
    let view = View {
        style,
        response,
        request,
        examples,
    };
    if response.only_closest && !request.explain {
        writeln!(out, "Nearest results:")?;
        for hit in &response.hits {
            view.write_title(out, hit)?;
        }
        return Ok(());
    }
    for hit in &response.hits {
        view.write_hit(out, hit)?;
    }
    Ok(())
}

/// Returns the numbers of good and of weaker matches in words.
fn match_counts(good: usize, weak: usize) -> String {
    let matches = verb_form(good, "match", "matches");
    let counts = match good {
        0 => "No good match".to_owned(),
        _ => format!("{} good {matches}", grouped(good as u64)),
    };
    match weak {
        0 => counts,
        _ => format!("{counts}, {} weaker", grouped(weak as u64)),
    }
}

/// Writes the numbers of good and of weaker matches, or that the hits are only similar in meaning.
fn write_count(
    out: &mut impl Write,
    searcher: &Searcher,
    request: &SearchRequest,
    response: &SearchResponse,
) -> anyhow::Result<()> {
    let query = safe(&request.query);
    let counts = match_counts(response.good, response.total - response.good);
    if response.with_words > 0 {
        let filtered = if request.filter.is_empty() {
            ""
        } else {
            ", with the filters"
        };
        let datasets = counted(searcher.catalog().len()?, "dataset");
        writeln!(out, "{counts} for “{query}” among {datasets}{filtered}")?;
        return Ok(());
    }
    let passing = if request.filter.is_empty() {
        ""
    } else {
        " that passes the filters"
    };
    let others = if response.hits.is_empty() {
        ""
    } else if response.only_closest {
        ", and none is similar in meaning"
    } else if request.examples.is_empty() {
        "; these are similar in meaning"
    } else {
        "; these are similar to the examples"
    };
    writeln!(
        out,
        "No dataset{passing} contains any of the words of “{query}”{others}."
    )?;
    if !response.hits.is_empty() && !response.only_closest {
        writeln!(out, "{counts}")?;
    }
    Ok(())
}

/// Writes the meanings of the parts of the query that are not only words.
fn write_interpretations(
    out: &mut impl Write,
    interpretations: &[Interpretation],
) -> io::Result<()> {
    if interpretations.is_empty() {
        return Ok(());
    }
    let described: Vec<String> = interpretations
        .iter()
        .map(describe_interpretation)
        .collect();
    writeln!(
        out,
        "interpreted: {} (--literal searches for the words as typed)",
        described.join(", ")
    )
}

fn describe_interpretation(part: &Interpretation) -> String {
    if part.kind == InterpretationKind::Translation {
        let language = language_name(part.language.as_deref().unwrap_or_default());
        return format!(
            "{} “{}” as {}",
            safe(language),
            safe(&part.text),
            safe(&part.first_translations())
        );
    }
    let sign = if part.excluded { "without " } else { "" };
    let note = match part.kind {
        InterpretationKind::Unknown if part.excluded => " (in no dataset; ignored)",
        InterpretationKind::Unknown => " (in no dataset; searched for as words)",
        InterpretationKind::Ignored => " (common or too many words; ignored)",
        _ => "",
    };
    let kind = match part.kind {
        InterpretationKind::Unknown => "name",
        InterpretationKind::Ignored => "words",
        kind => kind.name(),
    };
    format!("{sign}{kind} “{}”{note}", safe(&part.text))
}

/// Writes the options for the filters that words of the query suggest.
fn write_suggested_filters(out: &mut impl Write, filters: &[SuggestedFilter]) -> io::Result<()> {
    if filters.is_empty() {
        return Ok(());
    }
    let mut described = Vec::new();
    for one in filters {
        let number = counted(one.with_words, "dataset");
        described.push(format!(
            "--{}={} for “{}” ({number})",
            one.parameter,
            one.value,
            safe(&one.text)
        ));
    }
    writeln!(out, "suggested filters: {}", described.join(", "))
}

/// Writes the corrected or the suggested spelling, if there is one.
fn write_suggestion(
    out: &mut impl Write,
    style: Style,
    response: &SearchResponse,
) -> io::Result<()> {
    if let Some(corrected) = &response.corrected {
        return writeln!(
            out,
            "searched for “{}” (--literal searches for the words as typed)",
            style.strong(&safe(corrected))
        );
    }
    match &response.suggestion {
        Some(suggestion) => writeln!(out, "Did you mean “{}”?", style.strong(&safe(suggestion))),
        None => Ok(()),
    }
}

/// Writes the number of re-ranked candidates and the encoders.
fn write_rerank(out: &mut impl Write, rerank: &RerankSummary) -> io::Result<()> {
    let encoders: Vec<String> = rerank.encoders.iter().map(encoder_note).collect();
    if let Some(weight) = rerank.popularity {
        writeln!(
            out,
            "popularity prior added: {weight} · ln(1 + uses or names), as of the catalogue"
        )?;
    }
    if encoders.is_empty() {
        writeln!(out, "{}", counted(rerank.candidates as u64, "candidate"))?;
    } else {
        writeln!(
            out,
            "{} re-ranked by {}",
            counted(rerank.candidates as u64, "candidate"),
            encoders.join(" and ")
        )?;
    }
    match &rerank.cross_encoder {
        Some(PairSummary {
            model,
            deadline_passed: true,
            scored,
        }) => writeln!(
            out,
            "the cross-encoder {} scored {} before its deadline: the order is that without it",
            safe(model),
            counted(*scored, "dataset")
        ),
        Some(PairSummary { model, scored, .. }) => {
            writeln!(
                out,
                "the first {} ordered by the cross-encoder {}",
                counted(*scored, "dataset"),
                safe(model)
            )
        }
        None => Ok(()),
    }
}

/// Returns the method of an encoder and its model.
fn encoder_note(encoder: &EncoderSummary) -> String {
    format!(
        "{} ({})",
        method_name(encoder.granularity),
        safe(&encoder.model)
    )
}

/// Writes the number of datasets whose vectors are missing or damaged, with the remedy, for each encoder.
fn write_missing_vectors(out: &mut impl Write, rerank: &RerankSummary) -> io::Result<()> {
    for encoder in &rerank.encoders {
        let model = safe(&encoder.model);
        if encoder.unencoded > 0 {
            let datasets = counted(encoder.unencoded as u64, "dataset");
            writeln!(
                out,
                "{datasets} not encoded yet; run `lodeseek index` with the model {model}"
            )?;
        }
        if encoder.damaged > 0 {
            let datasets = counted(encoder.damaged as u64, "dataset");
            writeln!(
                out,
                "{datasets} with damaged vectors; run `lodeseek repair`, then `lodeseek index` with the model {model}"
            )?;
        }
    }
    Ok(())
}

/// Writes properties that only some catalogues have: tasks, modalities, languages and the introducing work.
fn write_themes(out: &mut impl Write, metadata: &Metadata) -> io::Result<()> {
    for (name, scheme) in [
        ("tasks", Scheme::Task),
        ("modalities", Scheme::Modality),
        ("languages", Scheme::Language),
    ] {
        let labels: Vec<&str> = metadata.themes_of(scheme).collect();
        if !labels.is_empty() {
            writeln!(out, "    {name}: {}", cut(&labels.join(", "), 120))?;
        }
    }
    if let Some(work) = metadata.introduced_by.first() {
        writeln!(out, "    introduced by “{}”", cut(&work.title, 120))?;
    }
    Ok(())
}

/// Writer of hits.
struct View<'v> {
    style: Style,
    response: &'v SearchResponse,
    request: &'v SearchRequest,
    /// The examples as named by the user.
    examples: &'v [String],
}

impl View<'_> {
    /// Writes rank, title and id; with --explain also the score.
    fn write_title(&self, out: &mut impl Write, hit: &Hit) -> io::Result<()> {
        let metadata = &hit.card.metadata;
        let score = match hit.score {
            Some(score) if self.request.explain => format!(" {score:.3}"),
            _ => String::new(),
        };
        let title = self.style.strong(&self.mark_words(metadata.title(), 90));
        let address = metadata
            .landing_page
            .as_deref()
            .or(metadata.source.as_deref());
        writeln!(
            out,
            "{:>2}. {}  {}",
            hit.rank,
            self.style.link(&title, address),
            self.style
                .faint(&format!("[{}]{}", safe(metadata.id.as_str()), score))
        )
    }

    fn write_hit(&self, out: &mut impl Write, hit: &Hit) -> io::Result<()> {
        let metadata = &hit.card.metadata;
        writeln!(out)?;
        self.write_title(out, hit)?;
        let mut facts: Vec<String> = metadata
            .agents()
            .take(1)
            .map(|agent| cut(&agent.name, 50))
            .collect();
        facts.extend(metadata.first_year().map(|year| year.to_string()));
        // Catalogues may also list datasets that are not RDF.
        let triples = hit.card.profile.triples;
        facts.extend((triples > 0).then(|| format!("{} triples", grouped(triples))));
        facts.extend(hit.card.licenses().next().map(|license| cut(license, 60)));
        if !facts.is_empty() {
            writeln!(out, "    {}", self.style.faint(&facts.join(" · ")))?;
        }
        if let Some(description) = metadata.description() {
            writeln!(out, "    {}", self.mark_words(description, 160))?;
        }
        if !hit.duplicates.is_empty() {
            let named = hit.duplicates.iter().map(|other| match &other.publisher {
                Some(publisher) => format!("{} [{}]", cut(publisher, 50), safe(other.id.as_str())),
                None => format!("[{}]", safe(other.id.as_str())),
            });
            writeln!(
                out,
                "    also from: {}",
                named.collect::<Vec<_>>().join(", ")
            )?;
        }
        write_themes(out, metadata)?;
        self.write_coverage(out, &hit.card.coverage)?;
        let fields: Vec<String> = hit
            .fields
            .iter()
            .map(|m| format!("{} ({})", m.field, m.terms.join(", ")))
            .collect();
        if !fields.is_empty() {
            writeln!(out, "    matched in {}", fields.join("; "))?;
        } else if hit.is_closest() && hit.works.is_some() {
            writeln!(
                out,
                "    contains none of the words; placed by works that use it"
            )?;
        } else if hit.is_closest() {
            writeln!(
                out,
                "    contains none of the words; a nearest result, below the minimum similarity"
            )?;
        } else if hit.dense.is_empty() {
            writeln!(out, "    contains none of the words")?;
        } else {
            self.write_similar_parts(out, &hit.dense)?;
        }
        if hit.quality == MatchQuality::Weak && !hit.is_closest() {
            writeln!(out, "    weak match")?;
        }
        for similarity in &hit.similar_to {
            self.write_similarity(out, similarity)?;
        }
        if let Some(works) = &hit.works {
            self.write_works(out, works)?;
        }
        if self.request.explain {
            for dense in &hit.dense {
                self.write_dense(out, dense)?;
            }
            if let Some(score) = hit.cross_encoder {
                writeln!(out, "    cross-encoder {score:.3}")?;
            }
        }
        if let Some(explanation) = &hit.explanation {
            for line in explanation.to_string().lines() {
                writeln!(out, "      {}", safe(line))?;
            }
        }
        if !hit.evidence.is_empty() {
            writeln!(out, "    triples that match:")?;
            for evidence in &hit.evidence {
                writeln!(out, "      {}", self.evidence(evidence))?;
            }
        }
        match &hit.table {
            Some(table) => self.write_table(out, table),
            None => self.write_snippet(out, &hit.snippet),
        }
    }

    /// Returns a triple that matches; of a table with the row and the column.
    fn evidence(&self, evidence: &Evidence) -> String {
        let LabelledTriple {
            subject,
            predicate,
            object,
        } = &evidence.triple;
        match evidence.row {
            Some(number) => format!(
                "row {} ({}), column {}: {}",
                grouped(number),
                self.mark_words(&subject.label, 50),
                self.mark_words(&predicate.label, 40),
                self.mark_words(&object.label, 80)
            ),
            None => self.triple(&evidence.triple),
        }
    }

    fn write_table(&self, out: &mut impl Write, table: &SnippetTable) -> io::Result<()> {
        for line in table_lines(table, self.style, Some(&self.response.words)) {
            writeln!(out, "    {} {line}", self.style.faint("│"))?;
        }
        Ok(())
    }

    /// Writes the area and the period if the request filters by them.
    fn write_coverage(&self, out: &mut impl Write, coverage: &Coverage) -> io::Result<()> {
        if let Some(place) = coverage
            .place
            .as_ref()
            .filter(|_| self.request.filter.within.is_some())
        {
            writeln!(out, "    area: {}", safe(&place.to_string()))?;
        }
        if let Some(period) = coverage
            .period
            .as_ref()
            .filter(|_| self.request.filter.covers.is_some())
        {
            writeln!(out, "    dates: {}", safe(&period.to_string()))?;
        }
        Ok(())
    }

    /// Writes the similarity to an example, with the reasons.
    fn write_similarity(
        &self,
        out: &mut impl Write,
        similarity: &ExampleSimilarity,
    ) -> io::Result<()> {
        let example = match self.examples.get(similarity.example) {
            Some(example) => example.as_str(),
            None => "",
        };
        let clauses = similarity.parts.iter().flat_map(SimilarityPart::clauses);
        let reasons: Vec<String> = clauses
            .map(|clause| super::similar::reason(&clause))
            .collect();
        let score = if self.request.explain {
            format!(" ({:.2})", similarity.score)
        } else {
            String::new()
        };
        writeln!(
            out,
            "    similar to {}{score}: {}",
            safe(example),
            reasons.join("; ")
        )
    }

    /// Writes the works near to the query that use the dataset.
    fn write_works(&self, out: &mut impl Write, evidence: &WorkEvidence) -> io::Result<()> {
        let WorkEvidence {
            near, all, works, ..
        } = evidence;
        writeln!(
            out,
            "    used by {} near to the query, of {} in total:",
            counted(*near, "work"),
            grouped(*all as u64)
        )?;
        for work in works {
            let year = work
                .year
                .map(|year| format!(" ({year})"))
                .unwrap_or_default();
            let title = self
                .style
                .link(&self.mark_words(&work.title, 100), work.url.as_deref());
            let similarity = if self.request.explain {
                format!("{:.3} ", work.similarity)
            } else {
                String::new()
            };
            writeln!(out, "      {similarity}{title}{year}")?;
        }
        Ok(())
    }

    /// Writes that a hit is only similar in meaning, with its nearest parts. With --explain, these follow with their scores.
    fn write_similar_parts(&self, out: &mut impl Write, dense: &[DenseMatch]) -> io::Result<()> {
        let mut texts: Vec<&str> = dense
            .iter()
            .flat_map(|dense| &dense.parts)
            .map(|part| part.text.as_str())
            .collect();
        texts.dedup();
        // With --explain, other lines stand between the heading and the parts. Rankings of metadata may have no parts.
        if self.request.explain || texts.is_empty() {
            return writeln!(out, "    contains none of the words; similar in meaning");
        }
        writeln!(out, "    contains none of the words; similar in meaning:")?;
        for text in texts.iter().take(MAX_SIMILAR_PARTS) {
            writeln!(out, "      {}", self.mark_words(text, 120))?;
        }
        Ok(())
    }

    /// Writes the scores by vectors and the nearest parts.
    fn write_dense(&self, out: &mut impl Write, dense: &DenseMatch) -> io::Result<()> {
        let (metadata, data) = (format_score(dense.metadata), format_score(dense.data));
        let model = match dense.is_multilingual {
            true => format!(" by {}", safe(&dense.model)),
            false => String::new(),
        };
        writeln!(
            out,
            "    {}{model} {:.3} (metadata {metadata}, data {data})",
            method_name(dense.granularity),
            dense.score
        )?;
        for part in &dense.parts {
            let kind = match (dense.granularity, part.of) {
                (Granularity::Term, PartKind::Metadata) => "term of the metadata",
                (Granularity::Term, PartKind::Triple) => "term of the data",
                (_, PartKind::Metadata) => "metadata",
                (_, PartKind::Triple) => "triple",
            };
            writeln!(
                out,
                "      {:.3} {kind}: {}",
                part.score,
                self.mark_words(&part.text, 120)
            )?;
        }
        Ok(())
    }

    fn write_snippet(&self, out: &mut impl Write, snippet: &[SnippetTriple]) -> io::Result<()> {
        let (matching, others): (Vec<_>, Vec<_>) = snippet
            .iter()
            .partition(|triple| !triple.matched.is_empty());
        for triple in matching.iter().chain(&others).take(MAX_HIT_TRIPLES) {
            writeln!(
                out,
                "    {} {}",
                self.style.faint("│"),
                self.triple(&triple.triple)
            )?;
        }
        Ok(())
    }

    fn triple(&self, triple: &LabelledTriple) -> String {
        let object = self.mark_words(&triple.object.label, 80);
        let object = if triple.object.kind == lodeseek_snippet::TermKind::Literal {
            format!("“{object}”")
        } else {
            object
        };
        let subject = self.mark_words(&triple.subject.label, 50);
        format!(
            "{subject} — {} — {object}",
            self.mark_words(&triple.predicate.label, 40)
        )
    }

    /// Returns the beginning of a text with the words of the query emphasised.
    fn mark_words(&self, text: &str, length: usize) -> String {
        self.style
            .highlight_words(&cut(text, length), self.response.words.in_text(text))
    }
}

fn format_score(score: Option<f64>) -> String {
    match score {
        Some(score) => format!("{score:.3}"),
        None => "none".to_owned(),
    }
}
