# Messages of the pages in English, the complete catalogue.

## Frame of every page

skip-to-content = Skip to content
nav-main = Main menu
nav-menu = Menu
nav-datasets = Datasets
nav-similar = Find similar to my data
nav-explore = Explore
nav-all-datasets = All datasets
nav-query = Query with SPARQL
nav-programs = For programs
nav-api = API documentation
nav-catalogue = Catalogue (DCAT)
nav-feed = News feed (Atom)
nav-endpoint = Description of the SPARQL endpoint
nav-language = Language
footer-about = About this portal
footer-imprint = Imprint
footer-privacy = Privacy
footer-accessibility = Accessibility
footer-contact = Contact
box-label = Search datasets by words or a whole sentence
box-placeholder = What data do you need?
box-search = Search
box-suggestions = Suggested datasets
apply = Apply
show = Show
close = Close
pages = Pages
page-number = Page { $number }
previous = Previous
previous-page = Previous page
next = Next
more = { $count ->
    [one] { $number } more
   *[other] { $number } more
}
months = January, February, March, April, May, June, July, August, September, October, November, December
date = { $day } { $month } { $year }

## Start page

start-title = Find datasets by metadata and content
summary = This portal holds { $holds }.
summary-publishers = { $count ->
    [one] from { $number } publisher or author
   *[other] from { $number } publishers and authors
}
summary-classes = { $count ->
    [one] with { $number } class of entities
   *[other] with { $number } classes of entities
}
start-question = What is there about { $topic }?
start-try = Questions
start-all = { $count ->
    [one] { $number } dataset
   *[other] All { $number } datasets
}
start-topics = Topics
start-newest = Newly added

## Results

datasets = Datasets
datasets-count = { $count ->
    [one] { $number } dataset
   *[other] { $number } datasets
}
results = { $count ->
    [one] { $number } result
   *[other] { $number } results
}
results-for = Results for “{ $query }”
feed-of-search = This search as a feed
feed-last-changed = Datasets, the last changed first
did-you-mean = Did you mean
corrected = Searched for “{ $text }”
interpreted = Interpreted:
interpreted-excluded = without { $part }
interpreted-word = the word “{ $text }”
interpreted-phrase = the phrase “{ $text }”
interpreted-class = the class { $text }
interpreted-property = the property { $text }
interpreted-vocabulary = the vocabulary { $text }
interpreted-entity = the entity { $text }
interpreted-unknown = the name { $text }, which no dataset has
interpreted-ignored = “{ $text }”, ignored because its words are common or too many
interpreted-translation = “{ $text }” as { $translations }
interpreted-literal = Search for the words as typed
suggested-filters = Suggested filters:
no-more-results = No more results
no-more-results-text = The list ends before this page.
nothing-with-filters = No dataset passes these filters
nothing-with-filters-text = Remove a filter to see more.
search-without-filters = Search without filters
no-datasets = No datasets yet
no-datasets-text = Datasets appear here once they are loaded and indexed.
nothing-found = Nothing found for “{ $query }”
nothing-found-text = Try other words or synonyms, or fewer words. Very common words such as “the” are not searched.
sort = Sort by
sort-relevance = Relevance
sort-newest = Newest
sort-largest = Largest
sort-title = Title
only-closest = No close match. These are the nearest results.
good-matches = { $count ->
    [0] No good match
    [one] { $number } good match
   *[other] { $number } good matches
}
weaker = { $count ->
   *[other] { $number } weaker
}
weak-matches = { $count ->
    [one] { $number } weaker match on this page
   *[other] { $number } weaker matches on this page
}
weak-matches-text = They contain few of the words or are only remotely similar in meaning.
duplicates-counted = The numbers include duplicates that are shown once.
also-from = Also from
introduced-by = Introduced by
used-by-works = { $count ->
    [one] Used by { $number } work
   *[other] Used by { $number } works
}
why = Why this?
why-fields = Found in
why-meaning = Similar in meaning:
why-works = { $count ->
    [one] Used by { $number } work on something similar:
   *[other] Used by { $number } works on something similar:
}
field-title = title
field-description = description
field-author = author
field-tags = keywords
field-entity = entities
field-literal = texts
field-class = classes
field-property = properties
preview = Preview
preview-graph = Graph
preview-graph-of = Some triples of { $title } as a graph
preview-more = More triples
preview-more-query = More triples for the query
preview-query = Show triples matching my query
preview-stored = Show the stored previews
ranking = Ranking
ranking-candidates = { $count ->
    [one] { $number } candidate was compared by meaning.
   *[other] { $number } candidates were compared by meaning.
}
model-default-title = Words and meaning
model-default = candidates by words, compared by meaning
model-tf-idf = frequency of a word, and its rarity
model-bm25 = frequency and rarity; long texts count less
model-lmd = probability of the words in the language of the dataset
model-fsdm = neighbouring words count as well, field by field
score = Score { $score } ({ $models })

