# Messages of the pages in German.

## Frame of every page

skip-to-content = Zum Inhalt springen
nav-main = Hauptmenü
nav-menu = Menü
nav-datasets = Datensätze
nav-similar = Ähnliches zu meinen Daten finden
nav-explore = Entdecken
nav-all-datasets = Alle Datensätze
nav-query = Abfragen mit SPARQL
nav-programs = Für Programme
nav-api = API-Dokumentation
nav-catalogue = Katalog (DCAT)
nav-feed = Newsfeed (Atom)
nav-endpoint = Beschreibung des SPARQL-Endpunkts
nav-language = Sprache
footer-about = Über dieses Portal
footer-imprint = Impressum
footer-privacy = Datenschutz
footer-accessibility = Barrierefreiheit
footer-contact = Kontakt
box-label = Datensätze mit Wörtern oder einem ganzen Satz suchen
box-placeholder = Welche Daten brauchen Sie?
box-search = Suchen
box-suggestions = Vorgeschlagene Datensätze
apply = Anwenden
show = Anzeigen
close = Schließen
pages = Seiten
page-number = Seite { $number }
previous = Zurück
previous-page = Vorherige Seite
next = Weiter
more = { $count ->
    [one] { $number } weiterer
   *[other] { $number } weitere
}
months = Januar, Februar, März, April, Mai, Juni, Juli, August, September, Oktober, November, Dezember
date = { $day }. { $month } { $year }

## Start page

start-title = Datensätze nach Metadaten und Inhalt finden
summary = Dieses Portal enthält { $holds }.
summary-publishers = { $count ->
    [one] von { $number } Herausgeber oder Autor
   *[other] von { $number } Herausgebern und Autoren
}
summary-classes = { $count ->
    [one] mit { $number } Klasse von Entitäten
   *[other] mit { $number } Klassen von Entitäten
}
start-question = Was gibt es zu { $topic }?
start-try = Fragen
start-all = { $count ->
    [one] { $number } Datensatz
   *[other] Alle { $number } Datensätze
}
start-topics = Themen
start-newest = Neu hinzugekommen

## Results

