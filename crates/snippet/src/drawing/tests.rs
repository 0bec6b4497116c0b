use super::*;
use proptest::prelude::*;

fn term(kind: TermKind, value: &str) -> LabelledTerm {
    LabelledTerm {
        kind,
        value: value.to_owned(),
        label: value.to_owned(),
        language: None,
        datatype: None,
        direction: None,
        triple: None,
    }
}

fn triple(subject: &str, predicate: &str, object: LabelledTerm) -> LabelledTriple {
    LabelledTriple {
        subject: term(TermKind::Iri, subject),
        predicate: term(TermKind::Iri, predicate),
        object,
    }
}

fn link(subject: &str, predicate: &str, object: &str) -> LabelledTriple {
    triple(subject, predicate, term(TermKind::Iri, object))
}

#[test]
fn what_says_nothing_itself_is_written_into_the_box() {
    let triples = [
        link("plan", "near", "bay"),
        link("plan", "by", "agency"),
        triple("bay", "name", term(TermKind::Literal, "Chesapeake <Bay>")),
        link("plan", rdf::TYPE, "Plan"),
    ];
    let drawing = Drawing::new(&triples);
    assert_eq!((drawing.entities.len(), drawing.links.len()), (2, 1));
    assert_eq!(
        (
            drawing.entities[0].rows.len(),
            drawing.entities[0].classes.as_slice()
        ),
        (1, &["Plan"][..])
    );
    let svg = draw(&triples, "A & B");
    assert!(
        svg.contains("<title>A &amp; B</title>") && svg.contains("“Chesapeake &lt;Bay&gt;”"),
        "{svg}"
    );
}

#[test]
fn what_two_lead_to_has_a_box_though_it_says_nothing() {
    let triples = [
        link("a", "of", "oak"),
        link("b", "of", "oak"),
        link("b", "of", "elm"),
        link("b", "by", "elm"),
    ];
    let drawing = Drawing::new(&triples);
    let boxes: Vec<&str> = drawing
        .entities
        .iter()
        .map(|entity| entity.term.value.as_str())
        .collect();
    assert_eq!(
        (boxes.as_slice(), drawing.links.len()),
        (&["a", "b", "oak"][..], 2)
    );
}

#[test]
fn a_bundle_of_arrows_has_one_name() {
    let triples = [
        link("a", "of", "oak"),
        link("b", "of", "oak"),
        link("c", "of", "oak"),
        link("c", "on", "a"),
    ];
    let svg = draw(&triples, "t");
    assert_eq!(
        (
            svg.matches("class=\"link\"").count(),
            svg.matches("class=\"property\"").count()
        ),
        (4, 2)
    );
}

#[test]
fn what_leads_to_the_middle_stands_on_its_left() {
    let says = |subject: &str| triple(subject, "name", term(TermKind::Literal, "x"));
    let mut triples = vec![
        link("a", "in", "scheme"),
        link("b", "in", "scheme"),
        link("scheme", "top", "c"),
    ];
    triples.extend([link("scheme", "by", "c"), link("a", "near", "b")]);
    triples.extend(["a", "b", "c", "scheme"].map(says));
    let mut drawing = Drawing::new(&triples);
    drawing.arrange();
    let x = |name: &str| {
        drawing
            .entities
            .iter()
            .find(|entity| entity.term.value == name)
            .expect("drawn")
            .x
    };
    assert!(x("a") == x("b") && x("a") < x("scheme") && x("scheme") < x("c"));
    let both = drawing
        .links
        .iter()
        .find(|link| link.labels.len() == 2)
        .expect("two links, one arrow");
    assert_eq!(both.labels, ["top", "by"]);
}

#[test]
fn what_is_cut_can_be_read_whole() {
    let long = "a very long value that no box in any drawing has room for";
    let svg = draw(&[triple("e", "p", term(TermKind::Literal, long))], "");
    assert!(
        svg.contains(&format!("<title>{long}</title>")) && svg.matches(long).count() == 1,
        "{svg}"
    );
    let title = "The observation of Sensor obs1 at the station, number 17";
    let svg = draw(&[triple(title, "p", term(TermKind::Literal, "x"))], "");
    assert!(
        svg.contains(&format!("<title>{title}</title>The observation")),
        "{svg}"
    );
    assert!(
        draw_document(&[], "A").starts_with("<svg ")
            && draw_document(&[], "A").contains("prefers-color-scheme: dark")
    );
}