## Filters

filters = Filters
filters-clear = Clear all
filter-add = Add filter:
filter-remove = Remove filter:
filter-since = From { $year }
filter-until = Up to { $year }
filter-within = Place: { $box }
filter-covers = Period: { $period }
filter-column = Column: { $column }
filter-value = { $facet }: { $value }
less-frequent = { $count ->
    [one] and { $number } less frequent
   *[other] and { $number } less frequent
}
years = Year
years-from = From
years-to = to
years-published = of publication
years-covered = that the data covers
place = Place
place-example = Country or US state
place-not-found = No country or US state “{ $name }” is known. Write another name, or west,south,east,north in degrees.
years-undated = { $count ->
    [one] { $number } undated dataset is included.
   *[other] { $number } undated datasets are included.
}
years-histogram = Datasets by year, { $first } to { $last }
place-unknown = { $count ->
    [one] { $number } matching dataset without a known place is left out.
   *[other] { $number } matching datasets without a known place are left out.
}
period-unknown = { $count ->
    [one] { $number } matching dataset without a known period is left out.
   *[other] { $number } matching datasets without a known period are left out.
}
filter-without = Search without this filter
facet-task = Tasks
facet-modality = Modalities
facet-theme = Topics
facet-class = Classes
facet-keyword = Keywords
facet-publisher = Publishers
facet-creator = Authors and publishers
facet-format = Formats
facet-license = Licences
facet-language = Languages
facet-vocabulary = Vocabularies
facet-source = Portals
facet-suggestedTheme = Suggested topics
filter-task = Task
filter-modality = Modality
filter-theme = Theme
filter-class = Class
filter-keyword = Keyword
filter-publisher = Publisher
filter-creator = Author or publisher
filter-format = Format
filter-license = Licence
filter-language = Language
filter-vocabulary = Vocabulary
filter-source = Portal
filter-suggestedTheme = Suggested topic

## Page of a dataset

