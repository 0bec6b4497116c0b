//! Registry of all snippet methods by name, shared by the command line, the server and the indexer.

use super::keyword::{KeywordCover, KeywordMatcher, Ksd, OptimalSnippet};
use super::{
    Deadline, IlluSnip, PatternRepresentatives, PatternShares, Pcsg, PcsgOptions,
    RepresentativeOptions, SnippetExtractor, Starts, illusnip, keyword,
};
use lodeseek_profile::Patterns;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Snippet method.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(into = "&str", try_from = "String")]
pub enum Method {
    /// IlluSnip OPT-RANK: several starts within a work bound. See [`IlluSnip`].
    #[default]
    IlluSnip,
    /// IlluSnip OPT-MAX: one start, the heaviest triple.
    IlluSnipMax,
    /// IlluSnip BASIC: every triple as a start.
    IlluSnipBasic,
    /// One representative entity for each description pattern. See [`PatternRepresentatives`].
    Patterns,
    /// Pattern-coverage snippet. See [`Pcsg`].
    Pcsg,
    /// PCSG-τ: coverage of the frequent patterns only.
    PcsgTau,
    /// Weighted cover of keywords, schema and central entities. See [`Ksd`].
    Ksd,
    /// Optimal data snippet. See [`OptimalSnippet`].
    Optimal,
    /// Smallest set of triples that contains the keywords. See [`KeywordCover`].
    Cover,
    /// QPCSG: pattern coverage with the query's keywords.
    Qpcsg,
}

/// Errors of selecting a method.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// No method has this name.
    #[error("unknown snippet method {0:?}; supported methods: {names}", names = join_names(&Method::ALL))]
    Unknown(String),
    /// The method requires a query, and none was given.
    #[error("snippet method {0} requires a query; methods without a query: {names}", names = join_names(&Method::without_query()))]
    NeedsQuery(Method),
}

fn join_names(methods: &[Method]) -> String {
    methods
        .iter()
        .map(|method| method.name())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Inputs and limits of a method. A method ignores the fields that it does not use.
#[derive(Clone, Copy, Default)]
pub struct MethodOptions<'h> {
    /// Maximum number of steps. Default: [`Method::default_work`].
    pub work: Option<u64>,
    /// Deadline after which the method returns its best snippet so far.
    pub deadline: Deadline<'h>,
    /// Keywords of the query.
    pub keywords: Option<&'h dyn KeywordMatcher>,
    /// Patterns of the graph's entities, if already computed.
    pub patterns: Option<&'h Patterns>,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 10] = [
        Self::IlluSnip,
        Self::IlluSnipMax,
        Self::IlluSnipBasic,
        Self::Patterns,
        Self::Pcsg,
        Self::PcsgTau,
        Self::Ksd,
        Self::Optimal,
        Self::Cover,
        Self::Qpcsg,
    ];

    /// Returns the name, as used on the command line and in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::IlluSnip => "illusnip",
            Self::IlluSnipMax => "illusnip-max",
            Self::IlluSnipBasic => "illusnip-basic",
            Self::Patterns => "patterns",
            Self::Pcsg => "pcsg",
            Self::PcsgTau => "pcsg-tau",
            Self::Ksd => "ksd",
            Self::Optimal => "optimal",
            Self::Cover => "cover",
            Self::Qpcsg => "qpcsg",
        }
    }

    /// Returns alternative names: the variant names of the papers.
    #[must_use]
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::IlluSnip => &["opt-rank"],
            Self::IlluSnipMax => &["opt-max"],
            Self::IlluSnipBasic => &["basic"],
            _ => &[],
        }
    }

    /// Returns a description of one line.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::IlluSnip => "IlluSnip from the heaviest triples within the bounds",
            Self::IlluSnipMax => "IlluSnip from the heaviest triple alone: fastest",
            Self::IlluSnipBasic => "IlluSnip from every triple: slow",
            Self::Patterns => "an entity for each frequent description pattern",
            Self::Pcsg => "every pattern of entities and links, in connected trees",
            Self::PcsgTau => "the same for the frequent patterns only, PCSG-τ",
            Self::Ksd => "the query's words, frequent schema and central entities in one cover",
            Self::Optimal => "the query's words, then the most representative triples",
            Self::Cover => "the query's words in the fewest triples",
            Self::Qpcsg => "every pattern and the query's words, in connected trees",
        }
    }

    /// Returns true if the method requires a query.
    #[must_use]
    pub fn takes_query(self) -> bool {
        matches!(self, Self::Ksd | Self::Optimal | Self::Cover | Self::Qpcsg)
    }

    /// Returns true if the number of steps is bounded for every dataset. Only IlluSnip BASIC is unbounded.
    #[must_use]
    pub fn is_bounded(self) -> bool {
        self != Self::IlluSnipBasic
    }

    /// Returns the default work bound; `None` for methods without a configurable bound.
    #[must_use]
    pub fn default_work(self) -> Option<u64> {
        match self {
            Self::IlluSnip => Some(illusnip::DEFAULT_WORK),
            Self::Pcsg | Self::PcsgTau | Self::Qpcsg => Some(PcsgOptions::default().work),
            Self::Ksd | Self::Optimal | Self::Cover => Some(keyword::DEFAULT_WORK),
            _ => None,
        }
    }

    /// Returns the methods that require no query.
    #[must_use]
    pub fn without_query() -> Vec<Self> {
        Self::ALL
            .into_iter()
            .filter(|method| !method.takes_query())
            .collect()
    }

    /// Creates the extractor.
    ///
    /// # Errors
    ///
    /// [`MethodError::NeedsQuery`] if the method requires keywords and the options contain none.
    ///
    /// ```
    /// use lodeseek_snippet::{Method, MethodOptions};
    /// let options = MethodOptions::default();
    /// let extractor = Method::IlluSnip.extractor(&options)?;
    /// assert_eq!(extractor.name(), "IlluSnip OPT-RANK");
    /// let result = Method::Ksd.extractor(&options);
    /// assert!(result.is_err_and(|error| error.to_string().contains("requires a query")));
    /// # Ok::<(), lodeseek_snippet::MethodError>(())
    /// ```
    pub fn extractor<'h>(
        self,
        options: &MethodOptions<'h>,
    ) -> Result<Box<dyn SnippetExtractor + 'h>, MethodError> {
        Ok(match self {
            Self::IlluSnip => self.illusnip(Starts::Ranked, options),
            Self::IlluSnipMax => self.illusnip(Starts::Heaviest, options),
            Self::IlluSnipBasic => self.illusnip(Starts::All, options),
            Self::Patterns => Box::new(PatternRepresentatives::new(RepresentativeOptions {
                deadline: options.deadline,
            })),
            Self::Pcsg => self.pcsg(PatternShares::default(), None, options),
            Self::PcsgTau => self.pcsg(PatternShares::TAU, None, options),
            Self::Qpcsg => self.pcsg(
                PatternShares::default(),
                Some(self.require_keywords(options)?),
                options,
            ),
            Self::Ksd => Box::new(
                Ksd::new(self.require_keywords(options)?)
                    .with_work(self.steps(options))
                    .with_deadline(options.deadline),
            ),
            Self::Optimal => {
                let optimal = OptimalSnippet::new(self.require_keywords(options)?)
                    .with_work(self.steps(options));
                let optimal = optimal.with_deadline(options.deadline);
                let optimal = match options.patterns {
                    Some(patterns) => optimal.with_patterns(patterns),
                    None => optimal,
                };
                Box::new(optimal)
            }
            Self::Cover => Box::new(
                KeywordCover::new(self.require_keywords(options)?)
                    .with_work(self.steps(options))
                    .with_deadline(options.deadline),
            ),
        })
    }

    fn require_keywords<'h>(
        self,
        options: &MethodOptions<'h>,
    ) -> Result<&'h dyn KeywordMatcher, MethodError> {
        options.keywords.ok_or(MethodError::NeedsQuery(self))
    }

    /// Returns the work bound under these options; `None` for methods without a configurable bound.
    #[must_use]
    pub fn work_bound(self, options: &MethodOptions<'_>) -> Option<u64> {
        self.default_work()
            .map(|default| options.work.unwrap_or(default))
    }

    fn steps(self, options: &MethodOptions<'_>) -> u64 {
        self.work_bound(options).unwrap_or(u64::MAX)
    }

    fn illusnip<'h>(
        self,
        starts: Starts,
        options: &MethodOptions<'h>,
    ) -> Box<dyn SnippetExtractor + 'h> {
        let extractor = IlluSnip::default()
            .with_starts(starts)
            .with_work(self.steps(options));
        Box::new(extractor.with_deadline(options.deadline))
    }

    fn pcsg<'h>(
        self,
        shares: PatternShares,
        keywords: Option<&'h dyn KeywordMatcher>,
        options: &MethodOptions<'h>,
    ) -> Box<dyn SnippetExtractor + 'h> {
        let default = PcsgOptions::default();
        let work = self.work_bound(options).unwrap_or(default.work);
        Box::new(Pcsg::new(PcsgOptions {
            shares,
            keywords,
            work,
            deadline: options.deadline,
            ..default
        }))
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = MethodError;

    fn from_str(name: &str) -> Result<Self, MethodError> {
        Self::ALL
            .into_iter()
            .find(|method| method.name() == name || method.aliases().contains(&name))
            .ok_or_else(|| MethodError::Unknown(name.to_owned()))
    }
}

