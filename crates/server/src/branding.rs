//! Branding of the pages: links of the footer, a logo, colours, and a theme: a folder with styles, texts and files.
//!
//! All files are read once, when the server starts. The templates themselves are compiled into the program; a theme replaces
//! texts and styles, and adds fragments of HTML at three places.

use crate::locale::{Locale, TextError, TextOverrides};
use axum::body::Bytes;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// Maximum size of one file of a theme, and of a logo, in bytes.
const MAX_FILE_BYTES: u64 = 2 << 20;
/// Maximum number of files below `files/` of a theme.
const MAX_FILES: usize = 200;
/// Minimum contrast of a colour and the page, by WCAG 2.1 AA for text.
const MIN_CONTRAST: f64 = 4.5;
/// Backgrounds of the pages, as in the style sheet: page and panel.
const LIGHT: [&str; 2] = ["#fdfdfb", "#f5f5f0"];
const DARK: [&str; 2] = ["#17181a", "#222325"];
const STYLE: &str = include_str!("../assets/style.css");
const ICON: &str = include_str!("../assets/icon.svg");

/// Media types of files that a theme may contain, by file name extension.
const MEDIA_TYPES: [(&str, &str); 12] = [
    ("css", "text/css; charset=utf-8"),
    ("gif", "image/gif"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/x-icon"),
    ("jpg", "image/jpeg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("ttf", "font/ttf"),
    ("txt", "text/plain; charset=utf-8"),
    ("webp", "image/webp"),
    ("woff2", "font/woff2"),
];

/// Error of a theme or a logo.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrandingError {
    /// A file or folder cannot be read.
    #[error("cannot read {path}: {cause}")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        cause: io::Error,
    },
    /// A file is not supported.
    #[error("{path}: {reason}")]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The reason, with what is supported.
        reason: String,
    },
    /// A file with texts of pages is not valid.
    #[error("{path}: {cause}")]
    Texts {
        /// The file.
        path: PathBuf,
        /// The reason.
        cause: TextError,
    },
}

/// Address of a link in the footer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FooterLink(String);

/// Error of an address that is no link.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0:?} is no link; write an address (https://…), a path of this server (/theme/…) or an e-mail address"
)]
pub struct InvalidFooterLink(String);

impl FromStr for FooterLink {
    type Err = InvalidFooterLink;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = !text
            .chars()
            .any(|c| c.is_whitespace() || c.is_control() || "<>\"".contains(c));
        let is_path = text.starts_with('/') && !text.starts_with("//");
        match text {
            _ if !is_plain => Err(InvalidFooterLink(text.to_owned())),
            _ if is_path || text.starts_with("https://") || text.starts_with("http://") => {
                Ok(Self(text.to_owned()))
            }
            _ if text.strip_prefix("mailto:").is_some_and(is_mail_address) => {
                Ok(Self(text.to_owned()))
            }
            _ if !text.contains([':', '/']) && is_mail_address(text) => {
                Ok(Self(format!("mailto:{text}")))
            }
            _ => Err(InvalidFooterLink(text.to_owned())),
        }
    }
}

fn is_mail_address(text: &str) -> bool {
    text.split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
}

/// Colour of links and buttons, as `#rrggbb`, that is readable on the pages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Color(String);

/// Error of a colour.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ColorError {
    /// The text is no colour.
    #[error("{0:?} is no colour; write #rrggbb, for example #14532d")]
    Syntax(String),
    /// Text in the colour is hard to read.
    #[error(
        "the contrast of {color} and the {pages} pages is {contrast:.1}, below 4.5 (WCAG 2.1 AA); choose a {direction} colour"
    )]
    Contrast {
        /// The colour.
        color: String,
        /// Light or dark pages.
        pages: &'static str,
        /// Contrast ratio, from 1 to 21.
        contrast: f64,
        /// Remedy: a darker or a lighter colour.
        direction: &'static str,
    },
}

impl Color {
    /// Parses a colour for light pages.
    ///
    /// # Errors
    /// If the text is no colour, or too light to be read.
    pub fn for_light_pages(text: &str) -> Result<Self, ColorError> {
        Self::parse(text, LIGHT, ("light", "darker"))
    }

    /// Parses a colour for dark pages.
    ///
    /// # Errors
    /// If the text is no colour, or too dark to be read.
    pub fn for_dark_pages(text: &str) -> Result<Self, ColorError> {
        Self::parse(text, DARK, ("dark", "lighter"))
    }

    fn parse(
        text: &str,
        backgrounds: [&str; 2],
        names: (&'static str, &'static str),
    ) -> Result<Self, ColorError> {
        let luminance =
            relative_luminance(text).ok_or_else(|| ColorError::Syntax(text.to_owned()))?;
        for background in backgrounds.into_iter().filter_map(relative_luminance) {
            let contrast = (luminance.max(background) + 0.05) / (luminance.min(background) + 0.05);
            if contrast < MIN_CONTRAST {
                let (pages, direction) = names;
                return Err(ColorError::Contrast {
                    color: text.to_owned(),
                    pages,
                    contrast,
                    direction,
                });
            }
        }
        Ok(Self(text.to_ascii_lowercase()))
    }
}

