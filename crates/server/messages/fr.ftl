# Messages of the pages in French.

## Frame of every page

skip-to-content = Aller au contenu
nav-main = Menu principal
nav-menu = Menu
nav-datasets = Jeux de données
nav-similar = Trouver des données semblables aux miennes
nav-explore = Explorer
nav-all-datasets = Tous les jeux de données
nav-query = Interroger avec SPARQL
nav-programs = Pour les programmes
nav-api = Documentation de l’API
nav-catalogue = Catalogue (DCAT)
nav-feed = Flux d’actualités (Atom)
nav-endpoint = Description du point d’accès SPARQL
nav-language = Langue
footer-about = À propos de ce portail
footer-imprint = Mentions légales
footer-privacy = Confidentialité
footer-accessibility = Accessibilité
footer-contact = Contact
box-label = Rechercher des jeux de données par mots ou par une phrase entière
box-placeholder = De quelles données avez-vous besoin ?
box-search = Rechercher
box-suggestions = Jeux de données suggérés
apply = Appliquer
show = Afficher
close = Fermer
pages = Pages
page-number = Page { $number }
previous = Précédent
previous-page = Page précédente
next = Suivant
more = { $count ->
    [one] { $number } autre
   *[other] { $number } autres
}
months = janvier, février, mars, avril, mai, juin, juillet, août, septembre, octobre, novembre, décembre
date = { $day } { $month } { $year }

## Start page

start-title = Trouver des jeux de données par métadonnées et par contenu
summary = Ce portail contient { $holds }.
summary-publishers = { $count ->
    [one] de { $number } éditeur ou auteur
   *[other] de { $number } éditeurs et auteurs
}
summary-classes = { $count ->
    [one] avec { $number } classe d’entités
   *[other] avec { $number } classes d’entités
}
start-question = Qu’y a-t-il sur { $topic } ?
start-try = Questions
start-all = { $count ->
    [one] { $number } jeu de données
   *[other] Les { $number } jeux de données
}
start-topics = Thèmes
start-newest = Ajouts récents

## Results

datasets = Jeux de données
datasets-count = { $count ->
    [one] { $number } jeu de données
   *[other] { $number } jeux de données
}
results = { $count ->
    [one] { $number } résultat
   *[other] { $number } résultats
}
results-for = Résultats pour « { $query } »
feed-of-search = Cette recherche comme flux
feed-last-changed = Jeux de données, les derniers modifiés d’abord
did-you-mean = Vouliez-vous dire
corrected = Recherche de « { $text } »
interpreted = Interprété :
interpreted-excluded = sans { $part }
interpreted-word = le mot « { $text } »
interpreted-phrase = l’expression « { $text } »
interpreted-class = la classe { $text }
interpreted-property = la propriété { $text }
interpreted-vocabulary = le vocabulaire { $text }
interpreted-entity = l’entité { $text }
interpreted-unknown = le nom { $text }, absent de tous les jeux de données
interpreted-ignored = « { $text } », ignoré car ses mots sont trop fréquents ou trop nombreux
interpreted-translation = « { $text } » comme { $translations }
interpreted-literal = Chercher les mots tels quels
suggested-filters = Filtres suggérés :
no-more-results = Plus de résultats
no-more-results-text = La liste se termine avant cette page.
nothing-with-filters = Aucun jeu de données ne correspond à ces filtres
nothing-with-filters-text = Retirez un filtre pour en voir davantage.
search-without-filters = Rechercher sans filtres
no-datasets = Pas encore de jeux de données
no-datasets-text = Les jeux de données apparaissent ici une fois chargés et indexés.
nothing-found = Aucun résultat pour « { $query } »
nothing-found-text = Essayez d’autres mots, des synonymes ou moins de mots. Les mots très courants comme « le » ne sont pas recherchés.
sort = Trier par
sort-relevance = Pertinence
sort-newest = Récents
sort-largest = Taille
sort-title = Titre
only-closest = Aucune correspondance proche. Voici les résultats les plus proches.
good-matches = { $count ->
    [0] Aucun bon résultat
    [one] { $number } bon résultat
   *[other] { $number } bons résultats
}
weaker = { $count ->
    [one] { $number } moins pertinent
   *[other] { $number } moins pertinents
}
weak-matches = { $count ->
    [one] { $number } résultat moins pertinent sur cette page
   *[other] { $number } résultats moins pertinents sur cette page
}
weak-matches-text = Ils contiennent peu de ces mots ou n’ont qu’un sens vaguement proche.
duplicates-counted = Les nombres comprennent des doublons affichés une seule fois.
also-from = Aussi chez
introduced-by = Présenté dans
used-by-works = { $count ->
    [one] Utilisé par { $number } travail
   *[other] Utilisé par { $number } travaux
}
why = Pourquoi ?
why-fields = Trouvé dans
why-meaning = Sens proche :
why-works = { $count ->
    [one] Utilisé par { $number } travail sur un sujet proche :
   *[other] Utilisé par { $number } travaux sur un sujet proche :
}
field-title = titre
field-description = description
field-author = auteur
field-tags = mots-clés
field-entity = entités
field-literal = textes
field-class = classes
field-property = propriétés
preview = Aperçu
preview-graph = Graphe
preview-graph-of = Quelques triplets de { $title } sous forme de graphe
preview-more = Plus de triplets
preview-more-query = Plus de triplets pour la requête
preview-query = Afficher les triplets correspondant à ma requête
preview-stored = Afficher les aperçus enregistrés
ranking = Classement
ranking-candidates = { $count ->
    [one] { $number } candidat a été comparé par le sens.
   *[other] { $number } candidats ont été comparés par le sens.
}
model-default-title = Mots et sens
model-default = candidats par mots, comparés par le sens
model-tf-idf = fréquence d’un mot et rareté
model-bm25 = fréquence et rareté ; les longs textes comptent moins
model-lmd = probabilité des mots dans le texte du jeu de données
model-fsdm = les mots voisins comptent aussi, champ par champ
score = Score { $score } ({ $models })

