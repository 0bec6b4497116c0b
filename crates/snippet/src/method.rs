//! Every way to make a snippet by name: one list for the command line, the server and the index.

use super::keyword::{KeywordCover, KeywordMatcher, Ksd, OptimalSnippet};
use super::{
    Deadline, IlluSnip, PatternRepresentatives, PatternShares, Pcsg, PcsgOptions, RepresentativeOptions,
    SnippetExtractor, Starts, illusnip, keyword,
};
use lodeseek_profile::Patterns;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A method.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(into = "&str", try_from = "String")]
pub enum Method {
    /// IlluSnip OPT-RANK.
    #[default]
    IlluSnip,
    /// IlluSnip OPT-MAX.
    IlluSnipMax,
    /// IlluSnip BASIC.
    IlluSnipBasic,
    /// One entity for each pattern.
    Patterns,
    /// PCSG.
    Pcsg,
    /// PCSG-τ.
    PcsgTau,
    /// KSD.
    Ksd,
    /// The optimal data snippet.
    Optimal,
    /// The keyword cover.
    Cover,
    /// QPCSG.
    Qpcsg,
}

/// Why a method cannot be had.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// No method has this name.
    #[error("{0:?} is no snippet method; there are {names}", names = names(&Method::ALL))]
    Unknown(String),
    /// The method chooses triples for a query, and there is none.
    #[error("the snippet method {0} needs a query; without one there are {names}", names = names(&Method::without_query()))]
    NeedsQuery(Method),
}

fn names(methods: &[Method]) -> String {
    methods.iter().map(|method| method.name()).collect::<Vec<_>>().join(", ")
}

/// What a method works with, as far as it has a use for it.
#[derive(Clone, Copy, Default)]
pub struct MethodOptions<'h> {
    /// The bound on steps; [`Method::default_work`] where there is none.
    pub work: Option<u64>,
    /// When the search ends with what it has.
    pub deadline: Deadline<'h>,
    /// What a query asks for.
    pub keywords: Option<&'h dyn KeywordMatcher>,
    /// The patterns of the graph's entities, where they are known.
    pub patterns: Option<&'h Patterns>,
}

impl Method {
    /// Every method.
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

    /// The name by which it is asked for.
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

