# Messages of the pages in Italian.

## Frame of every page

skip-to-content = Vai al contenuto
nav-main = Menu principale
nav-menu = Menu
nav-datasets = Insiemi di dati
nav-similar = Trova dati simili ai miei
nav-explore = Esplora
nav-all-datasets = Tutti gli insiemi di dati
nav-query = Interroga con SPARQL
nav-programs = Per i programmi
nav-api = Documentazione dell’API
nav-catalogue = Catalogo (DCAT)
nav-feed = Feed delle novità (Atom)
nav-endpoint = Descrizione dell’endpoint SPARQL
nav-language = Lingua
footer-about = Informazioni sul portale
footer-imprint = Note legali
footer-privacy = Privacy
footer-accessibility = Accessibilità
footer-contact = Contatti
box-label = Cerca insiemi di dati con parole o una frase intera
box-placeholder = Di quali dati ha bisogno?
box-search = Cerca
box-suggestions = Insiemi di dati suggeriti
apply = Applica
show = Mostra
close = Chiudi
pages = Pagine
page-number = Pagina { $number }
previous = Precedente
previous-page = Pagina precedente
next = Successiva
more = { $count ->
    [one] { $number } altro
   *[other] altri { $number }
}
months = gennaio, febbraio, marzo, aprile, maggio, giugno, luglio, agosto, settembre, ottobre, novembre, dicembre
date = { $day } { $month } { $year }

## Start page

start-title = Trova insiemi di dati per metadati e contenuto
summary = Questo portale contiene { $holds }.
summary-publishers = { $count ->
    [one] di { $number } editore o autore
   *[other] di { $number } editori e autori
}
summary-classes = { $count ->
    [one] con { $number } classe di entità
   *[other] con { $number } classi di entità
}
start-question = Che cosa c’è su { $topic }?
start-try = Domande
start-all = { $count ->
    [one] { $number } insieme di dati
   *[other] Tutti i { $number } insiemi di dati
}
start-topics = Temi
start-newest = Aggiunti di recente

## Results

datasets = Insiemi di dati
datasets-count = { $count ->
    [one] { $number } insieme di dati
   *[other] { $number } insiemi di dati
}
results = { $count ->
    [one] { $number } risultato
   *[other] { $number } risultati
}
results-for = Risultati per «{ $query }»
feed-of-search = Questa ricerca come feed
feed-last-changed = Insiemi di dati, gli ultimi modificati per primi
did-you-mean = Intendeva
corrected = Ricerca di “{ $text }”
interpreted = Interpretato:
interpreted-excluded = senza { $part }
interpreted-word = la parola «{ $text }»
interpreted-phrase = la frase «{ $text }»
interpreted-class = la classe { $text }
interpreted-property = la proprietà { $text }
interpreted-vocabulary = il vocabolario { $text }
interpreted-entity = l’entità { $text }
interpreted-unknown = il nome { $text }, assente da tutti gli insiemi di dati
interpreted-ignored = «{ $text }», ignorato perché le sue parole sono troppo comuni o troppe
interpreted-translation = «{ $text }» come { $translations }
interpreted-literal = Cercare le parole come sono scritte
suggested-filters = Filtri suggeriti:
no-more-results = Nessun altro risultato
no-more-results-text = L’elenco termina prima di questa pagina.
nothing-with-filters = Nessun insieme di dati soddisfa questi filtri
nothing-with-filters-text = Rimuova un filtro per vedere altro.
search-without-filters = Cerca senza filtri
no-datasets = Ancora nessun insieme di dati
no-datasets-text = Gli insiemi di dati appaiono qui una volta caricati e indicizzati.
nothing-found = Nessun risultato per «{ $query }»
nothing-found-text = Provi altre parole, sinonimi o meno parole. Le parole molto comuni come «il» non vengono cercate.
sort = Ordina per
sort-relevance = Rilevanza
sort-newest = Più recenti
sort-largest = Dimensione
sort-title = Titolo
only-closest = Nessuna corrispondenza vicina. Questi sono i risultati più prossimi.
good-matches = { $count ->
    [0] Nessun risultato buono
    [one] { $number } risultato buono
   *[other] { $number } risultati buoni
}
weaker = { $count ->
    [one] { $number } meno pertinente
   *[other] { $number } meno pertinenti
}
weak-matches = { $count ->
    [one] { $number } risultato meno pertinente in questa pagina
   *[other] { $number } risultati meno pertinenti in questa pagina
}
weak-matches-text = Contengono poche delle parole o sono solo lontanamente simili.
duplicates-counted = I numeri comprendono duplicati mostrati una sola volta.
also-from = Anche presso
introduced-by = Presentato in
used-by-works = { $count ->
    [one] Usato da { $number } lavoro
   *[other] Usato da { $number } lavori
}
why = Perché?
why-fields = Trovato in
why-meaning = Significato simile:
why-works = { $count ->
    [one] Usato da { $number } lavoro su un tema simile:
   *[other] Usato da { $number } lavori su un tema simile:
}
field-title = titolo
field-description = descrizione
field-author = autore
field-tags = parole chiave
field-entity = entità
field-literal = testi
field-class = classi
field-property = proprietà
preview = Anteprima
preview-graph = Grafo
preview-graph-of = Alcune triple di { $title } come grafo
preview-more = Altre triple
preview-more-query = Altre triple per la ricerca
preview-query = Mostra le triple corrispondenti alla mia ricerca
preview-stored = Mostra le anteprime salvate
ranking = Classifica
ranking-candidates = { $count ->
    [one] { $number } candidato è stato confrontato per significato.
   *[other] { $number } candidati sono stati confrontati per significato.
}
model-default-title = Parole e significato
model-default = candidati per parole, confrontati per significato
model-tf-idf = frequenza di una parola e sua rarità
model-bm25 = frequenza e rarità; i testi lunghi contano meno
model-lmd = probabilità delle parole nel testo dell’insieme
model-fsdm = contano anche le parole vicine, campo per campo
score = Punteggio { $score } ({ $models })

