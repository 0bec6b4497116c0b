//! Tests every rule by an example, and the matcher against exhaustive search.

use super::lexicon::NameMatch;
use super::text::{name_key, stands_alone};
use super::*;
use lodeseek_catalog::{Metadata, Text};
use proptest::prelude::*;

fn dataset(id: &str, names: &[&str]) -> Metadata {
    let titles = names[..1].iter().map(|name| Text::plain(*name)).collect();
    let alternatives = names[1..].iter().map(|name| Text::plain(*name)).collect();
    Metadata {
        titles,
        alternatives,
        ..Metadata::new(DatasetId::new(id).expect("an id"))
    }
}

fn datasets() -> Vec<Metadata> {
    let mut leaves = dataset("LFT", &["LFT"]);
    leaves
        .descriptions
        .push(Text::plain("Leaf and Flower Types, 900 photographs."));
    vec![
        dataset("Trees-10", &["Trees-10"]),
        dataset("LeafNet", &["LeafNet"]),
        dataset("LeafNet-A", &["LeafNet-A"]),
        dataset("MAP", &["MAP"]),
        dataset("ORCH", &["ORCH"]),
        dataset("Orchard", &["Orchard"]),
        dataset("Natural_Hedges", &["Natural Hedges"]),
        dataset("Garden_Query_Challenge", &["Garden Query Challenge"]),
        dataset("Open_Meadow_Dataset", &["Open Meadow Dataset"]),
        dataset("Grove", &["Grove", "Grove 2020"]),
        dataset("Grove_2020", &["Grove 2020"]),
        dataset("Copse", &["Copse", "Thicket"]),
        dataset("North", &["North", "Twin Set"]),
        dataset("South", &["South", "Twin Set"]),
        dataset("Trees-to-LeafNet", &["Trees-10-to-LeafNet"]),
        leaves,
    ]
}

fn lexicon() -> Lexicon {
    Lexicon::from_datasets(&datasets()).expect("names")
}

/// A tagger with the statistics of these papers.
fn tagger(papers: &[&str]) -> Tagger {
    let lexicon = lexicon();
    let mut statistics = Statistics::new(&lexicon);
    for paper in papers {
        statistics.add(&lexicon, &[paper]);
    }
    Tagger::new(lexicon, &statistics, &TaggerOptions::default())
}

fn verdicts(tagger: &Tagger, text: &str) -> Vec<(String, Verdict)> {
    tagger
        .tag(&[text])
        .into_iter()
        .map(|mention| (mention.surface, mention.verdict))
        .collect()
}

fn only(text: &str) -> Verdict {
    let found = verdicts(&tagger(&[]), text);
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    found[0].1
}

fn ids(text: &str) -> Vec<String> {
    let mentions = tagger(&[]).tag(&[text]);
    mentions
        .iter()
        .filter_map(Mention::accepted_dataset)
        .map(ToString::to_string)
        .collect()
}

const fn accepted(rule: Rule) -> Verdict {
    Verdict::Accepted(rule)
}

const fn rejected(reason: Reason) -> Verdict {
    Verdict::Rejected(reason)
}

#[test]
fn forms() {
    for (name, form) in [
        ("SGD", Form::Short),
        ("M4", Form::Short),
        ("MNIST", Form::Word),
        ("Places", Form::Word),
        ("spider", Form::Word),
        ("Natural Questions", Form::Phrase),
        ("Human-Parts", Form::Phrase),
        ("MS MARCO", Form::Marked),
        ("ST-VQA", Form::Marked),
        ("CIFAR-10", Form::Marked),
        ("ImageNet", Form::Marked),
        ("WHAM!", Form::Marked),
    ] {
        assert_eq!(Form::from_name(name), form, "{name}");
    }
}

#[test]
fn a_name_ends_where_it_ends() {
    for (text, found) in [
        ("We use LeafNet.", true),
        ("(LeafNet)", true),
        ("LeafNet's trees", true),
        ("a LeafNet-pretrained net", true),
        ("LeafNet-2012 and", true),
        ("on LeafNet/Oaks", true),
        ("on LeafNetV2", false),
        ("on mini-LeafNet", false),
        ("on LeafNet-B", false),
        ("on LeafNet+", false),
        ("on LeafNet_small", false),
        ("MyLeafNet", false),
        ("at https://example.org/LeafNet now", false),
        ("at example.com/LeafNet now", false),
    ] {
        assert_eq!(!ids(text).is_empty(), found, "{text}");
    }
}