impl From<Method> for &'static str {
    fn from(method: Method) -> Self {
        method.name()
    }
}

impl TryFrom<String> for Method {
    type Error = MethodError;

    fn try_from(name: String) -> Result<Self, MethodError> {
        name.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyword::Matches;

    #[test]
    fn every_name_leads_to_one_method() {
        let mut seen = std::collections::BTreeSet::new();
        for method in Method::ALL {
            for name in method.aliases().iter().copied().chain([method.name()]) {
                assert!(seen.insert(name), "{name} names two");
                assert_eq!(name.parse(), Ok(method));
            }
        }
        let unknown = Method::from_str("guess")
            .expect_err("no such method")
            .to_string();
        assert!(
            Method::ALL
                .iter()
                .all(|method| unknown.contains(method.name())),
            "{unknown}"
        );
    }

    #[test]
    fn a_query_is_wanted_by_those_who_need_it() {
        let matches = Matches(Vec::new());
        let mut names = std::collections::BTreeSet::new();
        for method in Method::ALL {
            let without = method.extractor(&MethodOptions::default());
            assert_eq!(
                without.err(),
                method
                    .takes_query()
                    .then_some(MethodError::NeedsQuery(method))
            );
            let with = method.extractor(&MethodOptions {
                keywords: Some(&matches),
                ..MethodOptions::default()
            });
            assert!(
                names.insert(with.expect("an extractor").name()),
                "{method} has a name of its own"
            );
        }
    }

    #[test]
    fn only_methods_with_a_bound_take_one() {
        let options = MethodOptions {
            work: Some(7),
            ..MethodOptions::default()
        };
        assert_eq!(
            (
                Method::IlluSnip.work_bound(&options),
                Method::Patterns.work_bound(&options)
            ),
            (Some(7), None)
        );
        assert_eq!(
            Method::Pcsg.work_bound(&MethodOptions::default()),
            Some(PcsgOptions::default().work)
        );
    }
}
