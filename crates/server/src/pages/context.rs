//! The context of a page: the visitor's languages, the address, and the portal's name.

use crate::AppState;
use crate::branding::{Branding, Place};
use crate::locale::{Locale, Texts};
use crate::localized::{Localized, primary_subtag};
use crate::negotiation::languages;
use crate::parameters::pairs;
use crate::portal::PortalState;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use std::convert::Infallible;
use std::fmt::Display;
use std::iter;
use std::sync::Arc;

/// A language in the switch.
pub(crate) struct LanguageLink {
    pub(crate) tag: &'static str,
    pub(crate) name: &'static str,
    pub(crate) href: String,
    pub(crate) chosen: bool,
}

/// The context of a page. Templates take their texts from it.
#[derive(Clone)]
pub(crate) struct PageContext {
    pub(crate) locale: Texts,
    /// The visitor's languages, best first, for texts of datasets.
    pub(crate) languages: Vec<String>,
    /// The parameter `lang`, if it is valid. Links keep it.
    chosen: Option<String>,
    path: String,
    parameters: Vec<(String, String)>,
    portal: Arc<PortalState>,
    branding: Arc<Branding>,
    /// The content of the search box.
    pub(crate) query: String,
}

impl FromRequestParts<AppState> for PageContext {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        Ok(Self::new(
            state,
            parts.uri.path(),
            parts.uri.query().unwrap_or_default(),
            &parts.headers,
        ))
    }
}

impl PageContext {
    fn new(state: &AppState, path: &str, query: &str, headers: &HeaderMap) -> Self {
        let parameters = pairs(query.as_bytes());
        let lang = parameters
            .iter()
            .find(|(name, value)| name == "lang" && !value.is_empty());
        let lang = lang.map(|(_, value)| value.clone());
        let (chosen, languages) = choose_languages(lang, headers);
        let locale = if is_operator_page(path) {
            Locale::English
        } else {
            Locale::best(&languages)
        };
        Self {
            locale: Texts::new(locale, Arc::clone(&state.branding.theme.texts)),
            languages,
            chosen,
            path: path.to_owned(),
            parameters,
            portal: Arc::clone(&state.portal),
            branding: Arc::clone(&state.branding),
            query: String::new(),
        }
    }

    /// Sets the language by the parameter `lang` of a form in the body of the request, if it has one.
    #[must_use]
    pub(crate) fn with_form(mut self, form: &[(String, String)], headers: &HeaderMap) -> Self {
        let lang = form
            .iter()
            .find(|(name, value)| name == "lang" && !value.is_empty());
        if let Some((_, lang)) = lang {
            (self.chosen, self.languages) = choose_languages(Some(lang.clone()), headers);
            self.locale = Texts::new(
                Locale::best(&self.languages),
                Arc::clone(&self.branding.theme.texts),
            );
        }
        self
    }

    /// Sets the content of the search box.
    #[must_use]
    pub(crate) fn with_query(mut self, query: &str) -> Self {
        query.clone_into(&mut self.query);
        self
    }