#[test]
fn spellings_of_one_name() {
    for (text, found) in [
        ("Trees-10", true),
        ("Trees10", true),
        ("Trees 10", true),
        ("TREES-10", true),
        ("Trees\u{2011}10", true),
        ("Trees  10", true),
        ("Trees - 10", false),
        ("Leaf-Net", true),
        ("Leaf Net", false),
        ("leafnet", false),
        ("Open Meadow", false),
        ("Open Meadow dataset", true),
    ] {
        assert_eq!(!ids(text).is_empty(), found, "{text}");
    }
}

#[test]
fn other_capitals_count_where_papers_mostly_write_the_catalogue_s() {
    let tagger = tagger(&["On LeafNet", "LeafNet again", "and leafnet"]);
    assert_eq!(
        verdicts(&tagger, "Tested with Leafnet."),
        [("Leafnet".to_owned(), accepted(Rule::Distinctive))]
    );
}

#[test]
fn the_longest_name_wins() {
    assert_eq!(ids("on LeafNet-A alone"), ["LeafNet-A"]);
    assert_eq!(ids("LeafNet and LeafNet-A"), ["LeafNet", "LeafNet-A"]);
    // A longer match that is no name suppresses nothing.
    assert_eq!(ids("a LeafNet-adapted net"), ["LeafNet"]);
}

#[test]
fn a_way_between_datasets_names_both() {
    assert_eq!(ids("from Trees-10 to LeafNet"), ["Trees-10", "LeafNet"]);
}

#[test]
fn a_shared_name_belongs_to_the_dataset_that_has_it_for_its_own() {
    assert_eq!(ids("on the Grove 2020 dataset"), ["Grove_2020"]);
    let mentions = tagger(&[]).tag(&["on the Twin Set dataset"]);
    assert_eq!(mentions[0].verdict, rejected(Reason::Shared));
    let owners: Vec<&str> = mentions[0].datasets.iter().map(DatasetId::as_str).collect();
    assert_eq!(owners, ["North", "South"]);
}

#[test]
fn ambiguous_names_need_evidence() {
    assert_eq!(only("We train with MAP."), rejected(Reason::NoEvidence));
    assert_eq!(only("the MAP dataset"), accepted(Rule::Cued));
    assert_eq!(only("datasets such as MAP"), accepted(Rule::Cued));
    assert_eq!(
        only("MAP, a large dataset of gardens"),
        accepted(Rule::Cued)
    );
    assert_eq!(only("Results are reported on MAP."), accepted(Rule::Cued));
    assert_eq!(
        only("On MAP, we obtain good results."),
        accepted(Rule::Cued)
    );
    assert_eq!(only("We sat on MAP."), rejected(Reason::NoEvidence));
    assert_eq!(
        only("on this dataset, MAP converges"),
        rejected(Reason::NoEvidence)
    );
    assert_eq!(
        only("results on MAP estimation"),
        rejected(Reason::OtherThing)
    );
    let twice = verdicts(&tagger(&[]), "We take ORCH. Then ORCH grows.");
    assert!(
        twice
            .iter()
            .all(|(_, verdict)| *verdict == accepted(Rule::Repeated)),
        "{twice:?}"
    );
}

#[test]
fn an_accepted_mention_confirms_other_names_of_its_dataset() {
    let found = verdicts(
        &tagger(&[]),
        "We use the Copse dataset. Then Thicket grows.",
    );
    let verdicts: Vec<Verdict> = found.into_iter().map(|(_, verdict)| verdict).collect();
    assert_eq!(verdicts, [accepted(Rule::Cued), accepted(Rule::Confirmed)]);
}