on-this-page = On this page
download = Download
all-formats = All formats
go-to-source = Go to the source
metadata-only = This portal has only the description of this dataset. The source has the data.
tables = As a table:
technical = Technical details
other-languages = Description in other languages
also-called = Also called
editions = Editions
tables-to-combine = Tables to join or unite
fact-suggested = { $value } (suggested from the words of the dataset)
fact-creator = Author
fact-uses = Uses
fact-uses-count = { $count ->
    [one] { $number } work, according to the catalogue
   *[other] { $number } works, according to the catalogue
}
fact-issued = Published
fact-modified = Changed
fact-place = Area
fact-period = Period covered
fact-from-metadata = { $value } (from the metadata)
fact-from-content = { $value } (from the content)
place-map = Map of the area { $box }
fact-homepage = Home page
fact-source = Source
fact-iri = Dataset IRI
fact-endpoint = SPARQL endpoint
open-image = Open image
preview-method = Method: { $method }
preview-methods = Method
preview-budget = Number of triples
preview-none = No triple matches.
preview-shown = { $shown } of { $all } triples.
preview-row = Row
preview-rows-shown = { $rows } of { $all-rows } rows, { $columns } of { $all-columns } columns
preview-interrupted = The search was not exhaustive.
preview-other-methods = Other methods:
content = Content
triples = { $count ->
    [one] { $number } triple
   *[other] { $number } triples
}
triples-sample = { $count ->
    [one] a sample of { $number } triple
   *[other] a sample of { $number } triples
}
triples-sample-of = a sample of { $held } of { $all } triples
entities = { $count ->
    [one] { $number } entity
   *[other] { $number } entities
}
classes-count = { $count ->
    [one] { $number } class
   *[other] { $number } classes
}
properties-count = { $count ->
    [one] { $number } property
   *[other] { $number } properties
}
literals = { $count ->
    [one] { $number } literal
   *[other] { $number } literals
}
content-details = Properties, languages and links
properties = Properties
links-to = Links to
edited-here = Edited in this catalogue, not by the source: { $keys }
key-title = Title
key-alternative = Other titles
key-description = Description
key-keywords = Keywords
key-theme = Topics
key-creator = Authors
key-publisher = Publisher
key-contact = Contact
key-license = Licence
key-accessRights = Access rights
key-issued = Published
key-modified = Changed
key-landingPage = Home page
key-language = Languages
key-spatial = Area
key-temporal = Period covered
key-frequency = Update frequency
key-version = Version
key-conformsTo = Standards
key-otherIdentifier = Other identifiers
skipped-statements = { $count ->
    [one] { $number } statement of its files could not be parsed and is missing here.
   *[other] { $number } statements of its files could not be parsed and are missing here.
}
sampled-content = { $count ->
    [one] The content is large: preview, searched texts and coverage are from a sample of { $number } triple. All counts are of the whole content.
   *[other] The content is large: preview, searched texts and coverage are from a sample of { $number } triples. All counts are of the whole content.
}
index-only-content = The content can be searched and downloaded, but not queried with SPARQL.
connections = How classes are connected
connections-of = Classes and links of { $title }
connections-text = Circles are classes with their numbers of entities. Arrows are properties between them; their width grows with the number of triples.
no-class = no class
not-shown = Not shown:
smaller-classes = { $count ->
    [one] { $number } smaller class
   *[other] { $number } smaller classes
}
rarer-links = { $count ->
    [one] { $number } rarer link
   *[other] { $number } rarer links
}
links = { $count ->
    [one] { $number } link
   *[other] { $number } links
}
link-from = From
link-property = Property
link-to = To
link-triples = Triples
example-entities = Example entities
one-of = { $class }, one of { $number }
all-triples = All triples
query-with-sparql = Query with SPARQL
example-triples = Some triples
example-class = Entities of the class “{ $class }”
example-pattern = “{ $class }” with “{ $property }” and “{ $other }”
example-link = From “{ $from }” by “{ $property }” to “{ $to }”
example-values = The most frequent values of “{ $property }”
example-elsewhere = All datasets with the class “{ $class }”
similar-datasets = Similar datasets
all-similar = All similar datasets
search-like = Search for datasets like this one, about
download-and-cite = Download and cite
download-file = File
download-files = Files
download-copies = Copies kept here, as they were loaded
download-content = Content stored here
series = Series
series-note = A series of datasets: its members have the data.
series-members = Datasets of the series
fact-series = Series
fact-first = First
fact-last = Last
fact-previous = Previous in the series
fact-next = Next in the series
download-structure = Shapes and statistics
download-description = Description
cite = Cite
metadata-quality = Metadata quality
referenced-by = Referenced by
entity-no-triples = No triples with this subject.
entity-unnamed = A node without a name

## Similar datasets