## Filters

filters = Filtri
filters-clear = Rimuovi tutti
filter-add = Aggiungi filtro:
filter-remove = Rimuovi filtro:
filter-since = Dal { $year }
filter-until = Fino al { $year }
filter-within = Luogo: { $box }
filter-covers = Periodo: { $period }
filter-column = Colonna: { $column }
filter-value = { $facet }: { $value }
less-frequent = { $count ->
    [one] e { $number } meno frequente
   *[other] e { $number } meno frequenti
}
years = Anno
years-from = Da
years-to = a
years-published = di pubblicazione
years-covered = che i dati coprono
place = Luogo
place-example = Paese o Stato degli USA
place-not-found = «{ $name }» non è un paese o uno Stato degli USA conosciuto. Scriva un altro nome, oppure ovest,sud,est,nord in gradi.
years-undated = { $count ->
    [one] È incluso { $number } insieme senza data.
   *[other] Sono inclusi { $number } insiemi senza data.
}
years-histogram = Insiemi di dati per anno, dal { $first } al { $last }
place-unknown = { $count ->
    [one] È escluso { $number } dataset corrispondente senza luogo noto.
   *[other] Sono esclusi { $number } dataset corrispondenti senza luogo noto.
}
period-unknown = { $count ->
    [one] È escluso { $number } dataset corrispondente senza periodo noto.
   *[other] Sono esclusi { $number } dataset corrispondenti senza periodo noto.
}
filter-without = Cerca senza questo filtro
facet-task = Compiti
facet-modality = Modalità
facet-theme = Temi
facet-class = Classi
facet-keyword = Parole chiave
facet-publisher = Editori
facet-creator = Autori ed editori
facet-format = Formati
facet-license = Licenze
facet-language = Lingue
facet-vocabulary = Vocabolari
facet-source = Portali
facet-suggestedTheme = Temi suggeriti
filter-task = Compito
filter-modality = Modalità
filter-theme = Tema
filter-class = Classe
filter-keyword = Parola chiave
filter-publisher = Editore
filter-creator = Autore o editore
filter-format = Formato
filter-license = Licenza
filter-language = Lingua
filter-vocabulary = Vocabolario
filter-source = Portale
filter-suggestedTheme = Tema suggerito

## Page of a dataset