## Filters

filters = Filtres
filters-clear = Tout effacer
filter-add = Ajouter le filtre :
filter-remove = Retirer le filtre :
filter-since = À partir de { $year }
filter-until = Jusqu’en { $year }
filter-within = Lieu : { $box }
filter-covers = Période : { $period }
filter-column = Colonne : { $column }
filter-value = { $facet } : { $value }
less-frequent = { $count ->
    [one] et { $number } moins fréquent
   *[other] et { $number } moins fréquents
}
years = Année
years-from = De
years-to = à
years-published = de publication
years-covered = que couvrent les données
place = Lieu
place-example = Pays ou État des É.-U.
place-not-found = « { $name } » n’est ni un pays ni un État des États-Unis connu. Écrivez un autre nom, ou ouest,sud,est,nord en degrés.
years-undated = { $count ->
    [one] { $number } jeu de données sans date est inclus.
   *[other] { $number } jeux de données sans date sont inclus.
}
years-histogram = Jeux de données par année, de { $first } à { $last }
place-unknown = { $count ->
    [one] { $number } jeu de données correspondant, sans lieu connu, est omis.
   *[other] { $number } jeux de données correspondants, sans lieu connu, sont omis.
}
period-unknown = { $count ->
    [one] { $number } jeu de données correspondant, sans période connue, est omis.
   *[other] { $number } jeux de données correspondants, sans période connue, sont omis.
}
filter-without = Chercher sans ce filtre
facet-task = Tâches
facet-modality = Modalités
facet-theme = Thèmes
facet-class = Classes
facet-keyword = Mots-clés
facet-publisher = Éditeurs
facet-creator = Auteurs et éditeurs
facet-format = Formats
facet-license = Licences
facet-language = Langues
facet-vocabulary = Vocabulaires
facet-source = Portails
facet-suggestedTheme = Thèmes suggérés
filter-task = Tâche
filter-modality = Modalité
filter-theme = Thème
filter-class = Classe
filter-keyword = Mot-clé
filter-publisher = Éditeur
filter-creator = Auteur ou éditeur
filter-format = Format
filter-license = Licence
filter-language = Langue
filter-vocabulary = Vocabulaire
filter-source = Portail
filter-suggestedTheme = Thème suggéré

## Page of a dataset