similarity = Similarity
score-details = Details
similar-to = Similar to { $title }
similar-none = No dataset is similar.
similar-compared = { $count ->
    [one] { $number } dataset was compared.
   *[other] { $number } datasets were compared.
}
similar-without = Duplicates and other editions are listed on the page of the dataset.
basis-vocabulary = vocabulary
basis-links = links
basis-meaning = meaning
basis-words = words
shared-classes = { $count ->
    [one] { $number } class in common
   *[other] { $number } classes in common
}
shared-properties = { $count ->
    [one] { $number } property in common
   *[other] { $number } properties in common
}
shared-vocabularies = { $count ->
    [one] { $number } vocabulary in common
   *[other] { $number } vocabularies in common
}
shared-links-to = { $count ->
    [one] { $number } of its namespaces is linked to
   *[other] { $number } of its namespaces are linked to
}
shared-links-from = { $count ->
    [one] { $number } namespace that it links to
   *[other] { $number } namespaces that it links to
}
shared-entities = { $count ->
    [one] { $number } entity that both link to
   *[other] { $number } entities that both link to
}
shared-targets = { $count ->
    [one] { $number } other source that both link to
   *[other] { $number } other sources that both link to
}
shared-meaning = near in meaning
shared-words = the words { $words }
like-text = Finds datasets that use the same classes and properties, link to the same entities, or have a similar meaning as your RDF.
like-not-stored = Your data are not stored.
like-triples = { $count ->
    [one] { $number } triple was read.
   *[other] { $number } triples were read.
}
like-problems = Some statements could not be parsed
like-another = Another search
like-file = An RDF file: drop it here, or choose it
like-formats = Turtle, TriG, N-Triples, N-Quads, N3, RDF/XML or JSON-LD, also compressed by gzip, bzip2, xz or zstd (no zip); up to { $megabytes } MB.
like-paste = Or paste RDF
like-dataset = Or enter the id or IRI of a dataset
like-find = Find similar datasets
like-programs = Programs send RDF in the body and get JSON:

## SPARQL page

sparql-text = The default graph contains the metadata of all datasets. The content of each dataset is a named graph with the IRI of the dataset.
sparql-examples = Example queries
sparql-example-sizes = Datasets and their sizes
sparql-example-class = Datasets that use a class
sparql-example-task = Datasets for a task, with years and papers
sparql-example-snippets = Stored previews and their methods
sparql-example-content = Search in the content of all datasets
sparql-example-search-why = Datasets found by the search, and why
sparql-example-search-classes = Classes of the datasets found
sparql-example-search-content = Triples of the datasets found
sparql-query = SPARQL query
run = Run
sparql-answer-as = Result as
sparql-table = Table
sparql-rows = { $count ->
    [one] { $number } row
   *[other] { $number } rows
}
sparql-truncated = There are more rows; the endpoint limits their number. Add a LIMIT or a more specific pattern.
sparql-link = Link to this result
sparql-no-link = The address of this page does not contain the query, because it is long. Save the query to repeat it.
sparql-chart = Chart: { $column } by { $label }
sparql-map = Map of the result
sparql-completions = Prefixes, classes and properties
sparql-search = Search inside a query
sparql-search-text = A service pattern finds datasets, to be joined with their descriptions and content:
sparql-unknown-prefix = Line { $line }: the prefix “{ $prefix }:” is not declared.
sparql-add-line = Add this line at the beginning:
sparql-unexpected = Line { $line }, column { $column }: “{ $found }” is not allowed here.
sparql-unexpected-end = Line { $line }: the query ends too early.
sparql-details = What the grammar allows here

## Quality

quality-purpose = This page shows which small changes make datasets easier to find and to use.
quality-datasets = { $count ->
    [one] { $number } dataset was assessed.
   *[other] { $number } datasets were assessed.
}
quality-mean = Mean score
quality-improvements = Improvements with the greatest effect
quality-improvement = Improvement
quality-affected = Datasets that gain
quality-points = Points
quality-not-scored = not part of the score
quality-dimensions = Points reached by dimension
quality-ratings = Ratings
quality-publishers = By publisher
quality-next = Best next step
quality-no-publisher = No publisher
quality-start-here = Datasets that gain most
quality-method = The score follows:
quality-unchecked = Addresses that were not checked cost no points.
quality-open-points = { $count ->
    [one] { $number } point is for addresses that were not checked and does not count.
   *[other] { $number } points are for addresses that were not checked and do not count.
}
quality-distribution = Assessed distribution:
quality-violations = To correct for DCAT-AP 3.0.1
quality-recommended = Recommended by DCAT-AP
quality-all = All datasets together
band-bad = can be improved
band-sufficient = sufficient
band-good = good
band-excellent = excellent
dimension-findability = Findability
dimension-accessibility = Accessibility
dimension-interoperability = Interoperability
dimension-reusability = Reusability
dimension-contextuality = Contextuality
dimension-texts = Texts
dimension-content = Content
outcome-met = met
outcome-missed = can be added
outcome-unknown = not checked

