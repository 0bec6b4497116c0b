//! Chart of the measures as small multiples: a panel for each measure, a bar for each method.

use super::Row;
use anyhow::anyhow;
use lodeseek_snippet::metrics::Report;
use plotters::prelude::*;

/// Width and height of a panel without bars, in pixels.
const PANEL: (u32, u32) = (420, 60);
/// Height of a bar with its distance to the next, in pixels.
const BAR_HEIGHT: u32 = 22;
/// Width of the method names beside the bars, in pixels.
const NAMES_WIDTH: u32 = 150;
const PANELS_PER_ROW: usize = 2;
const COLOUR: RGBColor = RGBColor(0x2b, 0x6c, 0xb0);

/// Draws the rows as SVG.
pub(super) fn draw(rows: &[Row]) -> anyhow::Result<String> {
    let mut panels: Vec<(&str, Vec<f64>)> = Report::NAMES
        .iter()
        .map(|name| {
            (
                *name,
                rows.iter()
                    .map(|row| row.means.get(name).copied().unwrap_or(0.0))
                    .collect(),
            )
        })
        .collect();
    panels.push(("mean ms", rows.iter().map(|row| row.milliseconds).collect()));
    panels.push((
        "p95 ms",
        rows.iter().map(|row| row.p95_milliseconds).collect(),
    ));
    let lines = panels.len().div_ceil(PANELS_PER_ROW);
    let size = (
        PANEL.0 * PANELS_PER_ROW as u32,
        (PANEL.1 + BAR_HEIGHT * rows.len() as u32) * lines as u32,
    );
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE).map_err(drawing_error)?;
        for (area, (title, values)) in root
            .split_evenly((lines, PANELS_PER_ROW))
            .iter()
            .zip(&panels)
        {
            draw_panel(area, title, rows, values)?;
        }
        root.present().map_err(drawing_error)?;
    }
    Ok(svg)
}

fn drawing_error(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("the plot cannot be drawn: {error}")
}

/// Draws one panel. Its axis ends at 1 for measures, and at the longest time for times.
fn draw_panel(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    title: &str,
    rows: &[Row],
    values: &[f64],
) -> anyhow::Result<()> {
    let largest = values.iter().copied().fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 15))
        .margin(8)
        .margin_left(NAMES_WIDTH)
        .margin_right(50)
        .build_cartesian_2d(0.0..largest, (rows.len() as f64)..0.0)
        .map_err(drawing_error)?;
    let bars = values.iter().enumerate().map(|(place, &value)| {
        Rectangle::new(
            [(0.0, place as f64 + 0.15), (value, place as f64 + 0.85)],
            COLOUR.filled(),
        )
    });
    chart.draw_series(bars).map_err(drawing_error)?;
    let style = ("sans-serif", 12).into_font();
    for (place, (row, value)) in rows.iter().zip(values).enumerate() {
        let middle = place as f64 + 0.25;
        let number = Text::new(format!("{value:.3}"), (*value, middle), style.clone());
        chart.plotting_area().draw(&number).map_err(drawing_error)?;
        let (_, y) = chart.backend_coord(&(0.0, middle));
        let (_, top) = area.get_base_pixel();
        area.draw(&Text::new(row.method.clone(), (4, y - top), style.clone()))
            .map_err(drawing_error)?;
    }
    Ok(())
}