datasets = Datensätze
datasets-count = { $count ->
    [one] { $number } Datensatz
   *[other] { $number } Datensätze
}
results = { $count ->
    [one] { $number } Ergebnis
   *[other] { $number } Ergebnisse
}
results-for = Ergebnisse für „{ $query }“
feed-of-search = Diese Suche als Feed
feed-last-changed = Datensätze, die zuletzt geänderten zuerst
did-you-mean = Meinten Sie
corrected = Gesucht wurde „{ $text }“
interpreted = Verstanden:
interpreted-excluded = ohne { $part }
interpreted-word = das Wort „{ $text }“
interpreted-phrase = die Wortfolge „{ $text }“
interpreted-class = die Klasse { $text }
interpreted-property = die Eigenschaft { $text }
interpreted-vocabulary = das Vokabular { $text }
interpreted-entity = die Entität { $text }
interpreted-unknown = den Namen { $text }, den kein Datensatz hat
interpreted-ignored = „{ $text }“, übergangen, weil die Wörter zu häufig oder zu viele sind
interpreted-translation = „{ $text }“ als { $translations }
interpreted-literal = Nach den Wörtern suchen, wie sie eingegeben wurden
suggested-filters = Vorgeschlagene Filter:
no-more-results = Keine weiteren Ergebnisse
no-more-results-text = Die Liste endet vor dieser Seite.
nothing-with-filters = Kein Datensatz passt zu diesen Filtern
nothing-with-filters-text = Entfernen Sie einen Filter, um mehr zu sehen.
search-without-filters = Ohne Filter suchen
no-datasets = Noch keine Datensätze
no-datasets-text = Datensätze erscheinen hier, sobald sie geladen und indexiert sind.
nothing-found = Nichts gefunden zu „{ $query }“
nothing-found-text = Versuchen Sie andere oder weniger Wörter. Sehr häufige Wörter wie „der“ werden nicht gesucht.
sort = Sortieren nach
sort-relevance = Relevanz
sort-newest = Neueste
sort-largest = Größte
sort-title = Titel
only-closest = Keine gute Übereinstimmung. Dies sind die nächstliegenden Ergebnisse.
good-matches = { $count ->
    [0] Kein guter Treffer
    [one] { $number } guter Treffer
   *[other] { $number } gute Treffer
}
weaker = { $count ->
   *[other] { $number } schwächere
}
weak-matches = { $count ->
    [one] { $number } schwächerer Treffer auf dieser Seite
   *[other] { $number } schwächere Treffer auf dieser Seite
}
weak-matches-text = Sie enthalten wenige der Wörter oder sind nur entfernt ähnlich.
duplicates-counted = Die Zahlen zählen Duplikate mit, die nur einmal gezeigt werden.
also-from = Auch bei
introduced-by = Vorgestellt in
used-by-works = { $count ->
    [one] Verwendet in { $number } Arbeit
   *[other] Verwendet in { $number } Arbeiten
}
why = Warum dies?
why-fields = Gefunden in
why-meaning = Ähnliche Bedeutung:
why-works = { $count ->
    [one] Verwendet in { $number } Arbeit zu Ähnlichem:
   *[other] Verwendet in { $number } Arbeiten zu Ähnlichem:
}
field-title = Titel
field-description = Beschreibung
field-author = Autor
field-tags = Schlagwörtern
field-entity = Entitäten
field-literal = Texten
field-class = Klassen
field-property = Eigenschaften
preview = Vorschau
preview-graph = Graph
preview-graph-of = Einige Tripel von { $title } als Graph
preview-more = Mehr Tripel
preview-more-query = Mehr Tripel zur Anfrage
preview-query = Tripel passend zu meiner Anfrage zeigen
preview-stored = Die gespeicherten Vorschauen zeigen
ranking = Rangfolge
ranking-candidates = { $count ->
    [one] { $number } Kandidat wurde nach Bedeutung verglichen.
   *[other] { $number } Kandidaten wurden nach Bedeutung verglichen.
}
model-default-title = Wörter und Bedeutung
model-default = Kandidaten nach Wörtern, verglichen nach Bedeutung
model-tf-idf = Häufigkeit und Seltenheit eines Wortes
model-bm25 = Häufigkeit und Seltenheit; lange Texte zählen weniger
model-lmd = Wahrscheinlichkeit der Wörter im Text des Datensatzes
model-fsdm = auch benachbarte Wörter zählen, Feld für Feld
score = Bewertung { $score } ({ $models })

## Filters

filters = Filter
filters-clear = Alle entfernen
filter-add = Filter hinzufügen:
filter-remove = Filter entfernen:
filter-since = Ab { $year }
filter-until = Bis { $year }
filter-within = Ort: { $box }
filter-covers = Zeitraum: { $period }
filter-column = Spalte: { $column }
filter-value = { $facet }: { $value }
less-frequent = { $count ->
    [one] und { $number } selteneres
   *[other] und { $number } seltenere
}
years = Jahr
years-from = Von
years-to = bis
years-published = der Veröffentlichung
years-covered = von dem die Daten handeln
place = Ort
place-example = Land oder US-Bundesstaat
place-not-found = „{ $name }“ ist kein bekanntes Land und kein US-Bundesstaat. Schreiben Sie einen anderen Namen oder Westen,Süden,Osten,Norden in Grad.
years-undated = { $count ->
    [one] { $number } undatierter Datensatz ist enthalten.
   *[other] { $number } undatierte Datensätze sind enthalten.
}
years-histogram = Datensätze nach Jahr, { $first } bis { $last }
place-unknown = { $count ->
    [one] { $number } passender Datensatz ohne bekannten Ort ist nicht dabei.
   *[other] { $number } passende Datensätze ohne bekannten Ort sind nicht dabei.
}
period-unknown = { $count ->
    [one] { $number } passender Datensatz ohne bekannten Zeitraum ist nicht dabei.
   *[other] { $number } passende Datensätze ohne bekannten Zeitraum sind nicht dabei.
}
filter-without = Ohne diesen Filter suchen
facet-task = Aufgaben
facet-modality = Modalitäten
facet-theme = Themen
facet-class = Klassen
facet-keyword = Schlagwörter
facet-publisher = Herausgeber
facet-creator = Autoren und Herausgeber
facet-format = Formate
facet-license = Lizenzen
facet-language = Sprachen
facet-vocabulary = Vokabulare
facet-source = Portale
facet-suggestedTheme = Vorgeschlagene Themen
filter-task = Aufgabe
filter-modality = Modalität
filter-theme = Thema
filter-class = Klasse
filter-keyword = Schlagwort
filter-publisher = Herausgeber
filter-creator = Autor oder Herausgeber
filter-format = Format
filter-license = Lizenz
filter-language = Sprache
filter-vocabulary = Vokabular
filter-source = Portal
filter-suggestedTheme = Vorgeschlagenes Thema

