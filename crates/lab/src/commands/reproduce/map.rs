//! Two-dimensional map of papers as SVG, coloured by label, with label names and a legend.

use anyhow::anyhow;
use lodeseek_lab::reproduce::PaperMap;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::collections::BTreeMap;

/// Sizes in pixels: the square of the map, the legend beside it, and the title above it.
const MAP_SIDE: u32 = 900;
const LEGEND_WIDTH: u32 = 240;
const TITLE_HEIGHT: u32 = 44;
/// Distance in pixels between the outermost papers and the border.
const MAP_MARGIN: f64 = 24.0;
const POINT_RADIUS: i32 = 3;
const UNLABELED: RGBColor = RGBColor(0xd4, 0xd4, 0xd4);
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Labels of fewer papers have no name in the map.
const MIN_NAMED_PAPERS: usize = 5;
const NAME_HEIGHT: i32 = 15;
/// Width in pixels of a letter of a name. Names must not overlap.
const LETTER_WIDTH: f64 = 7.4;
const LINE_HEIGHT: i32 = 20;

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
            SVGBackend::with_string(&mut svg, (MAP_SIDE + LEGEND_WIDTH, MAP_SIDE + TITLE_HEIGHT))
                .into_drawing_area();
        root.fill(&WHITE).map_err(drawing_error)?;
        let (title, below) = root.split_vertically(TITLE_HEIGHT);
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
            .map_err(drawing_error)?;
        let (plane, legend) = below.split_horizontally(MAP_SIDE);
        let (clusters, others) = group_by_label(map);
        draw_points(&plane, &others, UNLABELED)?;
        for cluster in &clusters {
            draw_points(&plane, &cluster.points, cluster.colour)?;
        }
        draw_names(&plane, &clusters)?;
        draw_legend(&legend, &clusters, others.len())?;
        root.present().map_err(drawing_error)?;
    }
    Ok(svg)
}

fn drawing_error(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("the map cannot be drawn: {error}")
}

/// Groups papers by label, largest label first, and separates papers without a label.
fn group_by_label(map: &PaperMap) -> (Vec<Cluster<'_>>, Vec<(i32, i32)>) {
    let mut by_label = BTreeMap::<&str, Vec<(i32, i32)>>::new();
    let mut others = Vec::new();
    for (place, label) in map_to_pixels(&map.points).into_iter().zip(&map.labels) {
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
                colour: label_colour(place),
                points,
            })
            .collect(),
        others,
    )
}

/// Maps points to pixels of the square and keeps their proportions.
fn map_to_pixels(points: &[[f32; 2]]) -> Vec<(i32, i32)> {
    let ((left, right), (bottom, top)) = (axis_bounds(points, 0), axis_bounds(points, 1));
    let room = f64::from(MAP_SIDE) - 2.0 * MAP_MARGIN;
    // Points at one position have no extent to scale.
    let scale = room / (right - left).max(top - bottom).max(1e-9);
    let half = f64::from(MAP_SIDE) / 2.0;
    let mut pixels = Vec::with_capacity(points.len());
    for &[x, y] in points {
        let x = (f64::from(x) - (left + right) / 2.0) * scale + half;
        let y = (f64::from(y) - (bottom + top) / 2.0) * scale + half;
        pixels.push((x as i32, MAP_SIDE as i32 - y as i32));
    }
    pixels
}

/// Returns the smallest and the largest coordinate of points.
fn axis_bounds(points: &[[f32; 2]], axis: usize) -> (f64, f64) {
    let values = points.iter().map(|point| f64::from(point[axis]));
    (
        values.clone().fold(f64::INFINITY, f64::min),
        values.fold(f64::NEG_INFINITY, f64::max),
    )
}

/// Returns the colour of a label. Hues are a golden angle apart; they nearly repeat after 13 and 21 labels, so every
/// twelve labels change lightness.
fn label_colour(place: usize) -> RGBColor {
    let hue = (place as f64 * 0.618_033_988_75 + 0.58).fract();
    let (saturation, lightness) = [(0.75, 0.45), (0.60, 0.34), (0.70, 0.60)][place / 12 % 3];
    let (red, green, blue) = HSLColor(hue, saturation, lightness).rgb();
    RGBColor(red, green, blue)
}