/// Returns the relative luminance of a colour `#rrggbb`, from 0 to 1 (WCAG 2.1). `None` if the text is no such colour.
fn relative_luminance(color: &str) -> Option<f64> {
    let digits = color.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut sum = 0.0;
    for (part, weight) in [(0..2, 0.2126), (2..4, 0.7152), (4..6, 0.0722)] {
        let value = f64::from(u8::from_str_radix(digits.get(part)?, 16).ok()?) / 255.0;
        let linear = if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        };
        sum += weight * linear;
    }
    Some(sum)
}

/// A file that the server sends, with its media type.
#[derive(Clone, Debug)]
pub(crate) struct ServedFile {
    pub(crate) bytes: Bytes,
    pub(crate) media_type: &'static str,
}

/// Place of a page where a theme adds HTML.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Place {
    /// Above the content of every page.
    Header,
    /// On the start page, below the search box.
    Start,
    /// Below the links of the footer.
    Footer,
}

impl Place {
    const ALL: [Self; 3] = [Self::Header, Self::Start, Self::Footer];

    fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Start => "start",
            Self::Footer => "footer",
        }
    }
}

/// Files of a theme: styles, texts, fragments of HTML, an icon, and files for them.
#[derive(Clone, Debug, Default)]
pub struct Theme {
    style: String,
    icon: Option<Bytes>,
    pub(crate) texts: Arc<TextOverrides>,
    /// Fragments by place and language; without a language for all others.
    fragments: BTreeMap<(Place, Option<&'static str>), String>,
    files: BTreeMap<String, ServedFile>,
}

impl Theme {
    /// Reads a theme from a folder.
    ///
    /// # Errors
    /// If a file cannot be read or has an unsupported name, or if texts are not valid.
    pub fn read(folder: &Path) -> Result<Self, BrandingError> {
        let mut theme = Self::default();
        for path in list_paths(folder)? {
            let name = file_name(&path);
            match name.as_str() {
                "style.css" => theme.style = read_text(&path)?,
                "icon.svg" => theme.icon = Some(read_text(&path)?.into()),
                "files" => theme.files = read_files(&path)?,
                "messages" => theme.texts = Arc::new(read_messages(&path)?),
                // Hidden files of editors and version control, and notes.
                _ if name.starts_with('.') || name.starts_with("README") => {}
                _ => {
                    let place = parse_fragment_name(&name).ok_or_else(|| BrandingError::Unsupported {
                        path: path.clone(),
                        reason: "unknown name; a theme contains style.css, icon.svg, messages/LANGUAGE.ftl, files/, and \
                                 header.html, start.html and footer.html, or for one language header.LANGUAGE.html and so on"
                            .to_owned(),
                    })?;
                    theme.fragments.insert(place, read_text(&path)?);
                }
            }
        }
        Ok(theme)
    }

    /// Returns the HTML of the theme for a place of a page; an empty text if it has none.
    pub(crate) fn fragment(&self, place: Place, language: &'static str) -> &str {
        let own = self.fragments.get(&(place, Some(language)));
        own.or_else(|| self.fragments.get(&(place, None)))
            .map(String::as_str)
            .unwrap_or_default()
    }