## Page of a dataset

on-this-page = Auf dieser Seite
download = Herunterladen
all-formats = Alle Formate
go-to-source = Zur Quelle
metadata-only = Dieses Portal hat nur die Beschreibung dieses Datensatzes. Die Daten sind bei der Quelle.
tables = Als Tabelle:
technical = Technische Angaben
other-languages = Beschreibung in anderen Sprachen
also-called = Auch genannt
editions = Ausgaben
tables-to-combine = Tabellen zum Verbinden oder Vereinigen
fact-suggested = { $value } (vorgeschlagen nach den Wörtern des Datensatzes)
fact-creator = Autor
fact-uses = Nutzungen
fact-uses-count = { $count ->
    [one] { $number } Arbeit, laut Katalog
   *[other] { $number } Arbeiten, laut Katalog
}
fact-issued = Veröffentlicht
fact-modified = Geändert
fact-place = Gebiet
fact-period = Abgedeckter Zeitraum
fact-from-metadata = { $value } (aus den Metadaten)
fact-from-content = { $value } (aus dem Inhalt)
place-map = Karte des Gebiets { $box }
fact-homepage = Startseite
fact-source = Quelle
fact-iri = IRI des Datensatzes
fact-endpoint = SPARQL-Endpunkt
open-image = Bild öffnen
preview-method = Methode: { $method }
preview-methods = Methode
preview-budget = Anzahl der Tripel
preview-none = Kein Tripel passt.
preview-shown = { $shown } von { $all } Tripeln.
preview-row = Zeile
preview-rows-shown = { $rows } von { $all-rows } Zeilen, { $columns } von { $all-columns } Spalten
preview-interrupted = Die Suche war nicht erschöpfend.
preview-other-methods = Andere Methoden:
content = Inhalt
triples = { $count ->
    [one] { $number } Tripel
   *[other] { $number } Tripel
}
triples-sample = { $count ->
    [one] Stichprobe von { $number } Tripel
   *[other] Stichprobe von { $number } Tripeln
}
triples-sample-of = Stichprobe von { $held } aus { $all } Tripeln
entities = { $count ->
    [one] { $number } Entität
   *[other] { $number } Entitäten
}
classes-count = { $count ->
    [one] { $number } Klasse
   *[other] { $number } Klassen
}
properties-count = { $count ->
    [one] { $number } Eigenschaft
   *[other] { $number } Eigenschaften
}
literals = { $count ->
    [one] { $number } Literal
   *[other] { $number } Literale
}
content-details = Eigenschaften, Sprachen und Verweise
properties = Eigenschaften
links-to = Links zu
edited-here = In diesem Katalog bearbeitet, nicht von der Quelle: { $keys }
key-title = Titel
key-alternative = Weitere Titel
key-description = Beschreibung
key-keywords = Schlagwörter
key-theme = Themen
key-creator = Urheber
key-publisher = Herausgeber
key-contact = Kontakt
key-license = Lizenz
key-accessRights = Zugangsrechte
key-issued = Veröffentlicht
key-modified = Geändert
key-landingPage = Startseite
key-language = Sprachen
key-spatial = Gebiet
key-temporal = Zeitraum
key-frequency = Häufigkeit der Aktualisierung
key-version = Version
key-conformsTo = Standards
key-otherIdentifier = Weitere Kennungen
skipped-statements = { $count ->
    [one] { $number } Aussage der Dateien war nicht lesbar und fehlt hier.
   *[other] { $number } Aussagen der Dateien waren nicht lesbar und fehlen hier.
}
sampled-content = { $count ->
    [one] Der Inhalt ist groß: Vorschau, durchsuchte Texte und Abdeckung stammen aus einer Stichprobe von { $number } Tripel. Alle Anzahlen gelten für den ganzen Inhalt.
   *[other] Der Inhalt ist groß: Vorschau, durchsuchte Texte und Abdeckung stammen aus einer Stichprobe von { $number } Tripeln. Alle Anzahlen gelten für den ganzen Inhalt.
}
index-only-content = Der Inhalt kann durchsucht und heruntergeladen, aber nicht mit SPARQL abgefragt werden.
connections = Wie Klassen verbunden sind
connections-of = Klassen und Links von { $title }
connections-text = Kreise sind Klassen mit der Zahl ihrer Entitäten. Pfeile sind Eigenschaften zwischen ihnen; ihre Breite wächst mit der Zahl der Tripel.
no-class = ohne Klasse
not-shown = Nicht gezeigt:
smaller-classes = { $count ->
    [one] { $number } kleinere Klasse
   *[other] { $number } kleinere Klassen
}
rarer-links = { $count ->
    [one] { $number } seltenerer Link
   *[other] { $number } seltenere Links
}
links = { $count ->
    [one] { $number } Link
   *[other] { $number } Links
}
link-from = Von
link-property = Eigenschaft
link-to = Zu
link-triples = Tripel
example-entities = Beispielentitäten
one-of = { $class }, eine von { $number }
all-triples = Alle Tripel
query-with-sparql = Abfragen mit SPARQL
example-triples = Einige Tripel
example-class = Entitäten der Klasse „{ $class }“
example-pattern = „{ $class }“ mit „{ $property }“ und „{ $other }“
example-link = Von „{ $from }“ über „{ $property }“ zu „{ $to }“
example-values = Die häufigsten Werte von „{ $property }“
example-elsewhere = Alle Datensätze mit der Klasse „{ $class }“
similar-datasets = Ähnliche Datensätze
all-similar = Alle ähnlichen Datensätze
search-like = Ähnliche Datensätze suchen, zum Thema
download-and-cite = Herunterladen und zitieren
download-file = Datei
download-files = Dateien
download-copies = Hier aufbewahrte Kopien, wie sie geladen wurden
download-content = Hier gespeicherter Inhalt
series = Reihe
series-note = Eine Reihe von Datensätzen: Die Daten sind in ihren Mitgliedern.
series-members = Datensätze der Reihe
fact-series = Reihe
fact-first = Erster
fact-last = Letzter
fact-previous = Voriger der Reihe
fact-next = Nächster der Reihe
download-structure = Struktur und Statistik
download-description = Beschreibung
cite = Zitieren
metadata-quality = Qualität der Metadaten
referenced-by = Verwiesen von
entity-no-triples = Keine Tripel mit diesem Subjekt.
entity-unnamed = Ein Knoten ohne Namen