fn draw_points(area: &Area<'_>, points: &[(i32, i32)], colour: RGBColor) -> anyhow::Result<()> {
    for &point in points {
        area.draw(&Circle::new(point, POINT_RADIUS, colour.mix(0.85).filled()))
            .map_err(drawing_error)?;
    }
    Ok(())
}

/// Writes a label's name at the median of its papers, shifted so that names do not overlap.
fn draw_names(area: &Area<'_>, clusters: &[Cluster<'_>]) -> anyhow::Result<()> {
    let mut taken: Vec<[i32; 4]> = Vec::new();
    for cluster in clusters
        .iter()
        .filter(|cluster| cluster.points.len() >= MIN_NAMED_PAPERS)
    {
        let Some((place, rectangle)) =
            find_free_place(median(&cluster.points), cluster.label, &taken)
        else {
            continue;
        };
        taken.push(rectangle);
        let font = ("sans-serif", f64::from(NAME_HEIGHT))
            .into_font()
            .style(FontStyle::Bold);
        let centre = Pos::new(HPos::Center, VPos::Center);
        let outline = font.color(&WHITE).pos(centre);
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
            let rim = Text::new(cluster.label, (place.0 + x, place.1 + y), outline.clone());
            area.draw(&rim).map_err(drawing_error)?;
        }
        let style = font.color(&INK).pos(centre);
        area.draw(&Text::new(cluster.label, place, style))
            .map_err(drawing_error)?;
    }
    Ok(())
}

fn median(points: &[(i32, i32)]) -> (i32, i32) {
    let (mut x, mut y): (Vec<i32>, Vec<i32>) = points.iter().copied().unzip();
    x.sort_unstable();
    y.sort_unstable();
    (x[x.len() / 2], y[y.len() / 2])
}

/// Returns the nearest position above or below, within three lines, where a name overlaps no other, and its rectangle
/// there.
fn find_free_place(
    preferred: (i32, i32),
    label: &str,
    taken: &[[i32; 4]],
) -> Option<((i32, i32), [i32; 4])> {
    let half =
        ((label.chars().count() as f64 * LETTER_WIDTH / 2.0) as i32).min(MAP_SIDE as i32 / 2 - 4);
    let x = preferred.0.clamp(half + 4, MAP_SIDE as i32 - half - 4);
    let shifts = (0..=3 * NAME_HEIGHT).flat_map(|shift| [shift, -shift]);
    shifts
        .map(|shift| (x, preferred.1 + shift))
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

fn draw_legend(area: &Area<'_>, clusters: &[Cluster<'_>], others: usize) -> anyhow::Result<()> {
    let entries = clusters
        .iter()
        .map(|cluster| (cluster.label, cluster.colour, cluster.points.len()));
    let entries = entries.chain((others > 0).then_some(("unlabelled", UNLABELED, others)));
    let room = (MAP_SIDE as i32 - LINE_HEIGHT) / LINE_HEIGHT;
    let font = ("sans-serif", 13).into_font();
    for (line, (label, colour, count)) in (0..room).zip(entries) {
        let y = LINE_HEIGHT * (line + 1);
        area.draw(&Circle::new((10, y), 5, colour.filled()))
            .map_err(drawing_error)?;
        let style = font
            .clone()
            .color(&INK)
            .pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(format!("{label} ({count})"), (22, y), style))
            .map_err(drawing_error)?;
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
        let (first, taken) = find_free_place((450, 450), "GANs", &[]).expect("room");
        let (second, _) = find_free_place((450, 450), "RNNs", &[taken]).expect("room");
        assert_eq!((first, second), ((450, 450), (450, 465)));
        assert_eq!(
            find_free_place((2, 450), "GANs", &[]).map(|(place, _)| place),
            Some((18, 450)),
            "within the picture"
        );
        assert_eq!(
            find_free_place((2, 450), &"GAN".repeat(99), &[]).map(|(place, _)| place),
            Some((450, 450)),
            "wider than it"
        );
    }

    #[test]
    fn points_on_one_spot_are_in_the_middle() {
        assert_eq!(
            map_to_pixels(&[[1.0, 1.0], [1.0, 1.0]]),
            [(450, 450), (450, 450)]
        );
    }
}