on-this-page = Sur cette page
download = Télécharger
all-formats = Tous les formats
go-to-source = Aller à la source
metadata-only = Ce portail ne contient que la description de ce jeu de données. Les données sont à la source.
tables = En tableau :
technical = Détails techniques
other-languages = Description dans d’autres langues
also-called = Aussi appelé
editions = Éditions
tables-to-combine = Tables à joindre ou à réunir
fact-suggested = { $value } (suggéré d’après les mots du jeu de données)
fact-creator = Auteur
fact-uses = Utilisations
fact-uses-count = { $count ->
    [one] { $number } travail, selon le catalogue
   *[other] { $number } travaux, selon le catalogue
}
fact-issued = Publié le
fact-modified = Modifié le
fact-place = Zone
fact-period = Période couverte
fact-from-metadata = { $value } (d’après les métadonnées)
fact-from-content = { $value } (d’après le contenu)
place-map = Carte de la zone { $box }
fact-homepage = Page d’accueil
fact-source = Source
fact-iri = IRI du jeu de données
fact-endpoint = Point d’accès SPARQL
open-image = Ouvrir l’image
preview-method = Méthode : { $method }
preview-methods = Méthode
preview-budget = Nombre de triplets
preview-none = Aucun triplet ne correspond.
preview-shown = { $shown } triplets sur { $all }.
preview-row = Ligne
preview-rows-shown = { $rows } lignes sur { $all-rows }, { $columns } colonnes sur { $all-columns }
preview-interrupted = La recherche n’était pas exhaustive.
preview-other-methods = Autres méthodes :
content = Contenu
triples = { $count ->
    [one] { $number } triplet
   *[other] { $number } triplets
}
triples-sample = { $count ->
    [one] un échantillon de { $number } triplet
   *[other] un échantillon de { $number } triplets
}
triples-sample-of = un échantillon de { $held } triplets sur { $all }
entities = { $count ->
    [one] { $number } entité
   *[other] { $number } entités
}
classes-count = { $count ->
    [one] { $number } classe
   *[other] { $number } classes
}
properties-count = { $count ->
    [one] { $number } propriété
   *[other] { $number } propriétés
}
literals = { $count ->
    [one] { $number } littéral
   *[other] { $number } littéraux
}
content-details = Propriétés, langues et liens
properties = Propriétés
links-to = Liens vers
edited-here = Modifié dans ce catalogue, et non par la source : { $keys }
key-title = Titre
key-alternative = Autres titres
key-description = Description
key-keywords = Mots-clés
key-theme = Thèmes
key-creator = Auteurs
key-publisher = Éditeur
key-contact = Contact
key-license = Licence
key-accessRights = Droits d’accès
key-issued = Publié
key-modified = Modifié
key-landingPage = Page d’accueil
key-language = Langues
key-spatial = Zone
key-temporal = Période couverte
key-frequency = Fréquence de mise à jour
key-version = Version
key-conformsTo = Normes
key-otherIdentifier = Autres identifiants
skipped-statements = { $count ->
    [one] { $number } énoncé de ses fichiers n’a pas pu être lu et manque ici.
   *[other] { $number } énoncés de ses fichiers n’ont pas pu être lus et manquent ici.
}
sampled-content = { $count ->
    [one] Le contenu est volumineux : l’aperçu, les textes recherchés et la couverture proviennent d’un échantillon de { $number } triplet. Tous les nombres portent sur le contenu entier.
   *[other] Le contenu est volumineux : l’aperçu, les textes recherchés et la couverture proviennent d’un échantillon de { $number } triplets. Tous les nombres portent sur le contenu entier.
}
index-only-content = Le contenu peut être recherché et téléchargé, mais pas interrogé en SPARQL.
connections = Comment les classes sont reliées
connections-of = Classes et liens de { $title }
connections-text = Les cercles sont des classes avec leur nombre d’entités. Les flèches sont des propriétés entre elles ; leur largeur croît avec le nombre de triplets.
no-class = sans classe
not-shown = Non affiché :
smaller-classes = { $count ->
    [one] { $number } classe plus petite
   *[other] { $number } classes plus petites
}
rarer-links = { $count ->
    [one] { $number } lien plus rare
   *[other] { $number } liens plus rares
}
links = { $count ->
    [one] { $number } lien
   *[other] { $number } liens
}
link-from = De
link-property = Propriété
link-to = Vers
link-triples = Triplets
example-entities = Exemples d’entités
one-of = { $class }, une sur { $number }
all-triples = Tous les triplets
query-with-sparql = Interroger avec SPARQL
example-triples = Quelques triplets
example-class = Entités de la classe « { $class } »
example-pattern = « { $class } » avec « { $property } » et « { $other } »
example-link = De « { $from } » par « { $property } » à « { $to } »
example-values = Les valeurs les plus fréquentes de « { $property } »
example-elsewhere = Tous les jeux de données avec la classe « { $class } »
similar-datasets = Jeux de données semblables
all-similar = Tous les jeux de données semblables
search-like = Chercher des jeux de données semblables, sur
download-and-cite = Télécharger et citer
download-file = Fichier
download-files = Fichiers
download-copies = Copies conservées ici, telles que chargées
download-content = Contenu conservé ici
series = Série
series-note = Une série de jeux de données : les données sont dans ses membres.
series-members = Jeux de données de la série
fact-series = Série
fact-first = Premier
fact-last = Dernier
fact-previous = Précédent de la série
fact-next = Suivant de la série
download-structure = Structure et statistiques
download-description = Description
cite = Citer
metadata-quality = Qualité des métadonnées
referenced-by = Référencé par
entity-no-triples = Aucun triplet avec ce sujet.
entity-unnamed = Un nœud sans nom

