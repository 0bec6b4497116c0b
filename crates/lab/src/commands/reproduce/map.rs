//! Two-dimensional map of papers as SVG, coloured by label, with label names and a legend.

use anyhow::anyhow;
use lodeseek_lab::reproduce::PaperMap;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::collections::BTreeMap;

/// Sizes in pixels: the square of the map, the legend beside it, and the title above it.
const SIDE: u32 = 900;
const LEGEND: u32 = 240;
const TITLE: u32 = 44;
/// Distance in pixels between the outermost papers and the border.
const MARGIN: f64 = 24.0;
const POINT: i32 = 3;
const UNLABELED: RGBColor = RGBColor(0xd4, 0xd4, 0xd4);
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Labels of fewer papers have no name in the map.
const MIN_NAMED_PAPERS: usize = 5;
const NAME_HEIGHT: i32 = 15;
/// Width in pixels of a letter of a name. Names must not overlap.
const LETTER: f64 = 7.4;
const LINE: i32 = 20;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Papers of a label, in pixels of the map.
struct Cluster<'m> {
    label: &'m str,
    colour: RGBColor,
    points: Vec<(i32, i32)>,
}

/// Draws the map as SVG.
pub(super) fn draw(map: &PaperMap) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let root =
            SVGBackend::with_string(&mut svg, (SIDE + LEGEND, SIDE + TITLE)).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let (title, below) = root.split_vertically(TITLE);
        let text = format!(
            "{} papers by {} and t-SNE: k-NN accuracy {:.1} %",
            map.points.len(),
            map.row,
            100.0 * map.accuracy
        );
        title
            .draw(&Text::new(
                text,
                (16, 14),
                ("sans-serif", 18).into_font().color(&INK),
            ))
            .map_err(failed)?;
        let (plane, legend) = below.split_horizontally(SIDE);
        let (clusters, others) = clusters(map);
        dots(&plane, &others, UNLABELED)?;
        for cluster in &clusters {
            dots(&plane, &cluster.points, cluster.colour)?;
        }
        names(&plane, &clusters)?;
        explain(&legend, &clusters, others.len())?;
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("the map cannot be drawn: {error}")
}

/// Groups papers by label, largest label first, and separates papers without a label.
fn clusters(map: &PaperMap) -> (Vec<Cluster<'_>>, Vec<(i32, i32)>) {
    let mut by_label = BTreeMap::<&str, Vec<(i32, i32)>>::new();
    let mut others = Vec::new();
    for (place, label) in pixels(&map.points).into_iter().zip(&map.labels) {
        match label {
            Some(label) => by_label.entry(label).or_default().push(place),
            None => others.push(place),
        }
    }
    let mut all: Vec<(&str, Vec<(i32, i32)>)> = by_label.into_iter().collect();
    all.sort_by_key(|(_, points)| std::cmp::Reverse(points.len()));
    let coloured = all.into_iter().enumerate();
    (
        coloured
            .map(|(place, (label, points))| Cluster {
                label,
                colour: colour(place),
                points,
            })
            .collect(),
        others,
    )
}

/// Maps points to pixels of the square and keeps their proportions.
fn pixels(points: &[[f32; 2]]) -> Vec<(i32, i32)> {
    let bounds = |axis: usize| {
        let values = points.iter().map(|point| f64::from(point[axis]));
        (
            values.clone().fold(f64::INFINITY, f64::min),
            values.fold(f64::NEG_INFINITY, f64::max),
        )
    };
    let ((left, right), (bottom, top)) = (bounds(0), bounds(1));
    let room = f64::from(SIDE) - 2.0 * MARGIN;
    // Points at one position have no extent to scale.
    let scale = room / (right - left).max(top - bottom).max(1e-9);
    let centred = |value: f64, low: f64, high: f64| {
        (value - (low + high) / 2.0) * scale + f64::from(SIDE) / 2.0
    };
    let pixel = |point: &[f32; 2]| {
        let (x, y) = (
            centred(f64::from(point[0]), left, right),
            centred(f64::from(point[1]), bottom, top),
        );
        (x as i32, SIDE as i32 - y as i32)
    };
    points.iter().map(pixel).collect()
}

/// Returns the colour of a label. Hues are a golden angle apart; they nearly repeat after 13 and 21 labels, so every
/// twelve labels change lightness.
fn colour(place: usize) -> RGBColor {
    let hue = (place as f64 * 0.618_033_988_75 + 0.58).fract();
    let (saturation, lightness) = [(0.75, 0.45), (0.60, 0.34), (0.70, 0.60)][place / 12 % 3];
    let (red, green, blue) = HSLColor(hue, saturation, lightness).rgb();
    RGBColor(red, green, blue)
}

fn dots(area: &Area<'_>, points: &[(i32, i32)], colour: RGBColor) -> anyhow::Result<()> {
    for &point in points {
        area.draw(&Circle::new(point, POINT, colour.mix(0.85).filled()))
            .map_err(failed)?;
    }
    Ok(())
}

