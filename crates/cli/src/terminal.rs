//! Terminal output: colours, links, progress bars and readable numbers.

use super::streams::messages;
use indicatif::{
    HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike,
};
pub use lodeseek_rdf::grouped;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Text style: emphasis and links if the output is a terminal that supports them, else plain text.
///
/// `NO_COLOR` disables colours. `CLICOLOR_FORCE` enables them without a terminal; `FORCE_HYPERLINK` does the same for links.
#[derive(Clone, Copy)]
pub struct Style {
    colours: bool,
    links: bool,
}

impl Style {
    /// Returns the style of stdout.
    pub fn of_stdout() -> Self {
        let shows = io::stdout().is_terminal()
            && anstyle_query::term_supports_color()
            && anstyle_query::clicolor() != Some(false);
        Self {
            colours: !anstyle_query::no_color() && (anstyle_query::clicolor_force() || shows),
            links: supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout),
        }
    }

    /// Returns the style of plain text.
    #[must_use]
    pub const fn plain() -> Self {
        Self {
            colours: false,
            links: false,
        }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colours {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// Returns the text as a link (OSC 8), if the address is an HTTP address without control characters.
    pub fn link(self, text: &str, address: Option<&str>) -> String {
        match address.filter(|address| self.links && is_link_target(address)) {
            Some(address) => format!("\u{1b}]8;;{address}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\"),
            None => text.to_owned(),
        }
    }

    /// Returns the text in bold.
    pub fn strong(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Returns the text dimmed.
    pub fn faint(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// Returns the text emphasised as a match.
    pub fn highlight(self, text: &str) -> String {
        self.wrap("1;4;33", text)
    }

    /// Returns the text with the matching words emphasised.
    pub fn highlight_words(self, text: &str, is_match: impl Fn(&str) -> bool) -> String {
        if !self.colours {
            return text.to_owned();
        }
        let mut words = Vec::new();
        for word in text.split(' ') {
            words.push(match is_match(word) {
                true => self.highlight(word),
                false => word.to_owned(),
            });
        }
        words.join(" ")
    }
}

/// Returns true for an HTTP address that cannot end the control sequence of a link.
fn is_link_target(address: &str) -> bool {
    (address.starts_with("https://") || address.starts_with("http://"))
        && address.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Output format of commands that report a state.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Text.
    Text,
    /// JSON.
    Json,
}

/// Returns a number with its noun in singular or plural, for example `1 dataset` or `1,200 datasets`.
pub fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let number = grouped(count);
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("{number} {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {noun}s"),
    }
}

/// Maximum number of names in a list of the first ones.
const MAX_NAMES: usize = 5;

/// Returns the first names of a list, separated by commas, and the number of the others.
pub fn first_names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(safe).collect();
    if names.len() <= MAX_NAMES {
        return names.join(", ");
    }
    let others = grouped((names.len() - MAX_NAMES) as u64);
    format!("{} and {others} more", names[..MAX_NAMES].join(", "))
}

/// Returns the form of a verb for a number of things, for example `keeps` for one and `keep` for others.
pub fn verb_form<'w>(count: usize, singular: &'w str, plural: &'w str) -> &'w str {
    if count == 1 { singular } else { plural }
}

/// Replaces control characters by spaces: text from data could move the terminal's cursor or change its title.
pub fn safe(text: &str) -> String {
    text.chars()
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect()
}

/// Truncates a text to a number of characters and replaces its control characters.
pub fn cut(text: &str, length: usize) -> String {
    let safe = safe(text);
    if safe.chars().count() <= length {
        return safe;
    }
    let mut short: String = safe.chars().take(length.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Returns a progress bar on stderr. If stderr is not a terminal, a line is written every ten seconds instead.
pub fn bar(length: u64, template: &str) -> ProgressBar {
    if io::stderr().is_terminal() {
        let target = ProgressDrawTarget::stderr_with_hz(8);
        return styled_bar(length, target, template);
    }
    let lines = Box::new(ProgressLines::new());
    let target = ProgressDrawTarget::term_like_with_hz(lines, 1);
    styled_bar(length, target, &line_template(template))
}

/// Returns the template without its moving parts: a line of text has no use for a bar, and a spinner alone would be a line.
fn line_template(template: &str) -> String {
    template.replace("{bar:30} ", "").replace("{spinner} ", "")
}

fn styled_bar(length: u64, target: ProgressDrawTarget, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length), target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        let style = style.with_key("eta", |state: &ProgressState, out: &mut dyn fmt::Write| {
            let left = time_left(
                state.elapsed(),
                state.pos(),
                state.len().unwrap_or_default(),
            );
            let _ = match left {
                Some(left) => write!(out, "{:#}", HumanDuration(left)),
                None => write!(out, "?"),
            }; // indicatif ignores errors, too
        });
        bar.set_style(style.progress_chars("━╸ "));
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// Replaces the numbers of a progress bar by the name of a step whose length is unknown.
pub fn show_step(bar: &ProgressBar, step: &str) {
    if let Ok(style) = ProgressStyle::with_template("{msg} · {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(step.to_owned());
}

/// Returns the time for the rest at the average rate; `None` before the first item is done. indicatif's own estimate is of the last
/// seconds, and grows to days while a large batch is in work.
fn time_left(elapsed: Duration, done: u64, all: u64) -> Option<Duration> {
    if done == 0 {
        return None;
    }
    Some(elapsed.mul_f64(all.saturating_sub(done) as f64 / done as f64))
}

/// Time between two lines of progress without a terminal.
const MIN_LINE_INTERVAL: Duration = Duration::from_secs(10);
/// Width of a line of progress without a terminal, in columns.
const LINE_COLUMNS: u16 = 200;

/// Terminal of a progress bar that writes at most one line every ten seconds to stderr, and no control characters.
#[derive(Debug)]
struct ProgressLines {
    state: Mutex<LineState>,
}

#[derive(Debug)]
struct LineState {
    /// Time of the last line, or of the start.
    written: Instant,
    /// Text drawn since the last flush.
    text: String,
    /// Progress of the last line, without its times.
    progress: String,
}

impl ProgressLines {
    fn new() -> Self {
        let state = LineState {
            written: Instant::now(),
            text: String::new(),
            progress: String::new(),
        };
        Self {
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, LineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LineState {
    /// Returns the line to write now, if the interval has passed and the line has another progress than the last one.
    fn take_line(&mut self, now: Instant) -> Option<String> {
        let text = mem::take(&mut self.text);
        let line = text.trim();
        if line.is_empty() || now.duration_since(self.written) < MIN_LINE_INTERVAL {
            return None;
        }
        let progress = without_times(line);
        if progress == self.progress {
            return None;
        }
        self.progress = progress;
        self.written = now;
        Some(line.to_owned())
    }
}

/// Returns true for a part of a line of progress that is a time or a rate.
fn is_time(part: &str) -> bool {
    part.ends_with(" left")
        || part.ends_with("/s")
        || part
            .chars()
            .all(|c| c.is_ascii_digit() || "smhdwy ".contains(c))
}

/// Returns the parts of a line of progress that are no time and no rate: these change although nothing is done.
fn without_times(line: &str) -> String {
    let parts: Vec<&str> = line.split(" · ").filter(|part| !is_time(part)).collect();
    parts.join(" · ")
}

impl TermLike for ProgressLines {
    fn width(&self) -> u16 {
        LINE_COLUMNS
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.state().text.push_str(text);
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.state().text.clear();
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        match self.state().take_line(Instant::now()) {
            Some(line) => writeln!(messages(), "{line}"),
            None => Ok(()),
        }
    }
}

/// Returns items per second, rounded.
pub fn rate(items: u64, time: Duration) -> String {
    grouped((items as f64 / time.as_secs_f64().max(1e-9)).round() as u64)
}

/// Returns the peak resident memory of this process in megabytes, if the system reports it.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace()
        .next()?
        .parse::<u64>()
        .ok()
        .map(|kilobytes| kilobytes / 1024)
}

/// Returns for example `, peak memory 120 MB`, or an empty text if it is unknown.
pub fn memory_note() -> String {
    peak_memory()
        .map(|megabytes| format!(", peak memory {megabytes} MB"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_the_average_rate() {
        let seconds = Duration::from_secs;
        assert_eq!(time_left(seconds(30), 96, 384), Some(seconds(90)));
        assert_eq!(time_left(seconds(60), 96, 384), Some(seconds(180)));
        assert_eq!(time_left(seconds(60), 0, 384), None);
        assert_eq!(time_left(seconds(60), 384, 384), Some(seconds(0)));
    }

    #[test]
    fn numbers_and_texts() {
        assert_eq!(
            (grouped(7).as_str(), grouped(1_234_567).as_str()),
            ("7", "1,234,567")
        );
        assert_eq!(
            (counted(1_usize, "dataset"), counted(0_usize, "dataset")),
            ("1 dataset".into(), "0 datasets".into())
        );
        assert_eq!(
            (counted(1_u64, "entry"), counted(1_200_u64, "entry")),
            ("1 entry".into(), "1,200 entries".into())
        );
        assert_eq!(cut("a\u{1b}[31mb", 4), "a […");
        assert_eq!(rate(100, Duration::from_secs(2)), "50");
    }

    #[test]
    fn the_first_names_of_a_list() {
        assert_eq!(first_names(["1", "2"]), "1, 2");
        let names: Vec<String> = (1..=1005).map(|number: u32| number.to_string()).collect();
        let first = first_names(names.iter().map(String::as_str));
        assert_eq!(first, "1, 2, 3, 4, 5 and 1,000 more");
    }

    #[test]
    fn progress_without_a_terminal_is_a_line_every_ten_seconds_at_most() {
        let start = Instant::now();
        let mut state = LineState {
            written: start,
            text: String::new(),
            progress: String::new(),
        };
        let mut lines = Vec::new();
        for second in 0..65 {
            // The number changes every 15 seconds, the time left every second.
            let text = format!("reading {} of 9 · {}s left", second / 15, 65 - second);
            state.text.push_str(&text);
            lines.extend(state.take_line(start + Duration::from_secs(second)));
        }
        assert_eq!(
            lines,
            [
                "reading 0 of 9 · 55s left",
                "reading 1 of 9 · 45s left",
                "reading 2 of 9 · 35s left",
                "reading 3 of 9 · 20s left",
                "reading 4 of 9 · 5s left"
            ]
        );
        assert_eq!(state.take_line(start + Duration::from_secs(90)), None);
    }

    #[test]
    fn times_and_rates_are_no_progress() {
        for (line, progress) in [
            (
                "verifying 480 of 481 datasets · 0s left",
                "verifying 480 of 481 datasets",
            ),
            (
                "3 of 9 datasets · 12m · 7 pages · 80 triples/s",
                "3 of 9 datasets · 7 pages",
            ),
            ("verifying the index · 12s", "verifying the index"),
        ] {
            assert_eq!(without_times(line), progress);
        }
    }

    #[test]
    fn a_line_of_progress_has_no_moving_parts() {
        assert_eq!(line_template("{spinner} {msg}"), "{msg}");
        assert_eq!(
            line_template("ranking {bar:30} {pos} of {len} queries"),
            "ranking {pos} of {len} queries"
        );
    }

    #[test]
    fn words_are_marked_if_colours_are_enabled() {
        let marked = |colours: bool| {
            Style {
                colours,
                links: false,
            }
            .highlight_words("a red oak", |word| word == "red")
        };
        assert_eq!(marked(false), "a red oak");
        assert_eq!(marked(true), "a \u{1b}[1;4;33mred\u{1b}[0m oak");
    }

    #[test]
    fn titles_are_links_if_links_are_enabled() {
        let linked = |links: bool, address| {
            Style {
                colours: false,
                links,
            }
            .link("Oaks", address)
        };
        let link = "\u{1b}]8;;https://e.org/oaks\u{1b}\\Oaks\u{1b}]8;;\u{1b}\\";
        assert_eq!(linked(true, Some("https://e.org/oaks")), link);
        assert_eq!(linked(false, Some("https://e.org/oaks")), "Oaks");
        for address in [
            None,
            Some("javascript:alert(1)"),
            Some("https://e.org/\u{1b}[2J"),
            Some("https://e.org/a b"),
        ] {
            assert_eq!(linked(true, address), "Oaks", "{address:?}");
        }
    }
}