on-this-page = In questa pagina
download = Scarica
all-formats = Tutti i formati
go-to-source = Vai alla fonte
metadata-only = Questo portale ha solo la descrizione di questo insieme. I dati sono presso la fonte.
tables = Come tabella:
technical = Dettagli tecnici
other-languages = Descrizione in altre lingue
also-called = Chiamato anche
editions = Edizioni
tables-to-combine = Tabelle da collegare o unire
fact-suggested = { $value } (suggerito dalle parole del dataset)
fact-creator = Autore
fact-uses = Utilizzi
fact-uses-count = { $count ->
    [one] { $number } lavoro, secondo il catalogo
   *[other] { $number } lavori, secondo il catalogo
}
fact-issued = Pubblicato
fact-modified = Modificato
fact-place = Area
fact-period = Periodo coperto
fact-from-metadata = { $value } (dai metadati)
fact-from-content = { $value } (dal contenuto)
place-map = Mappa dell’area { $box }
fact-homepage = Pagina web
fact-source = Fonte
fact-iri = IRI dell’insieme di dati
fact-endpoint = Endpoint SPARQL
open-image = Apri immagine
preview-method = Metodo: { $method }
preview-methods = Metodo
preview-budget = Numero di triple
preview-none = Nessuna tripla corrisponde.
preview-shown = { $shown } di { $all } triple.
preview-row = Riga
preview-rows-shown = { $rows } righe su { $all-rows }, { $columns } colonne su { $all-columns }
preview-interrupted = La ricerca non è stata esaustiva.
preview-other-methods = Altri metodi:
content = Contenuto
triples = { $count ->
    [one] { $number } tripla
   *[other] { $number } triple
}
triples-sample = { $count ->
    [one] un campione di { $number } tripla
   *[other] un campione di { $number } triple
}
triples-sample-of = un campione di { $held } su { $all } triple
entities = { $count ->
    [one] { $number } entità
   *[other] { $number } entità
}
classes-count = { $count ->
    [one] { $number } classe
   *[other] { $number } classi
}
properties-count = { $count ->
    [one] { $number } proprietà
   *[other] { $number } proprietà
}
literals = { $count ->
    [one] { $number } letterale
   *[other] { $number } letterali
}
content-details = Proprietà, lingue e collegamenti
properties = Proprietà
links-to = Collegamenti a
edited-here = Modificato in questo catalogo, non dalla fonte: { $keys }
key-title = Titolo
key-alternative = Altri titoli
key-description = Descrizione
key-keywords = Parole chiave
key-theme = Temi
key-creator = Autori
key-publisher = Editore
key-contact = Contatto
key-license = Licenza
key-accessRights = Diritti di accesso
key-issued = Pubblicato
key-modified = Modificato
key-landingPage = Pagina iniziale
key-language = Lingue
key-spatial = Area
key-temporal = Periodo coperto
key-frequency = Frequenza di aggiornamento
key-version = Versione
key-conformsTo = Norme
key-otherIdentifier = Altri identificatori
skipped-statements = { $count ->
    [one] { $number } enunciato dei suoi file non è leggibile e manca qui.
   *[other] { $number } enunciati dei suoi file non sono leggibili e mancano qui.
}
sampled-content = { $count ->
    [one] Il contenuto è grande: anteprima, testi cercati e copertura provengono da un campione di { $number } tripla. Tutti i conteggi riguardano l’intero contenuto.
   *[other] Il contenuto è grande: anteprima, testi cercati e copertura provengono da un campione di { $number } triple. Tutti i conteggi riguardano l’intero contenuto.
}
index-only-content = Il contenuto si può cercare e scaricare, ma non interrogare con SPARQL.
connections = Come sono collegate le classi
connections-of = Classi e collegamenti di { $title }
connections-text = I cerchi sono classi con il numero di entità. Le frecce sono proprietà tra loro; la larghezza cresce con il numero di triple.
no-class = senza classe
not-shown = Non mostrato:
smaller-classes = { $count ->
    [one] { $number } classe più piccola
   *[other] { $number } classi più piccole
}
rarer-links = { $count ->
    [one] { $number } collegamento più raro
   *[other] { $number } collegamenti più rari
}
links = { $count ->
    [one] { $number } collegamento
   *[other] { $number } collegamenti
}
link-from = Da
link-property = Proprietà
link-to = A
link-triples = Triple
example-entities = Entità di esempio
one-of = { $class }, una di { $number }
all-triples = Tutte le triple
query-with-sparql = Interroga con SPARQL
example-triples = Alcune triple
example-class = Entità della classe «{ $class }»
example-pattern = «{ $class }» con «{ $property }» e «{ $other }»
example-link = Da «{ $from }» tramite «{ $property }» a «{ $to }»
example-values = I valori più frequenti di «{ $property }»
example-elsewhere = Tutti gli insiemi di dati con la classe «{ $class }»
similar-datasets = Insiemi di dati simili
all-similar = Tutti gli insiemi simili
search-like = Cercare insiemi simili, su
download-and-cite = Scarica e cita
download-file = File
download-files = File
download-copies = Copie conservate qui, così come caricate
download-content = Contenuto conservato qui
series = Serie
series-note = Una serie di dataset: i dati sono nei suoi membri.
series-members = Dataset della serie
fact-series = Serie
fact-first = Primo
fact-last = Ultimo
fact-previous = Precedente della serie
fact-next = Successivo della serie
download-structure = Struttura e statistiche
download-description = Descrizione
cite = Cita
metadata-quality = Qualità dei metadati
referenced-by = Citato da
entity-no-triples = Nessuna tripla con questo soggetto.
entity-unnamed = Un nodo senza nome