## Similar datasets

similarity = Ähnlichkeit
score-details = Einzelheiten
similar-to = Ähnlich wie { $title }
similar-none = Kein Datensatz ist ähnlich.
similar-compared = { $count ->
    [one] { $number } Datensatz wurde verglichen.
   *[other] { $number } Datensätze wurden verglichen.
}
similar-without = Duplikate und andere Ausgaben stehen auf der Seite des Datensatzes.
basis-vocabulary = Vokabular
basis-links = Links
basis-meaning = Bedeutung
basis-words = Wörter
shared-classes = { $count ->
    [one] { $number } gemeinsame Klasse
   *[other] { $number } gemeinsame Klassen
}
shared-properties = { $count ->
    [one] { $number } gemeinsame Eigenschaft
   *[other] { $number } gemeinsame Eigenschaften
}
shared-vocabularies = { $count ->
    [one] { $number } gemeinsames Vokabular
   *[other] { $number } gemeinsame Vokabulare
}
shared-links-to = { $count ->
    [one] auf { $number } seiner Namensräume wird verwiesen
   *[other] auf { $number } seiner Namensräume wird verwiesen
}
shared-links-from = { $count ->
    [one] { $number } Namensraum, auf den er verweist
   *[other] { $number } Namensräume, auf die er verweist
}
shared-entities = { $count ->
    [one] { $number } Entität, auf die beide verweisen
   *[other] { $number } Entitäten, auf die beide verweisen
}
shared-targets = { $count ->
    [one] { $number } andere Quelle, auf die beide verweisen
   *[other] { $number } andere Quellen, auf die beide verweisen
}
shared-meaning = nahe Bedeutung
shared-words = die Wörter { $words }
like-text = Findet Datensätze, die dieselben Klassen und Eigenschaften nutzen, auf dieselben Entitäten verweisen oder Ähnliches bedeuten wie Ihr RDF.
like-not-stored = Ihre Daten werden nicht gespeichert.
like-triples = { $count ->
    [one] { $number } Tripel wurde gelesen.
   *[other] { $number } Tripel wurden gelesen.
}
like-problems = Einige Aussagen waren nicht lesbar
like-another = Weitere Suche
like-file = Eine RDF-Datei: hier ablegen oder auswählen
like-formats = Turtle, TriG, N-Triples, N-Quads, N3, RDF/XML oder JSON-LD, auch mit gzip, bzip2, xz oder zstd komprimiert (kein zip); bis { $megabytes } MB.
like-paste = Oder RDF einfügen
like-dataset = Oder Kennung oder IRI eines Datensatzes eingeben
like-find = Ähnliche Datensätze finden
like-programs = Programme senden RDF im Rumpf und erhalten JSON:

## SPARQL page

sparql-text = Der Default-Graph enthält die Metadaten aller Datensätze. Der Inhalt jedes Datensatzes ist ein benannter Graph mit der IRI des Datensatzes.
sparql-examples = Beispielabfragen
sparql-example-sizes = Datensätze und ihre Größe
sparql-example-class = Datensätze, die eine Klasse verwenden
sparql-example-task = Datensätze für eine Aufgabe, mit Jahren und Publikationen
sparql-example-snippets = Gespeicherte Vorschauen und ihre Methoden
sparql-example-content = Suche im Inhalt aller Datensätze
sparql-example-search-why = Gefundene Datensätze mit Begründung
sparql-example-search-classes = Klassen der gefundenen Datensätze
sparql-example-search-content = Tripel der gefundenen Datensätze
sparql-query = SPARQL-Abfrage
run = Ausführen
sparql-answer-as = Ergebnis als
sparql-table = Tabelle
sparql-rows = { $count ->
    [one] { $number } Zeile
   *[other] { $number } Zeilen
}
sparql-truncated = Es gibt mehr Zeilen; der Endpunkt begrenzt ihre Zahl. Fügen Sie LIMIT oder ein engeres Muster hinzu.
sparql-link = Link zu diesem Ergebnis
sparql-no-link = Die Adresse dieser Seite enthält die Abfrage nicht, weil sie lang ist. Speichern Sie die Abfrage, um sie zu wiederholen.
sparql-chart = Diagramm: { $column } nach { $label }
sparql-map = Karte des Ergebnisses
sparql-completions = Präfixe, Klassen und Eigenschaften
sparql-search = Suche in einer Abfrage
sparql-search-text = Ein Service-Muster findet Datensätze, verbindbar mit ihren Beschreibungen und Inhalten:
sparql-unknown-prefix = Zeile { $line }: Das Präfix „{ $prefix }:“ ist nicht deklariert.
sparql-add-line = Fügen Sie diese Zeile am Anfang ein:
sparql-unexpected = Zeile { $line }, Spalte { $column }: „{ $found }“ ist hier nicht erlaubt.
sparql-unexpected-end = Zeile { $line }: Die Abfrage endet zu früh.
sparql-details = Was die Grammatik hier erlaubt