## API documentation

api-text = All routes can be read without a key, also by pages of other origins. For programs that write clients:
api-parameter = Parameter
api-required = required
api-response = Response

## Tables

table-rows = { $count ->
    [one] { $number } row
   *[other] { $number } rows
}
table-rows-minimum = { $count ->
    [one] more than { $number } row
   *[other] more than { $number } rows
}
table-csvw = Description of the table for programs
table-filter = With the text
table-none = No row contains this text.
table-matching = { $count ->
    [one] { $number } row has this text.
   *[other] { $number } rows have this text.
}
table-matching-minimum = { $count ->
    [one] At least { $number } row has this text.
   *[other] At least { $number } rows have this text.
}
table-matching-csv = only these rows
table-name = Name
table-incomplete = The text was searched in the first { $rows } rows only. The CSV has all rows with it.
table-not-sorted = Only tables of at most { $rows } rows can be sorted.
table-no-column = The rows are not sorted: this table has no column “{ $column }”.
table-more-columns = { $count ->
    [one] { $number } further column is in the CSV.
   *[other] { $number } further columns are in the CSV.
}

## Errors

error-missing = This page does not exist
error-missing-advice = The address may be mistyped, or the dataset was removed.
error-busy = The server is busy
error-busy-advice = Please try again in a few seconds.
error-long = This request is too long
error-long-advice = Please shorten the query. A few words or one or two sentences find most.
error-internal = Something went wrong
error-internal-advice = The error was logged. Please try again later.
error-request = This request cannot be answered
error-request-advice = Please check the address or the form:
error-start = Start page

## Entities

entities-for = Entities for “{ $query }”
entities-count = { $count ->
    [one] { $number } entity
   *[other] { $number } entities
}
entities-datasets = { $count ->
    [one] in { $number } dataset
   *[other] in { $number } datasets
}
entities-incomplete = Not all datasets with these words were searched. Search in one dataset, or for rarer words.
entities-everywhere = Search in all datasets
entities-datasets-link = Search for datasets
entities-link = Entities with these words
entities-here = Find entities of this dataset by words
occurrences-of = Datasets with { $resource }
occurrences-link = Datasets in which this resource occurs
occurrences-none = No dataset contains this resource.
occurrences-minimums = The resource is frequent: the numbers are minimums.
occurrences-incomplete = Further datasets may contain it.
occurs-as-subject = { $count ->
    [one] subject of { $number } triple
   *[other] subject of { $number } triples
}
occurs-as-object = { $count ->
    [one] object of { $number } triple
   *[other] object of { $number } triples
}
occurs-as-class = { $count ->
    [one] class of { $number } entity
   *[other] class of { $number } entities
}
occurs-as-property = { $count ->
    [one] property of { $number } triple
   *[other] property of { $number } triples
}

## Values of facets

theme-agri = Agriculture, fisheries, forestry and food
theme-econ = Economy and finance
theme-educ = Education, culture and sport
theme-ener = Energy
theme-envi = Environment
theme-gove = Government and public sector
theme-heal = Health
theme-intr = International issues
theme-just = Justice, legal system and public safety
theme-regi = Regions and cities
theme-soci = Population and society
theme-tech = Science and technology
theme-tran = Transport
language-arabic = Arabic
language-bulgarian = Bulgarian
language-catalan = Catalan
language-chinese = Chinese
language-croatian = Croatian
language-czech = Czech
language-danish = Danish
language-dutch = Dutch
language-english = English
language-estonian = Estonian
language-finnish = Finnish
language-french = French
language-german = German
language-greek = Greek
language-hungarian = Hungarian
language-irish = Irish
language-italian = Italian
language-japanese = Japanese
language-latvian = Latvian
language-lithuanian = Lithuanian
language-maltese = Maltese
language-norwegian = Norwegian
language-polish = Polish
language-portuguese = Portuguese
language-romanian = Romanian
language-russian = Russian
language-slovak = Slovak
language-slovenian = Slovenian
language-spanish = Spanish
language-swedish = Swedish