## Similar datasets

similarity = Somiglianza
score-details = Dettagli
similar-to = Simili a { $title }
similar-none = Nessun insieme di dati è simile.
similar-compared = { $count ->
    [one] È stato confrontato { $number } insieme di dati.
   *[other] Sono stati confrontati { $number } insiemi di dati.
}
similar-without = I duplicati e le altre edizioni sono elencati nella pagina dell’insieme di dati.
basis-vocabulary = vocabolario
basis-links = collegamenti
basis-meaning = significato
basis-words = parole
shared-classes = { $count ->
    [one] { $number } classe in comune
   *[other] { $number } classi in comune
}
shared-properties = { $count ->
    [one] { $number } proprietà in comune
   *[other] { $number } proprietà in comune
}
shared-vocabularies = { $count ->
    [one] { $number } vocabolario in comune
   *[other] { $number } vocabolari in comune
}
shared-links-to = { $count ->
    [one] { $number } dei suoi spazi dei nomi è collegato
   *[other] { $number } dei suoi spazi dei nomi sono collegati
}
shared-links-from = { $count ->
    [one] { $number } spazio dei nomi a cui rimanda
   *[other] { $number } spazi dei nomi a cui rimanda
}
shared-entities = { $count ->
    [one] { $number } entità a cui entrambi rimandano
   *[other] { $number } entità a cui entrambi rimandano
}
shared-targets = { $count ->
    [one] { $number } altra fonte a cui entrambi rimandano
   *[other] { $number } altre fonti a cui entrambi rimandano
}
shared-meaning = significato vicino
shared-words = le parole { $words }
like-text = Trova insiemi di dati che usano le stesse classi e proprietà, rimandano alle stesse entità o hanno un significato simile al suo RDF.
like-not-stored = I suoi dati non vengono salvati.
like-triples = { $count ->
    [one] È stata letta { $number } tripla.
   *[other] Sono state lette { $number } triple.
}
like-problems = Alcuni enunciati non sono leggibili
like-another = Un’altra ricerca
like-file = Un file RDF: lo trascini qui o lo scelga
like-formats = Turtle, TriG, N-Triples, N-Quads, N3, RDF/XML o JSON-LD, anche compresso con gzip, bzip2, xz o zstd (non zip); fino a { $megabytes } MB.
like-paste = Oppure incolli RDF
like-dataset = Oppure inserisca l’identificatore o l’IRI di un insieme di dati
like-find = Trova insiemi simili
like-programs = I programmi inviano RDF nel corpo e ricevono JSON:

## SPARQL page