    /// Other names for it: those of the papers.
    #[must_use]
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::IlluSnip => &["opt-rank"],
            Self::IlluSnipMax => &["opt-max"],
            Self::IlluSnipBasic => &["basic"],
            _ => &[],
        }
    }

    /// What it does, in a line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::IlluSnip => "IlluSnip from the heaviest triples within the bounds",
            Self::IlluSnipMax => "IlluSnip from the heaviest triple alone: fastest",
            Self::IlluSnipBasic => "IlluSnip from every triple: slow",
            Self::Patterns => "an entity for each frequent description pattern",
            Self::Pcsg => "every pattern of entities and links, in connected trees",
            Self::PcsgTau => "the same for the frequent patterns only, PCSG-τ",
            Self::Ksd => "the query's words, frequent schema and central entities in one cover",
            Self::Optimal => "the query's words, then what says most of the dataset",
            Self::Cover => "the query's words in the fewest triples",
            Self::Qpcsg => "every pattern and the query's words, in connected trees",
        }
    }

    /// Whether it chooses triples for a query.
    #[must_use]
    pub fn takes_query(self) -> bool {
        matches!(self, Self::Ksd | Self::Optimal | Self::Cover | Self::Qpcsg)
    }

    /// Whether its steps are bounded whatever the dataset: only BASIC's are not.
    #[must_use]
    pub fn is_bounded(self) -> bool {
        self != Self::IlluSnipBasic
    }

    /// The bound on steps, of methods that have one to turn.
    #[must_use]
    pub fn default_work(self) -> Option<u64> {
        match self {
            Self::IlluSnip => Some(illusnip::DEFAULT_WORK),
            Self::Pcsg | Self::PcsgTau | Self::Qpcsg => Some(PcsgOptions::default().work),
            Self::Ksd | Self::Optimal | Self::Cover => Some(keyword::DEFAULT_WORK),
            _ => None,
        }
    }

    /// The methods that need no query.
    #[must_use]
    pub fn without_query() -> Vec<Self> {
        Self::ALL.into_iter().filter(|method| !method.takes_query()).collect()
    }

    /// The extractor.
    ///
    /// ```
    /// use lodeseek_snippet::{Method, MethodOptions};
    /// let extractor = |method: Method| method.extractor(&MethodOptions::default()).map(|made| made.name());
    /// assert_eq!(extractor(Method::IlluSnip), Ok("IlluSnip OPT-RANK"));
    /// assert!(extractor(Method::Ksd).is_err_and(|error| error.to_string().contains("needs a query")));
    /// ```
    pub fn extractor<'h>(self, options: &MethodOptions<'h>) -> Result<Box<dyn SnippetExtractor + 'h>, MethodError> {
        let keywords = || options.keywords.ok_or(MethodError::NeedsQuery(self));
        Ok(match self {
            Self::IlluSnip => self.illusnip(Starts::Ranked, options),
            Self::IlluSnipMax => self.illusnip(Starts::Heaviest, options),
            Self::IlluSnipBasic => self.illusnip(Starts::All, options),
            Self::Patterns => {
                Box::new(PatternRepresentatives::new(RepresentativeOptions { deadline: options.deadline }))
            }
            Self::Pcsg => self.pcsg(PatternShares::default(), None, options),
            Self::PcsgTau => self.pcsg(PatternShares::TAU, None, options),
            Self::Qpcsg => self.pcsg(PatternShares::default(), Some(keywords()?), options),
            Self::Ksd => Box::new(Ksd::new(keywords()?).with_work(self.steps(options)).with_deadline(options.deadline)),
            Self::Optimal => {
                let optimal = OptimalSnippet::new(keywords()?).with_work(self.steps(options));
                let optimal = optimal.with_deadline(options.deadline);
                Box::new(options.patterns.map_or(optimal, |patterns| optimal.with_patterns(patterns)))
            }
            Self::Cover => {
                Box::new(KeywordCover::new(keywords()?).with_work(self.steps(options)).with_deadline(options.deadline))
            }
        })
    }

    /// The steps allowed by these options; `None` where the method has no bound to turn.
    #[must_use]
    pub fn work(self, options: &MethodOptions<'_>) -> Option<u64> {
        self.default_work().map(|default| options.work.unwrap_or(default))
    }

    fn steps(self, options: &MethodOptions<'_>) -> u64 {
        self.work(options).unwrap_or(u64::MAX)
    }

    fn illusnip<'h>(self, starts: Starts, options: &MethodOptions<'h>) -> Box<dyn SnippetExtractor + 'h> {
        let extractor = IlluSnip::default().with_starts(starts).with_work(self.steps(options));
        Box::new(extractor.with_deadline(options.deadline))
    }

    fn pcsg<'h>(
        self,
        shares: PatternShares,
        keywords: Option<&'h dyn KeywordMatcher>,
        options: &MethodOptions<'h>,
    ) -> Box<dyn SnippetExtractor + 'h> {
        let default = PcsgOptions::default();
        let work = self.work(options).unwrap_or(default.work);
        Box::new(Pcsg::new(PcsgOptions { shares, keywords, work, deadline: options.deadline, ..default }))
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
        let known = |method: &Self| method.name() == name || method.aliases().contains(&name);
        Self::ALL.into_iter().find(known).ok_or_else(|| MethodError::Unknown(name.to_owned()))
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
        let unknown = Method::from_str("guess").expect_err("no such method").to_string();
        assert!(Method::ALL.iter().all(|method| unknown.contains(method.name())), "{unknown}");
    }

    #[test]
    fn a_query_is_wanted_by_those_who_need_it() {
        let matches = Matches(Vec::new());
        let mut names = std::collections::BTreeSet::new();
        for method in Method::ALL {
            let without = method.extractor(&MethodOptions::default());
            assert_eq!(without.err(), method.takes_query().then_some(MethodError::NeedsQuery(method)));
            let with = method.extractor(&MethodOptions { keywords: Some(&matches), ..MethodOptions::default() });
            assert!(names.insert(with.expect("made").name()), "{method} has a name of its own");
        }
    }

    #[test]
    fn only_methods_with_a_bound_take_one() {
        let options = MethodOptions { work: Some(7), ..MethodOptions::default() };
        assert_eq!((Method::IlluSnip.work(&options), Method::Patterns.work(&options)), (Some(7), None));
        assert_eq!(Method::Pcsg.work(&MethodOptions::default()), Some(PcsgOptions::default().work));
    }
}