    /// Returns the language tag of the page.
    pub(crate) fn lang(&self) -> &'static str {
        self.locale.locale().tag()
    }

    /// Returns the chosen language of the parameter `lang`, for hidden fields of forms.
    pub(crate) fn chosen(&self) -> Option<&str> {
        self.chosen.as_deref()
    }

    /// Returns a language tag for the attribute `lang`, if a text's language differs from that of the page.
    pub(crate) fn foreign(&self, language: Option<&str>) -> Option<String> {
        let tag = language?;
        let primary = primary_subtag(tag).to_ascii_lowercase();
        (primary != self.lang()).then(|| tag.to_owned())
    }

    /// Returns the name of the portal.
    pub(crate) fn portal(&self) -> &str {
        self.localize(&self.portal.portal.title).as_str()
    }

    /// Returns the description of the portal.
    pub(crate) fn portal_description(&self) -> &str {
        self.localize(&self.portal.portal.description).as_str()
    }

    /// Returns a value of the configuration in the language of the page, else in one of the visitor's languages, else the default.
    pub(crate) fn localize<'v, T>(&self, value: &'v Localized<T>) -> &'v T {
        let others = self.languages.iter().map(String::as_str);
        value.value(iter::once(self.lang()).chain(others))
    }

    /// If true, the portal has a logo.
    pub(crate) fn has_logo(&self) -> bool {
        self.branding.logo().is_some()
    }

    /// Returns the links of the footer about the portal: (id of the text, address).
    pub(crate) fn about_links(&self) -> Vec<(&'static str, &str)> {
        self.branding.links()
    }

    /// Returns the HTML that the theme adds above the content of every page.
    pub(crate) fn header_fragment(&self) -> &str {
        self.branding.theme.fragment(Place::Header, self.lang())
    }

    /// Returns the HTML that the theme adds to the start page.
    pub(crate) fn start_fragment(&self) -> &str {
        self.branding.theme.fragment(Place::Start, self.lang())
    }

    /// Returns the HTML that the theme adds to the footer.
    pub(crate) fn footer_fragment(&self) -> &str {
        self.branding.theme.fragment(Place::Footer, self.lang())
    }

    /// Returns a message; see [`Texts::text`].
    pub(crate) fn text(&self, id: &str) -> String {
        self.locale.text(id)
    }

    /// Returns a message with one variable.
    pub(crate) fn text_with(&self, id: &str, name: &str, value: impl Display) -> String {
        self.locale.text_with(id, &[(name, &value)])
    }

    /// Returns a message with two variables.
    pub(crate) fn text_with2(
        &self,
        id: &str,
        one: &str,
        value: impl Display,
        other: &str,
        other_value: impl Display,
    ) -> String {
        self.locale
            .text_with(id, &[(one, &value), (other, &other_value)])
    }

    /// Returns a message about a number; see [`Texts::count`].
    pub(crate) fn count(&self, id: &str, count: impl Count) -> String {
        self.locale.count(id, count.number())
    }

    /// Returns a formatted number.
    pub(crate) fn number(&self, number: impl Count) -> String {
        self.locale.number(number.number())
    }

    /// Returns an address of this server, with the chosen language.
    pub(crate) fn link(&self, href: impl AsRef<str>) -> String {
        let href = href.as_ref();
        let Some(chosen) = &self.chosen else {
            return href.to_owned();
        };
        let (address, fragment) = match href.split_once('#') {
            Some((address, fragment)) => (address, Some(fragment)),
            None => (href, None),
        };
        let has_lang = address
            .split(['?', '&'])
            .skip(1)
            .any(|pair| pair.starts_with("lang="));
        if !address.starts_with('/') || has_lang {
            return href.to_owned();
        }
        let separator = if address.contains('?') { '&' } else { '?' };
        let encoded: String = form_urlencoded::byte_serialize(chosen.as_bytes()).collect();
        let fragment = fragment.map(|part| format!("#{part}")).unwrap_or_default();
        format!("{address}{separator}lang={encoded}{fragment}")
    }

    /// Returns the address of a resource below another, with the chosen language.
    pub(crate) fn link_below(&self, href: impl AsRef<str>, path: &str) -> String {
        self.link(format!("{}{path}", href.as_ref()))
    }

    /// Returns the name of the page's language in this language.
    pub(crate) fn language_name(&self) -> &'static str {
        self.locale.locale().name()
    }

    /// Returns the languages of the pages, with this page's address in each. The pages of the operator have one language.
    pub(crate) fn language_links(&self) -> Vec<LanguageLink> {
        if is_operator_page(&self.path) {
            return Vec::new();
        }
        Locale::ALL
            .into_iter()
            .map(|locale| self.language_link(locale))
            .collect()
    }

    fn language_link(&self, locale: Locale) -> LanguageLink {
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        let others = self
            .parameters
            .iter()
            .filter(|(name, value)| name != "lang" && !value.is_empty());
        parameters
            .extend_pairs(others)
            .append_pair("lang", locale.tag());
        LanguageLink {
            tag: locale.tag(),
            name: locale.name(),
            href: format!("{}?{}", self.path, parameters.finish()),
            chosen: locale == self.locale.locale(),
        }
    }
}

/// Returns true for the pages of the operator, which are English.
fn is_operator_page(path: &str) -> bool {
    path == "/operator" || path.starts_with("/operator/")
}

/// Returns the parameter `lang` if it is valid, and the visitor's languages. An invalid parameter is reported by the handler, on a
/// page in the languages of the header.
fn choose_languages(lang: Option<String>, headers: &HeaderMap) -> (Option<String>, Vec<String>) {
    let chosen = lang.filter(|lang| languages(headers, Some(lang)).is_ok());
    let languages = languages(headers, chosen.as_deref()).unwrap_or_else(|_| vec!["en".to_owned()]);
    (chosen, languages)
}

/// A number of things, also by reference: templates pass references.
pub(crate) trait Count {
    fn number(&self) -> u64;
}

impl Count for u64 {
    fn number(&self) -> u64 {
        *self
    }
}

impl Count for usize {
    fn number(&self) -> u64 {
        *self as u64
    }
}

impl Count for u32 {
    fn number(&self) -> u64 {
        u64::from(*self)
    }
}

impl<C: Count> Count for &C {
    fn number(&self) -> u64 {
        (*self).number()
    }
}