/// Writes a label's name at the median of its papers, shifted so that names do not overlap.
fn names(area: &Area<'_>, clusters: &[Cluster<'_>]) -> anyhow::Result<()> {
    let mut taken: Vec<[i32; 4]> = Vec::new();
    for cluster in clusters
        .iter()
        .filter(|cluster| cluster.points.len() >= MIN_NAMED_PAPERS)
    {
        let Some((place, rectangle)) = free(median(&cluster.points), cluster.label, &taken) else {
            continue;
        };
        taken.push(rectangle);
        let style = |colour: &RGBColor| {
            let font = ("sans-serif", f64::from(NAME_HEIGHT))
                .into_font()
                .style(FontStyle::Bold);
            font.color(colour).pos(Pos::new(HPos::Center, VPos::Center))
        };
        // A white outline keeps the name readable on points of any colour.
        for (x, y) in [
            (-1, -1),
            (-1, 1),
            (1, -1),
            (1, 1),
            (0, -2),
            (0, 2),
            (-2, 0),
            (2, 0),
        ] {
            let rim = Text::new(cluster.label, (place.0 + x, place.1 + y), style(&WHITE));
            area.draw(&rim).map_err(failed)?;
        }
        area.draw(&Text::new(cluster.label, place, style(&INK)))
            .map_err(failed)?;
    }
    Ok(())
}

fn median(points: &[(i32, i32)]) -> (i32, i32) {
    let of = |mut values: Vec<i32>| {
        values.sort_unstable();
        values[values.len() / 2]
    };
    (
        of(points.iter().map(|point| point.0).collect()),
        of(points.iter().map(|point| point.1).collect()),
    )
}

/// Returns the nearest position above or below, within three lines, where a name overlaps no other, and its rectangle
/// there.
fn free(wanted: (i32, i32), label: &str, taken: &[[i32; 4]]) -> Option<((i32, i32), [i32; 4])> {
    let half = ((label.chars().count() as f64 * LETTER / 2.0) as i32).min(SIDE as i32 / 2 - 4);
    let x = wanted.0.clamp(half + 4, SIDE as i32 - half - 4);
    let shifts = (0..=3 * NAME_HEIGHT).flat_map(|shift| [shift, -shift]);
    shifts
        .map(|shift| (x, wanted.1 + shift))
        .find_map(|(x, y)| {
            let own = [x - half, y - NAME_HEIGHT / 2, x + half, y + NAME_HEIGHT / 2];
            taken
                .iter()
                .all(|other| {
                    own[2] < other[0] || other[2] < own[0] || own[3] < other[1] || other[3] < own[1]
                })
                .then_some(((x, y), own))
        })
}

fn explain(area: &Area<'_>, clusters: &[Cluster<'_>], others: usize) -> anyhow::Result<()> {
    let entries = clusters
        .iter()
        .map(|cluster| (cluster.label, cluster.colour, cluster.points.len()));
    let entries = entries.chain((others > 0).then_some(("unlabelled", UNLABELED, others)));
    let room = (SIDE as i32 - LINE) / LINE;
    let font = ("sans-serif", 13).into_font();
    for (line, (label, colour, count)) in (0..room).zip(entries) {
        let y = LINE * (line + 1);
        area.draw(&Circle::new((10, y), 5, colour.filled()))
            .map_err(failed)?;
        let style = font
            .clone()
            .color(&INK)
            .pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(format!("{label} ({count})"), (22, y), style))
            .map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> PaperMap {
        let labels = |place: usize| {
            ["RL", "GANs & <more>"]
                .get(place % 3)
                .map(|label| (*label).to_owned())
        };
        PaperMap {
            row: "TF-IDF".to_owned(),
            accuracy: 0.5,
            points: (0..60_u8)
                .map(|place| [f32::from(place % 8), f32::from(place / 8)])
                .collect(),
            labels: (0..60).map(labels).collect(),
        }
    }

    #[test]
    fn every_paper_and_every_label_is_drawn() {
        let svg = draw(&map()).expect("a picture");
        assert_eq!(
            svg.matches("<circle").count(),
            60 + 3,
            "papers, and the legend's"
        );
        assert!(
            svg.contains("RL (20)") && svg.contains("unlabelled (20)") && svg.contains("50.0 %")
        );
        assert!(svg.contains("GANs &amp; &lt;more&gt;"), "names are escaped");
    }

    #[test]
    fn a_name_moves_where_another_stands() {
        let (first, taken) = free((450, 450), "GANs", &[]).expect("room");
        let (second, _) = free((450, 450), "RNNs", &[taken]).expect("room");
        assert_eq!((first, second), ((450, 450), (450, 465)));
        assert_eq!(
            free((2, 450), "GANs", &[]).map(|(place, _)| place),
            Some((18, 450)),
            "within the picture"
        );
        assert_eq!(
            free((2, 450), &"GAN".repeat(99), &[]).map(|(place, _)| place),
            Some((450, 450)),
            "wider than it"
        );
    }

    #[test]
    fn points_on_one_spot_are_in_the_middle() {
        assert_eq!(pixels(&[[1.0, 1.0], [1.0, 1.0]]), [(450, 450), (450, 450)]);
    }
}