## Quality

quality-purpose = Diese Seite zeigt, welche kleinen Änderungen Datensätze leichter auffindbar und nutzbar machen.
quality-datasets = { $count ->
    [one] { $number } Datensatz wurde bewertet.
   *[other] { $number } Datensätze wurden bewertet.
}
quality-mean = Mittlere Bewertung
quality-improvements = Verbesserungen mit der größten Wirkung
quality-improvement = Verbesserung
quality-affected = Datensätze, die gewinnen
quality-points = Punkte
quality-not-scored = nicht Teil der Bewertung
quality-dimensions = Erreichte Punkte je Dimension
quality-ratings = Einstufungen
quality-publishers = Nach Herausgeber
quality-next = Bester nächster Schritt
quality-no-publisher = Ohne Herausgeber
quality-start-here = Datensätze, die am meisten gewinnen
quality-method = Die Bewertung folgt:
quality-unchecked = Nicht geprüfte Adressen kosten keine Punkte.
quality-open-points = { $count ->
    [one] { $number } Punkt betrifft nicht geprüfte Adressen und zählt nicht.
   *[other] { $number } Punkte betreffen nicht geprüfte Adressen und zählen nicht.
}
quality-distribution = Bewertete Distribution:
quality-violations = Zu korrigieren für DCAT-AP 3.0.1
quality-recommended = Von DCAT-AP empfohlen
quality-all = Alle Datensätze zusammen
band-bad = ausbaufähig
band-sufficient = ausreichend
band-good = gut
band-excellent = ausgezeichnet
dimension-findability = Auffindbarkeit
dimension-accessibility = Zugänglichkeit
dimension-interoperability = Interoperabilität
dimension-reusability = Nachnutzbarkeit
dimension-contextuality = Kontext
dimension-texts = Texte
dimension-content = Inhalt
outcome-met = erfüllt
outcome-missed = kann ergänzt werden
outcome-unknown = nicht geprüft

## API documentation

api-text = Alle Routen sind ohne Schlüssel lesbar, auch für Seiten anderer Herkunft. Für Programme, die Clients schreiben:
api-parameter = Parameter
api-required = erforderlich
api-response = Antwort

## Tables

table-rows = { $count ->
    [one] { $number } Zeile
   *[other] { $number } Zeilen
}
table-rows-minimum = { $count ->
    [one] mehr als { $number } Zeile
   *[other] mehr als { $number } Zeilen
}
table-csvw = Beschreibung der Tabelle für Programme
table-filter = Mit dem Text
table-none = Keine Zeile enthält diesen Text.
table-matching = { $count ->
    [one] { $number } Zeile enthält diesen Text.
   *[other] { $number } Zeilen enthalten diesen Text.
}
table-matching-minimum = { $count ->
    [one] Mindestens { $number } Zeile enthält diesen Text.
   *[other] Mindestens { $number } Zeilen enthalten diesen Text.
}
table-matching-csv = nur diese Zeilen
table-name = Name
table-incomplete = Der Text wurde nur in den ersten { $rows } Zeilen gesucht. Die CSV-Datei enthält alle Zeilen mit diesem Text.
table-not-sorted = Sortieren lassen sich nur Tabellen mit höchstens { $rows } Zeilen.
table-no-column = Die Zeilen sind nicht sortiert: Diese Tabelle hat keine Spalte „{ $column }“.
table-more-columns = { $count ->
    [one] { $number } weitere Spalte ist in der CSV-Datei.
   *[other] { $number } weitere Spalten sind in der CSV-Datei.
}