#[test]
fn similar_names_of_entities_stay_apart() {
    let titles = (0..8).map(|n| {
        truncate_middle(
            &format!("Temperature observed by the Sensor obs{n} in 2020"),
            MAX_BOX_CHARACTERS,
        )
    });
    let titles: std::collections::BTreeSet<String> = titles.collect();
    assert_eq!(titles.len(), 8, "{titles:?}");
    assert!(
        titles
            .iter()
            .all(|title| title.chars().count() <= MAX_BOX_CHARACTERS),
        "{titles:?}"
    );
    assert_eq!(
        truncate_middle("of a  fitting\nlength", 19),
        "of a fitting length"
    );
}

/// Arrows that cross in the middle: each label moves along its own arrow.
#[test]
fn names_move_off_arrows_that_cross() {
    let curve =
        |start: f64, end: f64| Curve([(0.0, start), (100.0, start), (100.0, end), (200.0, end)]);
    let own = curve(0.0, 200.0);
    let other = curve(200.0, 0.0);
    let (lines, others) = (["depends on".to_owned()], other.areas().collect::<Vec<_>>());
    let blind = place_label(&own, &lines, &[], &[]);
    assert!(
        others.iter().any(|area| area.overlaps(&blind)),
        "the middle is where they cross"
    );
    let found = place_label(&own, &lines, &[], &others);
    assert!(
        !others.iter().any(|area| area.overlaps(&found)),
        "{found:?}"
    );
    let everything = [Area {
        x: -1e3,
        y: -1e3,
        width: 1e4,
        height: 1e4,
    }];
    let crowded = place_label(&own, &lines, &[], &everything);
    assert_eq!(
        (crowded.x, crowded.y),
        (blind.x, blind.y),
        "without room, as if there were no other arrow"
    );
}

/// Returns true if a curve enters an area. Tests many points of the curve.
fn crosses(curve: &Curve, area: &Area) -> bool {
    (0..=1000)
        .map(|step| curve.at(f64::from(step) / 1000.0))
        .any(|(x, y)| {
            area.x < x && x < area.x + area.width && area.y < y && y < area.y + area.height
        })
}

proptest! {
    /// No two boxes overlap, none lies outside, every triple is drawn once, and the SVG is well-formed.
    #[test]
    fn pictures_are_sound(edges in proptest::collection::vec((0u8..9, 0u8..3, 0u8..14), 0..25), odd in "\\PC{0,12}") {
        let triples: Vec<LabelledTriple> = edges
            .iter()
            .map(|(s, p, o)| match o {
                9..=11 => triple(&format!("e{s}"), &format!("p{p}"), term(TermKind::Literal, &format!("{odd}{o}"))),
                _ => link(&format!("e{s}"), &format!("p{p}"), &format!("e{o}")),
            })
            .collect();
        let mut drawing = Drawing::new(&triples);
        drawing.arrange();
        let drawn: usize = drawing.entities.iter().map(|entity| entity.rows.len() + entity.classes.len()).sum();
        let linked: usize = drawing.links.iter().map(|link| link.labels.len()).sum();
        prop_assert_eq!(drawn + linked, triples.len());
        for (place, a) in drawing.entities.iter().enumerate() {
            prop_assert!(a.x >= 0.0 && a.y >= 0.0);
            prop_assert!(drawing.entities[..place].iter().all(|b| !a.area().overlaps(&b.area())));
        }
        // No label overlaps another label or a box.
        let mut taken: Vec<Area> = drawing.entities.iter().map(Entity::area).collect();
        for link in &drawing.links {
            let before = taken.clone();
            drawing.arrow(&mut String::new(), link, &mut taken);
            let Some(&name) = taken.get(before.len()) else {
                prop_assert!(drawing.repeats(link));
                continue;
            };
            prop_assert!(before.iter().all(|area| !area.overlaps(&name)));
            // No label overlaps another arrow if a candidate position was free.
            let lines: Vec<String> = link.labels.iter().map(|label| truncate_label(label, MAX_ARROW_CHARACTERS)).collect();
            let others = drawing.obstacles(link);
            let room = label_positions(&drawing.curve(link), &LabelBlock::new(&lines))
                .any(|place| before.iter().chain(&others).all(|area| !area.overlaps(&place)));
            let other = |other: &&Link<'_>| (other.from, other.to) != (link.from, link.to);
            let crossed = drawing.links.iter().filter(other).any(|other| crosses(&drawing.curve(other), &name));
            prop_assert!(!(room && crossed), "{:?}", name);
        }
        let svg = draw(&triples, &odd);
        prop_assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
        prop_assert_eq!(svg.matches("<text ").count(), svg.matches("</text>").count());
        prop_assert_eq!(&svg, &draw(&triples, &odd));
    }
}