## Similar datasets

similarity = Similarité
score-details = Détails
similar-to = Semblables à { $title }
similar-none = Aucun jeu de données n’est semblable.
similar-compared = { $count ->
    [one] { $number } jeu de données a été comparé.
   *[other] { $number } jeux de données ont été comparés.
}
similar-without = Les doublons et autres éditions figurent sur la page du jeu de données.
basis-vocabulary = vocabulaire
basis-links = liens
basis-meaning = sens
basis-words = mots
shared-classes = { $count ->
    [one] { $number } classe en commun
   *[other] { $number } classes en commun
}
shared-properties = { $count ->
    [one] { $number } propriété en commun
   *[other] { $number } propriétés en commun
}
shared-vocabularies = { $count ->
    [one] { $number } vocabulaire en commun
   *[other] { $number } vocabulaires en commun
}
shared-links-to = { $count ->
    [one] { $number } de ses espaces de noms est lié
   *[other] { $number } de ses espaces de noms sont liés
}
shared-links-from = { $count ->
    [one] { $number } espace de noms vers lequel il renvoie
   *[other] { $number } espaces de noms vers lesquels il renvoie
}
shared-entities = { $count ->
    [one] { $number } entité vers laquelle les deux renvoient
   *[other] { $number } entités vers lesquelles les deux renvoient
}
shared-targets = { $count ->
    [one] { $number } autre source vers laquelle les deux renvoient
   *[other] { $number } autres sources vers lesquelles les deux renvoient
}
shared-meaning = sens proche
shared-words = les mots { $words }
like-text = Trouve les jeux de données qui utilisent les mêmes classes et propriétés, renvoient aux mêmes entités ou ont un sens proche de votre RDF.
like-not-stored = Vos données ne sont pas enregistrées.
like-triples = { $count ->
    [one] { $number } triplet a été lu.
   *[other] { $number } triplets ont été lus.
}
like-problems = Certains énoncés n’ont pas pu être lus
like-another = Autre recherche
like-file = Un fichier RDF : déposez-le ici ou choisissez-le
like-formats = Turtle, TriG, N-Triples, N-Quads, N3, RDF/XML ou JSON-LD, aussi compressé avec gzip, bzip2, xz ou zstd (pas zip) ; jusqu’à { $megabytes } Mo.
like-paste = Ou collez du RDF
like-dataset = Ou saisissez l’identifiant ou l’IRI d’un jeu de données
like-find = Trouver des jeux de données semblables
like-programs = Les programmes envoient du RDF dans le corps et reçoivent du JSON :

## SPARQL page

