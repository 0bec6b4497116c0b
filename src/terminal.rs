//! Colours, progress bars and numbers for people.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
pub(super) use lodeseek_rdf::grouped;
use std::io::{self, IsTerminal};
use std::time::Duration;

/// Writes emphasis and links where a terminal shows them, and nothing elsewhere.
///
/// `NO_COLOR` forbids colours and `CLICOLOR_FORCE` asks for them where there is no terminal; `FORCE_HYPERLINK` does the same
/// for links.
#[derive(Clone, Copy)]
pub(super) struct Style {
    colours: bool,
    links: bool,
}

impl Style {
    pub(super) fn of_stdout() -> Self {
        let shows = io::stdout().is_terminal()
            && anstyle_query::term_supports_color()
            && anstyle_query::clicolor() != Some(false);
        Self {
            colours: !anstyle_query::no_color() && (anstyle_query::clicolor_force() || shows),
            links: supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout),
        }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colours { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// The text as a link (OSC 8), where the address is one of the web.
    pub(super) fn linked(self, text: &str, address: Option<&str>) -> String {
        let is_web = |address: &&str| address.starts_with("https://") || address.starts_with("http://");
        let is_plain = |address: &&str| address.bytes().all(|byte| byte.is_ascii_graphic());
        match address.filter(is_web).filter(is_plain).filter(|_| self.links) {
            Some(address) => format!("\u{1b}]8;;{address}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\"),
            None => text.to_owned(),
        }
    }

    pub(super) fn strong(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub(super) fn matched(self, text: &str) -> String {
        self.wrap("1;4;33", text)
    }

    /// The text with those of its words emphasised that match.
    pub(super) fn marked(self, text: &str, is_match: impl Fn(&str) -> bool) -> String {
        if !self.colours {
            return text.to_owned();
        }
        let mark = |word: &str| if is_match(word) { self.matched(word) } else { word.to_owned() };
        text.split(' ').map(mark).collect::<Vec<_>>().join(" ")
    }
}

/// Text from data, safe for a terminal: control characters could move its cursor or change its title.
pub(super) fn safe(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// The text cut to a number of characters.
pub(super) fn cut(text: &str, length: usize) -> String {
    let safe = safe(text);
    if safe.chars().count() <= length {
        return safe;
    }
    let mut short: String = safe.chars().take(length.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// A progress bar on stderr; silent where that is no terminal.
pub(super) fn bar(length: u64, template: &str) -> ProgressBar {
    let target =
        if io::stderr().is_terminal() { ProgressDrawTarget::stderr_with_hz(8) } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(length), target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸ "));
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// Items a second, rounded.
pub(super) fn rate(items: u64, time: Duration) -> String {
    grouped((items as f64 / time.as_secs_f64().max(1e-9)).round() as u64)
}

/// The most memory this process ever held, in megabytes, where the system tells.
pub(super) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes / 1024)
}

/// `, peak memory 120 MB` where it is known.
pub(super) fn memory_note() -> String {
    peak_memory().map(|megabytes| format!(", peak memory {megabytes} MB")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts() {
        assert_eq!((grouped(7).as_str(), grouped(1_234_567).as_str()), ("7", "1,234,567"));
        assert_eq!(cut("a\u{1b}[31mb", 4), "a […");
        assert_eq!(rate(100, Duration::from_secs(2)), "50");
    }

    #[test]
    fn words_are_marked_where_it_shows() {
        let marked = |colours: bool| Style { colours, links: false }.marked("a red oak", |word| word == "red");
        assert_eq!(marked(false), "a red oak");
        assert_eq!(marked(true), "a \u{1b}[1;4;33mred\u{1b}[0m oak");
    }

    #[test]
    fn titles_are_links_where_that_shows() {
        let linked = |links: bool, address| Style { colours: false, links }.linked("Oaks", address);
        let link = "\u{1b}]8;;https://e.org/oaks\u{1b}\\Oaks\u{1b}]8;;\u{1b}\\";
        assert_eq!(linked(true, Some("https://e.org/oaks")), link);
        assert_eq!(linked(false, Some("https://e.org/oaks")), "Oaks");
        for address in [None, Some("javascript:alert(1)"), Some("https://e.org/\u{1b}[2J"), Some("https://e.org/a b")] {
            assert_eq!(linked(true, address), "Oaks", "{address:?}");
        }
    }
}