sparql-text = Il grafo predefinito contiene i metadati di tutti gli insiemi di dati. Il contenuto di ciascuno è un grafo con nome con il suo IRI.
sparql-examples = Interrogazioni di esempio
sparql-example-sizes = Gli insiemi di dati e la loro dimensione
sparql-example-class = Insiemi di dati che usano una classe
sparql-example-task = Insiemi di dati per un compito, con anni e pubblicazioni
sparql-example-snippets = Anteprime salvate e i loro metodi
sparql-example-content = Ricerca nel contenuto di tutti gli insiemi di dati
sparql-example-search-why = Insiemi di dati trovati, e perché
sparql-example-search-classes = Classi degli insiemi di dati trovati
sparql-example-search-content = Triple degli insiemi di dati trovati
sparql-query = Interrogazione SPARQL
run = Esegui
sparql-answer-as = Risultato come
sparql-table = Tabella
sparql-rows = { $count ->
    [one] { $number } riga
   *[other] { $number } righe
}
sparql-truncated = Ci sono altre righe; l’endpoint ne limita il numero. Aggiunga LIMIT o un modello più specifico.
sparql-link = Link a questo risultato
sparql-no-link = L’indirizzo di questa pagina non contiene l’interrogazione, perché è lunga. Salvi l’interrogazione per ripeterla.
sparql-chart = Grafico: { $column } per { $label }
sparql-map = Mappa del risultato
sparql-completions = Prefissi, classi e proprietà
sparql-search = Ricerca in un’interrogazione
sparql-search-text = Un modello di servizio trova insiemi di dati, da unire alle loro descrizioni e contenuti:
sparql-unknown-prefix = Riga { $line }: il prefisso «{ $prefix }:» non è dichiarato.
sparql-add-line = Aggiunga questa riga all’inizio:
sparql-unexpected = Riga { $line }, colonna { $column }: «{ $found }» non è consentito qui.
sparql-unexpected-end = Riga { $line }: l’interrogazione termina troppo presto.
sparql-details = Ciò che la grammatica consente qui

## Quality

quality-purpose = Questa pagina mostra quali piccole modifiche rendono i dati più facili da trovare e da usare.
quality-datasets = { $count ->
    [one] È stato valutato { $number } insieme di dati.
   *[other] Sono stati valutati { $number } insiemi di dati.
}
quality-mean = Punteggio medio
quality-improvements = Miglioramenti con il maggiore effetto
quality-improvement = Miglioramento
quality-affected = Insiemi che migliorano
quality-points = Punti
quality-not-scored = fuori dal punteggio
quality-dimensions = Punti ottenuti per dimensione
quality-ratings = Valutazioni
quality-publishers = Per editore
quality-next = Miglior passo successivo
quality-no-publisher = Senza editore
quality-start-here = Insiemi che migliorano di più
quality-method = Il punteggio segue:
quality-unchecked = Gli indirizzi non verificati non tolgono punti.
quality-open-points = { $count ->
    [one] { $number } punto riguarda indirizzi non verificati e non conta.
   *[other] { $number } punti riguardano indirizzi non verificati e non contano.
}
quality-distribution = Distribuzione valutata:
quality-violations = Da correggere per DCAT-AP 3.0.1
quality-recommended = Raccomandato da DCAT-AP
quality-all = Tutti gli insiemi di dati insieme
band-bad = migliorabile
band-sufficient = sufficiente
band-good = buona
band-excellent = eccellente
dimension-findability = Reperibilità
dimension-accessibility = Accessibilità
dimension-interoperability = Interoperabilità
dimension-reusability = Riutilizzabilità
dimension-contextuality = Contestualità
dimension-texts = Testi
dimension-content = Contenuto
outcome-met = soddisfatto
outcome-missed = si può aggiungere
outcome-unknown = non verificato

## API documentation

api-text = Tutte le rotte si leggono senza chiave, anche da pagine di altre origini. Per programmi che scrivono client:
api-parameter = Parametro
api-required = obbligatorio
api-response = Risposta

## Tables