## Errors

error-missing = Diese Seite gibt es nicht
error-missing-advice = Die Adresse ist vielleicht falsch geschrieben, oder der Datensatz wurde entfernt.
error-busy = Der Server ist ausgelastet
error-busy-advice = Bitte versuchen Sie es in einigen Sekunden erneut.
error-long = Diese Anfrage ist zu lang
error-long-advice = Bitte kürzen Sie die Suche. Einige Wörter oder ein, zwei Sätze finden am meisten.
error-internal = Etwas ist schiefgegangen
error-internal-advice = Der Fehler wurde protokolliert. Bitte versuchen Sie es später erneut.
error-request = Diese Anfrage kann nicht beantwortet werden
error-request-advice = Bitte prüfen Sie die Adresse oder das Formular:
error-start = Startseite

## Entitäten

entities-for = Entitäten zu „{ $query }“
entities-count = { $count ->
    [one] { $number } Entität
   *[other] { $number } Entitäten
}
entities-datasets = { $count ->
    [one] in { $number } Datensatz
   *[other] in { $number } Datensätzen
}
entities-incomplete = Nicht alle Datensätze mit diesen Wörtern wurden durchsucht. Suchen Sie in einem Datensatz oder nach selteneren Wörtern.
entities-everywhere = In allen Datensätzen suchen
entities-datasets-link = Datensätze suchen
entities-link = Entitäten mit diesen Wörtern
entities-here = Entitäten dieses Datensatzes nach Wörtern finden
occurrences-of = Datensätze mit { $resource }
occurrences-link = Datensätze, in denen diese Ressource vorkommt
occurrences-none = Kein Datensatz enthält diese Ressource.
occurrences-minimums = Die Ressource ist häufig: Die Zahlen sind Mindestwerte.
occurrences-incomplete = Weitere Datensätze enthalten sie möglicherweise.
occurs-as-subject = { $count ->
    [one] Subjekt von { $number } Tripel
   *[other] Subjekt von { $number } Tripeln
}
occurs-as-object = { $count ->
    [one] Objekt von { $number } Tripel
   *[other] Objekt von { $number } Tripeln
}
occurs-as-class = { $count ->
    [one] Klasse von { $number } Entität
   *[other] Klasse von { $number } Entitäten
}
occurs-as-property = { $count ->
    [one] Eigenschaft von { $number } Tripel
   *[other] Eigenschaft von { $number } Tripeln
}

## Values of facets

theme-agri = Landwirtschaft, Fischerei, Forstwirtschaft und Nahrungsmittel
theme-econ = Wirtschaft und Finanzen
theme-educ = Bildung, Kultur und Sport
theme-ener = Energie
theme-envi = Umwelt
theme-gove = Regierung und öffentlicher Sektor
theme-heal = Gesundheit
theme-intr = Internationale Themen
theme-just = Justiz, Rechtssystem und öffentliche Sicherheit
theme-regi = Regionen und Städte
theme-soci = Bevölkerung und Gesellschaft
theme-tech = Wissenschaft und Technologie
theme-tran = Verkehr
language-arabic = Arabisch
language-bulgarian = Bulgarisch
language-catalan = Katalanisch
language-chinese = Chinesisch
language-croatian = Kroatisch
language-czech = Tschechisch
language-danish = Dänisch
language-dutch = Niederländisch
language-english = Englisch
language-estonian = Estnisch
language-finnish = Finnisch
language-french = Französisch
language-german = Deutsch
language-greek = Griechisch
language-hungarian = Ungarisch
language-irish = Irisch
language-italian = Italienisch
language-japanese = Japanisch
language-latvian = Lettisch
language-lithuanian = Litauisch
language-maltese = Maltesisch
language-norwegian = Norwegisch
language-polish = Polnisch
language-portuguese = Portugiesisch
language-romanian = Rumänisch
language-russian = Russisch
language-slovak = Slowakisch
language-slovenian = Slowenisch
language-spanish = Spanisch
language-swedish = Schwedisch