    /// Returns a file below `files/`.
    pub(crate) fn file(&self, name: &str) -> Option<&ServedFile> {
        self.files.get(name)
    }
}

/// Parses the file name of a fragment: `footer.html` or `footer.de.html`.
fn parse_fragment_name(name: &str) -> Option<(Place, Option<&'static str>)> {
    let stem = name.strip_suffix(".html")?;
    let (place, language) = match stem.split_once('.') {
        Some((place, language)) => (place, Some(language)),
        None => (stem, None),
    };
    let place = Place::ALL.into_iter().find(|one| one.name() == place)?;
    match language {
        None => Some((place, None)),
        Some(tag) => Some((place, Some(Locale::from_tag(tag)?.tag()))),
    }
}

fn read_messages(folder: &Path) -> Result<TextOverrides, BrandingError> {
    let mut texts = TextOverrides::default();
    for path in list_paths(folder)? {
        let name = file_name(&path);
        let Some(locale) = name.strip_suffix(".ftl").and_then(Locale::from_tag) else {
            let tags = Locale::ALL
                .map(|locale| format!("{}.ftl", locale.tag()))
                .join(", ");
            return Err(BrandingError::Unsupported {
                path,
                reason: format!("unknown name; supported are {tags}"),
            });
        };
        let text = read_text(&path)?;
        texts
            .add(locale, &text)
            .map_err(|cause| BrandingError::Texts { path, cause })?;
    }
    Ok(texts)
}

fn read_files(folder: &Path) -> Result<BTreeMap<String, ServedFile>, BrandingError> {
    let mut files = BTreeMap::new();
    for path in list_paths(folder)? {
        let name = file_name(&path);
        if files.len() == MAX_FILES {
            let reason = format!("the folder has more than {MAX_FILES} files");
            return Err(BrandingError::Unsupported {
                path: folder.to_owned(),
                reason,
            });
        }
        files.insert(name, read_served_file(&path)?);
    }
    Ok(files)
}

fn read_served_file(path: &Path) -> Result<ServedFile, BrandingError> {
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let known = MEDIA_TYPES
        .iter()
        .find(|(known, _)| extension.as_deref() == Some(*known));
    let Some((_, media_type)) = known else {
        let names = MEDIA_TYPES.map(|(name, _)| name).join(", ");
        let reason = format!("unknown kind of file; supported are {names}");
        return Err(BrandingError::Unsupported {
            path: path.to_owned(),
            reason,
        });
    };
    Ok(ServedFile {
        bytes: read_file(path)?.into(),
        media_type,
    })
}

/// Returns the paths in a folder in the order of their names.
fn list_paths(folder: &Path) -> Result<Vec<PathBuf>, BrandingError> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(|cause| read_error(folder, cause))? {
        paths.push(entry.map_err(|cause| read_error(folder, cause))?.path());
    }
    paths.sort();
    Ok(paths)
}