table-rows = { $count ->
    [one] { $number } riga
   *[other] { $number } righe
}
table-rows-minimum = { $count ->
    [one] più di { $number } riga
   *[other] più di { $number } righe
}
table-csvw = Descrizione della tabella per i programmi
table-filter = Con il testo
table-none = Nessuna riga contiene questo testo.
table-matching = { $count ->
    [one] { $number } riga contiene questo testo.
   *[other] { $number } righe contengono questo testo.
}
table-matching-minimum = { $count ->
    [one] Almeno { $number } riga contiene questo testo.
   *[other] Almeno { $number } righe contengono questo testo.
}
table-matching-csv = solo queste righe
table-name = Nome
table-incomplete = Il testo è stato cercato solo nelle prime { $rows } righe. Il CSV contiene tutte le righe con questo testo.
table-not-sorted = Si possono ordinare solo tabelle con al massimo { $rows } righe.
table-no-column = Le righe non sono ordinate: questa tabella non ha la colonna «{ $column }».
table-more-columns = { $count ->
    [one] { $number } altra colonna è nel CSV.
   *[other] { $number } altre colonne sono nel CSV.
}

## Errors

error-missing = Questa pagina non esiste
error-missing-advice = L’indirizzo può essere sbagliato, o l’insieme di dati è stato rimosso.
error-busy = Il server è occupato
error-busy-advice = Riprovi tra qualche secondo.
error-long = Questa richiesta è troppo lunga
error-long-advice = Abbrevi la ricerca. Bastano alcune parole o una o due frasi.
error-internal = Qualcosa è andato storto
error-internal-advice = L’errore è stato registrato. Riprovi più tardi.
error-request = Questa richiesta non può essere soddisfatta
error-request-advice = Controlli l’indirizzo o il modulo:
error-start = Pagina iniziale

## Entità

entities-for = Entità per «{ $query }»
entities-count = { $count ->
    [one] { $number } entità
   *[other] { $number } entità
}
entities-datasets = { $count ->
    [one] in { $number } insieme di dati
   *[other] in { $number } insiemi di dati
}
entities-incomplete = Non tutti gli insiemi di dati con queste parole sono stati esaminati. Cercare in un solo insieme di dati o parole più rare.
entities-everywhere = Cerca in tutti gli insiemi di dati
entities-datasets-link = Cerca insiemi di dati
entities-link = Entità con queste parole
entities-here = Trova entità di questo insieme di dati per parole
occurrences-of = Insiemi di dati con { $resource }
occurrences-link = Insiemi di dati in cui compare questa risorsa
occurrences-none = Nessun insieme di dati contiene questa risorsa.
occurrences-minimums = La risorsa è frequente: i numeri sono minimi.
occurrences-incomplete = Altri insiemi di dati potrebbero contenerla.
occurs-as-subject = { $count ->
    [one] soggetto di { $number } tripla
   *[other] soggetto di { $number } triple
}
occurs-as-object = { $count ->
    [one] oggetto di { $number } tripla
   *[other] oggetto di { $number } triple
}
occurs-as-class = { $count ->
    [one] classe di { $number } entità
   *[other] classe di { $number } entità
}
occurs-as-property = { $count ->
    [one] proprietà di { $number } tripla
   *[other] proprietà di { $number } triple
}

## Values of facets

theme-agri = Agricoltura, pesca, silvicoltura e prodotti alimentari
theme-econ = Economia e finanze
theme-educ = Istruzione, cultura e sport
theme-ener = Energia
theme-envi = Ambiente
theme-gove = Governo e settore pubblico
theme-heal = Salute
theme-intr = Tematiche internazionali
theme-just = Giustizia, sistema giuridico e sicurezza pubblica
theme-regi = Regioni e città
theme-soci = Popolazione e società
theme-tech = Scienza e tecnologia
theme-tran = Trasporti
language-arabic = Arabo
language-bulgarian = Bulgaro
language-catalan = Catalano
language-chinese = Cinese
language-croatian = Croato
language-czech = Ceco
language-danish = Danese
language-dutch = Olandese
language-english = Inglese
language-estonian = Estone
language-finnish = Finlandese
language-french = Francese
language-german = Tedesco
language-greek = Greco
language-hungarian = Ungherese
language-irish = Irlandese
language-italian = Italiano
language-japanese = Giapponese
language-latvian = Lettone
language-lithuanian = Lituano
language-maltese = Maltese
language-norwegian = Norvegese
language-polish = Polacco
language-portuguese = Portoghese
language-romanian = Rumeno
language-russian = Russo
language-slovak = Slovacco
language-slovenian = Sloveno
language-spanish = Spagnolo
language-swedish = Svedese