sparql-text = Le graphe par défaut contient les métadonnées de tous les jeux de données. Le contenu de chacun est un graphe nommé par son IRI.
sparql-examples = Exemples de requêtes
sparql-example-sizes = Les jeux de données et leur taille
sparql-example-class = Jeux de données qui utilisent une classe
sparql-example-task = Jeux de données pour une tâche, avec années et publications
sparql-example-snippets = Aperçus enregistrés et leurs méthodes
sparql-example-content = Recherche dans le contenu de tous les jeux de données
sparql-example-search-why = Jeux de données trouvés, et pourquoi
sparql-example-search-classes = Classes des jeux de données trouvés
sparql-example-search-content = Triplets des jeux de données trouvés
sparql-query = Requête SPARQL
run = Exécuter
sparql-answer-as = Résultat en
sparql-table = Tableau
sparql-rows = { $count ->
    [one] { $number } ligne
   *[other] { $number } lignes
}
sparql-truncated = Il y a d’autres lignes ; le point d’accès en limite le nombre. Ajoutez LIMIT ou un motif plus précis.
sparql-link = Lien vers ce résultat
sparql-no-link = L’adresse de cette page ne contient pas la requête, parce qu’elle est longue. Enregistrez la requête pour la répéter.
sparql-chart = Graphique : { $column } par { $label }
sparql-map = Carte du résultat
sparql-completions = Préfixes, classes et propriétés
sparql-search = Recherche dans une requête
sparql-search-text = Un motif de service trouve des jeux de données, à joindre à leurs descriptions et contenus :
sparql-unknown-prefix = Ligne { $line } : le préfixe « { $prefix }: » n’est pas déclaré.
sparql-add-line = Ajoutez cette ligne au début :
sparql-unexpected = Ligne { $line }, colonne { $column } : « { $found } » n’est pas permis ici.
sparql-unexpected-end = Ligne { $line } : la requête se termine trop tôt.
sparql-details = Ce que la grammaire permet ici

## Quality

quality-purpose = Cette page montre quels petits changements rendent les jeux de données plus faciles à trouver et à utiliser.
quality-datasets = { $count ->
    [one] { $number } jeu de données a été évalué.
   *[other] { $number } jeux de données ont été évalués.
}
quality-mean = Score moyen
quality-improvements = Améliorations les plus efficaces
quality-improvement = Amélioration
quality-affected = Jeux de données concernés
quality-points = Points
quality-not-scored = hors du score
quality-dimensions = Points obtenus par dimension
quality-ratings = Évaluations
quality-publishers = Par éditeur
quality-next = Meilleure prochaine étape
quality-no-publisher = Sans éditeur
quality-start-here = Jeux de données qui y gagnent le plus
quality-method = Le score suit :
quality-unchecked = Les adresses non vérifiées ne coûtent pas de points.
quality-open-points = { $count ->
    [one] { $number } point concerne des adresses non vérifiées et ne compte pas.
   *[other] { $number } points concernent des adresses non vérifiées et ne comptent pas.
}
quality-distribution = Distribution évaluée :
quality-violations = À corriger pour DCAT-AP 3.0.1
quality-recommended = Recommandé par DCAT-AP
quality-all = Tous les jeux de données ensemble
band-bad = à améliorer
band-sufficient = suffisant
band-good = bon
band-excellent = excellent
dimension-findability = Facilité à trouver
dimension-accessibility = Accessibilité
dimension-interoperability = Interopérabilité
dimension-reusability = Réutilisabilité
dimension-contextuality = Contexte
dimension-texts = Textes
dimension-content = Contenu
outcome-met = satisfait
outcome-missed = peut être ajouté
outcome-unknown = non vérifié

## API documentation

api-text = Toutes les routes se lisent sans clé, aussi depuis des pages d’autres origines. Pour les programmes qui écrivent des clients :
api-parameter = Paramètre
api-required = requis
api-response = Réponse

## Tables