#[test]
fn what_is_said_of_a_list_is_said_of_its_items() {
    for text in [
        "We use datasets such as Oaks, ORCH and Pines.",
        "on the Oaks, ORCH and Pines datasets",
        "experiments on Oaks 3, ORCH and Pines",
        "from ORCH $\\to$ LeafNet",
        "with ORCH and LeafNet",
    ] {
        let found = verdicts(&tagger(&[]), text);
        let own = found
            .iter()
            .find(|(surface, _)| surface == "ORCH")
            .expect(text);
        assert!(
            matches!(own.1, Verdict::Accepted(Rule::Listed)),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn what_a_paper_explains_or_brings_is_its_own() {
    for (text, verdict) in [
        (
            "Leafy fern trees (LFT) grow.",
            rejected(Reason::ExplainedOtherwise),
        ),
        (
            "the LFT (leafy fern trees) grow",
            rejected(Reason::ExplainedOtherwise),
        ),
        (
            "Leaf and Flower Types (LFT) grow.",
            accepted(Rule::Explained),
        ),
        (
            "Look at LFT (Leaf and Flower Types).",
            accepted(Rule::Explained),
        ),
        (
            "Telling leaf and flower types (LFT) is hard.",
            rejected(Reason::ExplainedOtherwise),
        ),
        (
            "the Leafy Fern Testbed (LFT) grows",
            accepted(Rule::Explained),
        ),
        ("We propose ORCH.", rejected(Reason::OtherThing)),
        ("our framework ORCH grows", rejected(Reason::OtherThing)),
        (
            "ORCH, a fast pruning algorithm",
            rejected(Reason::OtherThing),
        ),
        ("ORCH: Pruning in Order", rejected(Reason::OtherThing)),
        ("ORCH: A Dataset of Fruit", accepted(Rule::Cued)),
    ] {
        assert_eq!(only(text), verdict, "{text}");
    }
    let twice = verdicts(&tagger(&[]), "We propose ORCH. ORCH grows.");
    assert!(
        twice
            .iter()
            .all(|(_, verdict)| *verdict == rejected(Reason::OtherThing)),
        "{twice:?}"
    );
}

#[test]
fn statistics_tell_ordinary_words_and_methods() {
    let gardens = ["an orchard", "the orchard", "orchard trees", "Orchard"];
    let known = tagger(&gardens);
    assert_eq!(
        verdicts(&known, "Results on Orchard.")[0].1,
        rejected(Reason::Foreign)
    );
    assert_eq!(
        verdicts(&known, "the Orchard dataset")[0].1,
        accepted(Rule::Cued)
    );
    let cued = tagger(&["the ORCH dataset"; 5]);
    assert_eq!(
        verdicts(&cued, "We like ORCH.")[0].1,
        accepted(Rule::Distinctive)
    );
    let bare = tagger(&["We optimise with ORCH."; 5]);
    assert_eq!(
        verdicts(&bare, "We take ORCH. ORCH is fast.")[0].1,
        rejected(Reason::Foreign)
    );
    let marked = tagger(&["We optimise with LeafNet."; 5]);
    assert_eq!(
        verdicts(&marked, "We like LeafNet.")[0].1,
        rejected(Reason::NoEvidence)
    );
}

#[test]
fn a_word_inside_a_longer_name_is_none() {
    assert_eq!(
        only("the Wall Orchard Journal corpus"),
        rejected(Reason::PartOfName)
    );
    assert_eq!(only("The Orchard corpus"), accepted(Rule::Cued));
    assert_eq!(only("It is. Existing Orchard corpus"), accepted(Rule::Cued));
}

#[test]
fn phrases_that_say_what_they_are_need_no_more() {
    assert_eq!(
        only("We solve the Garden Query Challenge."),
        accepted(Rule::Distinctive)
    );
    assert_eq!(
        only("We grow Natural Hedges."),
        rejected(Reason::NoEvidence)
    );
}

#[test]
fn places_are_bytes_of_the_text() {
    let text = "Äpfel in “Trees 10” über LeafNet";
    for mention in tagger(&[]).tag(&["", text]) {
        assert_eq!(
            (mention.text, &text[mention.place.clone()]),
            (1, mention.surface.as_str())
        );
    }
    assert!(tagger(&[]).tag(&[]).is_empty() && tagger(&[]).tag(&["", "İ ŉ ß"]).is_empty());
}

#[test]
fn agreement_by_hand() {
    let set = |ids: &[&str]| {
        ids.iter()
            .map(|id| (*id).to_owned())
            .collect::<BTreeSet<String>>()
    };
    let mut agreement = Agreement::default();
    agreement.add(&set(&["a", "b"]), &set(&["a"]));
    agreement.add(&set(&["a"]), &set(&["a", "c", "d"]));
    agreement.add(&set(&["e"]), &set(&["e"]));
    assert_eq!(
        agreement.pairs,
        PairCounts {
            both: 3,
            ours_alone: 1,
            theirs_alone: 2
        }
    );
    assert_eq!(
        (agreement.pairs.precision(), agreement.pairs.recall()),
        (0.75, 0.6)
    );
    assert!((agreement.pairs.f1() - 2.0 / 3.0).abs() < 1e-12);
    let [precision, recall, f1] = agreement.per_paper();
    assert!(
        (precision - 2.5 / 3.0).abs() < 1e-12
            && (recall - (1.0 + 1.0 / 3.0 + 1.0) / 3.0).abs() < 1e-12
    );
    assert!((f1 - (2.0 / 3.0 + 0.5 + 1.0) / 3.0).abs() < 1e-12);
    assert_eq!((agreement.papers, agreement.equal), (3, 1));
    assert_eq!(
        agreement.most(|counts| counts.theirs_alone, 9),
        [("c", 1), ("d", 1)]
    );
}

#[test]
fn a_draw_depends_on_its_seed_alone() {
    let pairs: Vec<(usize, String)> = (1..200)
        .map(|line| (line, format!("d{}", line % 7)))
        .collect();
    let drawn = |pairs: Vec<_>, seed| {
        draw_sample(
            pairs,
            |pair: &(usize, String)| (pair.0, pair.1.as_str()),
            20,
            seed,
        )
    };
    let mut turned = pairs.clone();
    turned.reverse();
    assert_eq!(drawn(pairs.clone(), 1), drawn(turned, 1));
    assert_ne!(drawn(pairs.clone(), 1), drawn(pairs.clone(), 2));
    assert_eq!(drawn(pairs[..5].to_vec(), 1), pairs[..5]);
}

/// The names in a text by exhaustive search over all places and names.
fn exhaustive_matches(lexicon: &Lexicon, text: &str) -> Vec<(Range<usize>, Vec<usize>)> {
    let bounds: Vec<usize> = text
        .char_indices()
        .map(|(place, _)| place)
        .chain([text.len()])
        .collect();
    let mut found = Vec::new();
    let mut from = 0;
    while from < bounds.len() {
        let ends = (from + 1..bounds.len())
            .rev()
            .map(|end| bounds[from]..bounds[end]);
        let longest = ends
            .filter(|place| stands_alone(text, place))
            .find_map(|place| {
                let surface = &text[place.clone()];
                let trimmed = surface.trim_matches(super::text::is_separator) == surface;
                let names = lexicon
                    .names
                    .iter()
                    .filter(|name| trimmed && name_key(name.text()) == name_key(surface));
                let owners = names
                    .filter_map(|name| name.owners(surface))
                    .map(|(owners, _)| owners);
                owners
                    .into_iter()
                    .find(|owners| !owners.is_empty())
                    .map(|owners| (place, owners))
            });
        let Some((place, owners)) = longest else {
            from += 1;
            continue;
        };
        while from < bounds.len() && bounds[from] < place.end {
            from += 1;
        }
        found.push((place, owners));
    }
    found
}

proptest! {
    #[test]
    fn the_matcher_finds_what_trying_every_place_finds(
        names in prop::collection::vec("[abAB1]{1,2}[ -]?[abAB1é]{1,4}", 1..8),
        text in "([abAB1é]{1,3}[ ,./-]{0,2}){0,20}",
    ) {
        let datasets: Vec<Metadata> =
            names.iter().enumerate().map(|(own, name)| dataset(&format!("d{own}"), &[name])).collect();
        let lexicon = Lexicon::from_datasets(&datasets).expect("names");
        let uses = lexicon.matches(&text, None);
        let meant = uses.into_iter().filter(|found: &NameMatch| !found.owners.is_empty());
        let found: Vec<_> = meant.map(|found| (found.place, found.owners)).collect();
        prop_assert_eq!(found, exhaustive_matches(&lexicon, &text));
    }

    #[test]
    fn any_text_can_be_tagged(text in "\\PC{0,200}", other in ".{0,200}") {
        let mentions = tagger(&[&text]).tag(&[&text, &other]);
        for mention in mentions {
            prop_assert_eq!(&[&text, &other][mention.text][mention.place.clone()], &mention.surface);
        }
    }
}

/// Bounds on time and stack: numbers may be missing from an acronym, every name of a list scans the list, and text
/// without white space could be one address.
#[test]
fn long_texts_of_one_kind_are_read_in_their_time() {
    let tagger = tagger(&[]);
    let numbers = format!("{}(LFT)", "7 ".repeat(100_000));
    assert_eq!(
        verdicts(&tagger, &numbers),
        [("LFT".to_owned(), rejected(Reason::NoEvidence))]
    );
    let names = [dataset("B", &["BAAAAAAAAAAAAAAA"])];
    let lexicon = Lexicon::from_datasets(&names).expect("names");
    let statistics = Statistics::new(&lexicon);
    let acronym = Tagger::new(lexicon, &statistics, &TaggerOptions::default());
    assert_eq!(
        verdicts(&acronym, &format!("{}(BAAAAAAAAAAAAAAA)", "a ".repeat(40))).len(),
        1
    );
    for joint in [", ", ",", " on "] {
        let list = vec!["Trees-10"; 5_000].join(joint);
        let found = tagger.tag(&[&list]);
        assert!(
            found.len() == 5_000
                && found
                    .iter()
                    .all(|mention| mention.accepted_dataset().is_some()),
            "{joint:?}"
        );
    }
}