fn read_error(path: &Path, cause: io::Error) -> BrandingError {
    BrandingError::Read {
        path: path.to_owned(),
        cause,
    }
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn read_file(path: &Path) -> Result<Vec<u8>, BrandingError> {
    let bytes = fs::metadata(path)
        .map_err(|cause| read_error(path, cause))?
        .len();
    if bytes > MAX_FILE_BYTES {
        let reason = format!("the file has {bytes} bytes; the maximum is {MAX_FILE_BYTES}");
        return Err(BrandingError::Unsupported {
            path: path.to_owned(),
            reason,
        });
    }
    fs::read(path).map_err(|cause| read_error(path, cause))
}

fn read_text(path: &Path) -> Result<String, BrandingError> {
    String::from_utf8(read_file(path)?).map_err(|_| BrandingError::Unsupported {
        path: path.to_owned(),
        reason: "the file is not UTF-8".to_owned(),
    })
}

/// Logo: an image.
#[derive(Clone, Debug)]
pub struct Logo(ServedFile);

impl Logo {
    /// Reads a logo from an image file.
    ///
    /// # Errors
    /// If the file cannot be read, or is no image.
    pub fn read(path: &Path) -> Result<Self, BrandingError> {
        let file = read_served_file(path)?;
        if !file.media_type.starts_with("image/") {
            let reason = "a logo is an image: svg, png, webp, jpg or gif".to_owned();
            return Err(BrandingError::Unsupported {
                path: path.to_owned(),
                reason,
            });
        }
        Ok(Self(file))
    }
}

/// Branding of the pages.
#[derive(Clone, Debug, Default)]
pub struct Branding {
    /// Link of the footer to the imprint.
    pub imprint: Option<FooterLink>,
    /// Link of the footer to the privacy policy.
    pub privacy: Option<FooterLink>,
    /// Link of the footer to the accessibility statement.
    pub accessibility: Option<FooterLink>,
    /// Link of the footer to the contact.
    pub contact: Option<FooterLink>,
    /// Colour of links and buttons on light pages.
    pub color: Option<Color>,
    /// Colour of links and buttons on dark pages.
    pub dark_color: Option<Color>,
    /// Logo in the header of every page.
    pub logo: Option<Logo>,
    /// Theme.
    pub theme: Theme,
}

impl Branding {
    pub(crate) fn logo(&self) -> Option<&ServedFile> {
        self.logo.as_ref().map(|logo| &logo.0)
    }

    /// Returns the icon of browser tabs.
    pub(crate) fn icon(&self) -> Bytes {
        self.theme
            .icon
            .clone()
            .unwrap_or_else(|| Bytes::from_static(ICON.as_bytes()))
    }

    /// Returns the style sheet: that of the program, the colours, and that of the theme.
    pub(crate) fn style(&self) -> String {
        let mut style = STYLE.to_owned();
        if let Some(Color(color)) = &self.color {
            let _ = writeln!(
                style,
                "@media not (prefers-color-scheme: dark) {{ :root {{ --accent: {color}; }} }}"
            );
        }
        if let Some(Color(color)) = &self.dark_color {
            let _ = writeln!(
                style,
                "@media (prefers-color-scheme: dark) {{ :root {{ --accent: {color}; }} }}"
            );
        }
        style + &self.theme.style
    }

    /// Returns the e-mail addresses of the contact and of the imprint.
    pub(crate) fn mail_addresses(&self) -> Vec<String> {
        let mut addresses = Vec::new();
        for link in [&self.contact, &self.imprint].into_iter().flatten() {
            if let Some(address) = link.0.strip_prefix("mailto:")
                && !addresses.iter().any(|known| known == address)
            {
                addresses.push(address.to_owned());
            }
        }
        addresses
    }

    /// Returns the links of the footer: (id of the text, address).
    pub(crate) fn links(&self) -> Vec<(&'static str, &str)> {
        let links = [
            ("footer-imprint", &self.imprint),
            ("footer-privacy", &self.privacy),
            ("footer-accessibility", &self.accessibility),
            ("footer-contact", &self.contact),
        ];
        links
            .into_iter()
            .filter_map(|(id, link)| Some((id, link.as_ref()?.0.as_str())))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_addresses_paths_or_mail() {
        for (text, expected) in [
            ("https://e.org/imprint", Some("https://e.org/imprint")),
            ("/theme/imprint.html", Some("/theme/imprint.html")),
            ("open-data@e.org", Some("mailto:open-data@e.org")),
            ("mailto:open-data@e.org", Some("mailto:open-data@e.org")),
            ("javascript:alert(1)", None),
            ("javascript:a@b.c", None),
            ("//e.org/x", None),
            ("imprint.html", None),
            ("https://e.org/a b", None),
            ("", None),
        ] {
            let link = text.parse::<FooterLink>().ok();
            assert_eq!(
                link.as_ref().map(|link| link.0.as_str()),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn colours_must_be_readable() {
        assert!(
            Color::for_light_pages("#14532d").is_ok() && Color::for_dark_pages("#86efac").is_ok()
        );
        let error = Color::for_light_pages("#86efac")
            .expect_err("too light")
            .to_string();
        assert!(
            error.contains("light pages is 1.") && error.ends_with("choose a darker colour"),
            "{error}"
        );
        assert!(
            Color::for_dark_pages("#14532d")
                .expect_err("too dark")
                .to_string()
                .ends_with("choose a lighter colour")
        );
        for wrong in ["green", "#14532", "#14532g", "#1453é", ""] {
            assert!(
                matches!(Color::for_light_pages(wrong), Err(ColorError::Syntax(_))),
                "{wrong}"
            );
        }
        // Black on white has the greatest contrast, 21.
        assert!((relative_luminance("#ffffff").expect("white") - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_backgrounds_are_those_of_the_style_sheet() {
        for color in LIGHT.iter().chain(&DARK) {
            assert!(
                STYLE.lines().take(4).any(|line| line.contains(color)),
                "{color}"
            );
        }
    }

    #[test]
    fn a_theme_replaces_styles_texts_and_fragments() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write("style.css", "body { font-family: serif; }");
        write("footer.html", "<p>City of Northport</p>");
        write("footer.de.html", "<p>Stadt Northport</p>");
        write("messages/en.ftl", "box-search = Go\n");
        write("files/imprint.html", "<h1>Imprint</h1>");
        write("README.md", "ours");
        let theme = Theme::read(folder.path()).expect("a theme");
        assert_eq!(
            theme.fragment(Place::Footer, "de"),
            "<p>Stadt Northport</p>"
        );
        assert_eq!(
            theme.fragment(Place::Footer, "fr"),
            "<p>City of Northport</p>"
        );
        assert_eq!(theme.fragment(Place::Start, "de"), "");
        assert_eq!(
            theme.file("imprint.html").expect("a file").media_type,
            "text/html; charset=utf-8"
        );
        let color = Color::for_light_pages("#7C2D12").expect("a colour");
        let style = Branding {
            theme,
            color: Some(color),
            ..Branding::default()
        }
        .style();
        assert!(style.contains("--accent: #7c2d12") && style.ends_with("serif; }"));

        for (name, text, expected) in [
            (
                "messages/en.ftl",
                "box-serch = Go\n",
                "no page uses the text `box-serch`",
            ),
            (
                "messages/en.ftl",
                "results = { $nummer } results\n",
                "`results` has no variable $nummer",
            ),
            ("messages/en.ftl", "results = { $number", "line 1 is not"),
            (
                "messages/pt.ftl",
                "box-search = Ir\n",
                "supported are en.ftl, de.ftl",
            ),
            (
                "results.html",
                "",
                "unknown name; a theme contains style.css",
            ),
            ("files/run.exe", "", "unknown kind of file"),
        ] {
            let broken = tempfile::tempdir().expect("a folder");
            let path = broken.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, text).expect("a file");
            let error = Theme::read(broken.path()).expect_err(name).to_string();
            assert!(error.contains(expected) && error.contains(name), "{error}");
        }
    }
}