table-rows = { $count ->
    [one] { $number } ligne
   *[other] { $number } lignes
}
table-rows-minimum = { $count ->
    [one] plus de { $number } ligne
   *[other] plus de { $number } lignes
}
table-csvw = Description du tableau pour les programmes
table-filter = Avec le texte
table-none = Aucune ligne ne contient ce texte.
table-matching = { $count ->
    [one] { $number } ligne contient ce texte.
   *[other] { $number } lignes contiennent ce texte.
}
table-matching-minimum = { $count ->
    [one] Au moins { $number } ligne contient ce texte.
   *[other] Au moins { $number } lignes contiennent ce texte.
}
table-matching-csv = seulement ces lignes
table-name = Nom
table-incomplete = Le texte n’a été cherché que dans les { $rows } premières lignes. Le CSV contient toutes les lignes avec ce texte.
table-not-sorted = Seuls les tableaux d’au plus { $rows } lignes peuvent être triés.
table-no-column = Les lignes ne sont pas triées : ce tableau n’a pas de colonne « { $column } ».
table-more-columns = { $count ->
    [one] { $number } autre colonne est dans le CSV.
   *[other] { $number } autres colonnes sont dans le CSV.
}

## Errors

error-missing = Cette page n’existe pas
error-missing-advice = L’adresse est peut-être erronée, ou le jeu de données a été retiré.
error-busy = Le serveur est occupé
error-busy-advice = Veuillez réessayer dans quelques secondes.
error-long = Cette requête est trop longue
error-long-advice = Veuillez raccourcir la recherche. Quelques mots ou une ou deux phrases suffisent.
error-internal = Une erreur s’est produite
error-internal-advice = L’erreur a été enregistrée. Veuillez réessayer plus tard.
error-request = Cette requête ne peut être traitée
error-request-advice = Veuillez vérifier l’adresse ou le formulaire :
error-start = Page d’accueil

## Entités

entities-for = Entités pour « { $query } »
entities-count = { $count ->
    [one] { $number } entité
   *[other] { $number } entités
}
entities-datasets = { $count ->
    [one] dans { $number } jeu de données
   *[other] dans { $number } jeux de données
}
entities-incomplete = Certains jeux de données contenant ces mots n’ont pas été parcourus. Cherchez dans un seul jeu de données ou des mots plus rares.
entities-everywhere = Chercher dans tous les jeux de données
entities-datasets-link = Chercher des jeux de données
entities-link = Entités avec ces mots
entities-here = Trouver des entités de ce jeu de données par mots
occurrences-of = Jeux de données avec { $resource }
occurrences-link = Jeux de données où figure cette ressource
occurrences-none = Aucun jeu de données ne contient cette ressource.
occurrences-minimums = La ressource est fréquente : les nombres sont des minimums.
occurrences-incomplete = D’autres jeux de données peuvent la contenir.
occurs-as-subject = { $count ->
    [one] sujet de { $number } triplet
   *[other] sujet de { $number } triplets
}
occurs-as-object = { $count ->
    [one] objet de { $number } triplet
   *[other] objet de { $number } triplets
}
occurs-as-class = { $count ->
    [one] classe de { $number } entité
   *[other] classe de { $number } entités
}
occurs-as-property = { $count ->
    [one] propriété de { $number } triplet
   *[other] propriété de { $number } triplets
}

## Values of facets

theme-agri = Agriculture, pêche, sylviculture et alimentation
theme-econ = Économie et finances
theme-educ = Éducation, culture et sport
theme-ener = Énergie
theme-envi = Environnement
theme-gove = Gouvernement et secteur public
theme-heal = Santé
theme-intr = Questions internationales
theme-just = Justice, système juridique et sécurité publique
theme-regi = Régions et villes
theme-soci = Population et société
theme-tech = Science et technologie
theme-tran = Transports
language-arabic = Arabe
language-bulgarian = Bulgare
language-catalan = Catalan
language-chinese = Chinois
language-croatian = Croate
language-czech = Tchèque
language-danish = Danois
language-dutch = Néerlandais
language-english = Anglais
language-estonian = Estonien
language-finnish = Finnois
language-french = Français
language-german = Allemand
language-greek = Grec
language-hungarian = Hongrois
language-irish = Irlandais
language-italian = Italien
language-japanese = Japonais
language-latvian = Letton
language-lithuanian = Lituanien
language-maltese = Maltais
language-norwegian = Norvégien
language-polish = Polonais
language-portuguese = Portugais
language-romanian = Roumain
language-russian = Russe
language-slovak = Slovaque
language-slovenian = Slovène
language-spanish = Espagnol
language-swedish = Suédois
