# Messages of the pages in Spanish.

## Frame of every page

skip-to-content = Ir al contenido
nav-main = Menú principal
nav-menu = Menú
nav-datasets = Conjuntos de datos
nav-similar = Buscar datos similares a los míos
nav-explore = Explorar
nav-all-datasets = Todos los conjuntos de datos
nav-query = Consultar con SPARQL
nav-programs = Para programas
nav-api = Documentación de la API
nav-catalogue = Catálogo (DCAT)
nav-feed = Canal de novedades (Atom)
nav-endpoint = Descripción del punto de acceso SPARQL
nav-language = Idioma
footer-about = Acerca de este portal
footer-imprint = Aviso legal
footer-privacy = Privacidad
footer-accessibility = Accesibilidad
footer-contact = Contacto
box-label = Buscar conjuntos de datos con palabras o una frase completa
box-placeholder = ¿Qué datos necesita?
box-search = Buscar
box-suggestions = Conjuntos de datos sugeridos
apply = Aplicar
show = Mostrar
close = Cerrar
pages = Páginas
page-number = Página { $number }
previous = Anterior
previous-page = Página anterior
next = Siguiente
more = { $count ->
    [one] { $number } más
   *[other] { $number } más
}
months = enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre, diciembre
date = { $day } de { $month } de { $year }

## Start page

start-title = Encuentre conjuntos de datos por metadatos y contenido
summary = Este portal contiene { $holds }.
summary-publishers = { $count ->
    [one] de { $number } editor o autor
   *[other] de { $number } editores y autores
}
summary-classes = { $count ->
    [one] con { $number } clase de entidades
   *[other] con { $number } clases de entidades
}
start-question = ¿Qué hay sobre { $topic }?
start-try = Preguntas
start-all = { $count ->
    [one] { $number } conjunto de datos
   *[other] Los { $number } conjuntos de datos
}
start-topics = Temas
start-newest = Añadidos recientemente

## Results

datasets = Conjuntos de datos
datasets-count = { $count ->
    [one] { $number } conjunto de datos
   *[other] { $number } conjuntos de datos
}
results = { $count ->
    [one] { $number } resultado
   *[other] { $number } resultados
}
results-for = Resultados para «{ $query }»
feed-of-search = Esta búsqueda como canal
feed-last-changed = Conjuntos de datos, los últimos modificados primero
did-you-mean = ¿Quiso decir
corrected = Se buscó «{ $text }»
interpreted = Interpretado:
interpreted-excluded = sin { $part }
interpreted-word = la palabra «{ $text }»
interpreted-phrase = la frase «{ $text }»
interpreted-class = la clase { $text }
interpreted-property = la propiedad { $text }
interpreted-vocabulary = el vocabulario { $text }
interpreted-entity = la entidad { $text }
interpreted-unknown = el nombre { $text }, que ningún conjunto de datos tiene
interpreted-ignored = «{ $text }», ignorado porque sus palabras son demasiado comunes o demasiadas
interpreted-translation = «{ $text }» como { $translations }
interpreted-literal = Buscar las palabras tal como se escribieron
suggested-filters = Filtros sugeridos:
no-more-results = No hay más resultados
no-more-results-text = La lista termina antes de esta página.
nothing-with-filters = Ningún conjunto de datos cumple estos filtros
nothing-with-filters-text = Quite un filtro para ver más.
search-without-filters = Buscar sin filtros
no-datasets = Todavía no hay conjuntos de datos
no-datasets-text = Los conjuntos de datos aparecen aquí cuando se cargan e indexan.
nothing-found = Sin resultados para «{ $query }»
nothing-found-text = Pruebe con otras palabras, sinónimos o menos palabras. Las palabras muy comunes como «el» no se buscan.
sort = Ordenar por
sort-relevance = Relevancia
sort-newest = Recientes
sort-largest = Tamaño
sort-title = Título
only-closest = Sin coincidencias cercanas. Estos son los resultados más próximos.
good-matches = { $count ->
    [0] Ningún resultado bueno
    [one] { $number } resultado bueno
   *[other] { $number } resultados buenos
}
weaker = { $count ->
    [one] { $number } menos relevante
   *[other] { $number } menos relevantes
}
weak-matches = { $count ->
    [one] { $number } resultado menos relevante en esta página
   *[other] { $number } resultados menos relevantes en esta página
}
weak-matches-text = Contienen pocas de las palabras o solo se parecen remotamente.
duplicates-counted = Las cifras incluyen duplicados que se muestran una sola vez.
also-from = También en
introduced-by = Presentado en
used-by-works = { $count ->
    [one] Usado por { $number } trabajo
   *[other] Usado por { $number } trabajos
}
why = ¿Por qué?
why-fields = Encontrado en
why-meaning = Significado similar:
why-works = { $count ->
    [one] Usado por { $number } trabajo sobre un tema parecido:
   *[other] Usado por { $number } trabajos sobre un tema parecido:
}
field-title = título
field-description = descripción
field-author = autor
field-tags = palabras clave
field-entity = entidades
field-literal = textos
field-class = clases
field-property = propiedades
preview = Vista previa
preview-graph = Grafo
preview-graph-of = Algunas tripletas de { $title } como grafo
preview-more = Más tripletas
preview-more-query = Más tripletas para la consulta
preview-query = Mostrar tripletas que coinciden con mi consulta
preview-stored = Mostrar las vistas previas guardadas
ranking = Clasificación
ranking-candidates = { $count ->
    [one] Se comparó { $number } candidato por significado.
   *[other] Se compararon { $number } candidatos por significado.
}
model-default-title = Palabras y significado
model-default = candidatos por palabras, comparados por significado
model-tf-idf = frecuencia de una palabra y su rareza
model-bm25 = frecuencia y rareza; los textos largos cuentan menos
model-lmd = probabilidad de las palabras en el texto del conjunto
model-fsdm = también cuentan las palabras vecinas, campo por campo
score = Puntuación { $score } ({ $models })

## Filters

filters = Filtros
filters-clear = Quitar todos
filter-add = Añadir filtro:
filter-remove = Quitar filtro:
filter-since = Desde { $year }
filter-until = Hasta { $year }
filter-within = Lugar: { $box }
filter-covers = Período: { $period }
filter-column = Columna: { $column }
filter-value = { $facet }: { $value }
less-frequent = { $count ->
    [one] y { $number } menos frecuente
   *[other] y { $number } menos frecuentes
}
years = Año
years-from = Desde
years-to = hasta
years-published = de publicación
years-covered = que cubren los datos
place = Lugar
place-example = País o estado de EE. UU.
place-not-found = No se conoce ningún país ni estado de EE. UU. «{ $name }». Escriba otro nombre, u oeste,sur,este,norte en grados.
years-undated = { $count ->
    [one] Se incluye { $number } conjunto sin fecha.
   *[other] Se incluyen { $number } conjuntos sin fecha.
}
years-histogram = Conjuntos de datos por año, de { $first } a { $last }
place-unknown = { $count ->
    [one] Se omite { $number } conjunto de datos que coincide, sin lugar conocido.
   *[other] Se omiten { $number } conjuntos de datos que coinciden, sin lugar conocido.
}
period-unknown = { $count ->
    [one] Se omite { $number } conjunto de datos que coincide, sin período conocido.
   *[other] Se omiten { $number } conjuntos de datos que coinciden, sin período conocido.
}
filter-without = Buscar sin este filtro
facet-task = Tareas
facet-modality = Modalidades
facet-theme = Temas
facet-class = Clases
facet-keyword = Palabras clave
facet-publisher = Editores
facet-creator = Autores y editores
facet-format = Formatos
facet-license = Licencias
facet-language = Idiomas
facet-vocabulary = Vocabularios
facet-source = Portales
facet-suggestedTheme = Temas sugeridos
filter-task = Tarea
filter-modality = Modalidad
filter-theme = Tema
filter-class = Clase
filter-keyword = Palabra clave
filter-publisher = Editor
filter-creator = Autor o editor
filter-format = Formato
filter-license = Licencia
filter-language = Idioma
filter-vocabulary = Vocabulario
filter-source = Portal
filter-suggestedTheme = Tema sugerido

## Page of a dataset

on-this-page = En esta página
download = Descargar
all-formats = Todos los formatos
go-to-source = Ir a la fuente
metadata-only = Este portal solo tiene la descripción de este conjunto. Los datos están en la fuente.
tables = Como tabla:
technical = Detalles técnicos
other-languages = Descripción en otros idiomas
also-called = También llamado
editions = Ediciones
tables-to-combine = Tablas para combinar o unir
fact-suggested = { $value } (sugerido por las palabras del conjunto de datos)
fact-creator = Autor
fact-uses = Usos
fact-uses-count = { $count ->
    [one] { $number } trabajo, según el catálogo
   *[other] { $number } trabajos, según el catálogo
}
fact-issued = Publicado
fact-modified = Modificado
fact-place = Zona
fact-period = Período cubierto
fact-from-metadata = { $value } (según los metadatos)
fact-from-content = { $value } (según el contenido)
place-map = Mapa de la zona { $box }
fact-homepage = Página web
fact-source = Fuente
fact-iri = IRI del conjunto de datos
fact-endpoint = Punto de acceso SPARQL
open-image = Abrir imagen
preview-method = Método: { $method }
preview-methods = Método
preview-budget = Número de tripletas
preview-none = Ninguna tripleta coincide.
preview-shown = { $shown } de { $all } tripletas.
preview-row = Fila
preview-rows-shown = { $rows } de { $all-rows } filas, { $columns } de { $all-columns } columnas
preview-interrupted = La búsqueda no fue exhaustiva.
preview-other-methods = Otros métodos:
content = Contenido
triples = { $count ->
    [one] { $number } tripleta
   *[other] { $number } tripletas
}
triples-sample = { $count ->
    [one] una muestra de { $number } tripleta
   *[other] una muestra de { $number } tripletas
}
triples-sample-of = una muestra de { $held } de { $all } tripletas
entities = { $count ->
    [one] { $number } entidad
   *[other] { $number } entidades
}
classes-count = { $count ->
    [one] { $number } clase
   *[other] { $number } clases
}
properties-count = { $count ->
    [one] { $number } propiedad
   *[other] { $number } propiedades
}
literals = { $count ->
    [one] { $number } literal
   *[other] { $number } literales
}
content-details = Propiedades, idiomas y enlaces
properties = Propiedades
links-to = Enlaces a
edited-here = Editado en este catálogo, no por la fuente: { $keys }
key-title = Título
key-alternative = Otros títulos
key-description = Descripción
key-keywords = Palabras clave
key-theme = Temas
key-creator = Autores
key-publisher = Editor
key-contact = Contacto
key-license = Licencia
key-accessRights = Derechos de acceso
key-issued = Publicado
key-modified = Modificado
key-landingPage = Página principal
key-language = Idiomas
key-spatial = Zona
key-temporal = Período cubierto
key-frequency = Frecuencia de actualización
key-version = Versión
key-conformsTo = Normas
key-otherIdentifier = Otros identificadores
skipped-statements = { $count ->
    [one] { $number } enunciado de sus archivos no se pudo leer y falta aquí.
   *[other] { $number } enunciados de sus archivos no se pudieron leer y faltan aquí.
}
sampled-content = { $count ->
    [one] El contenido es grande: la vista previa, los textos buscados y la cobertura proceden de una muestra de { $number } tripleta. Todos los recuentos son del contenido completo.
   *[other] El contenido es grande: la vista previa, los textos buscados y la cobertura proceden de una muestra de { $number } tripletas. Todos los recuentos son del contenido completo.
}
index-only-content = El contenido se puede buscar y descargar, pero no consultar con SPARQL.
connections = Cómo se conectan las clases
connections-of = Clases y enlaces de { $title }
connections-text = Los círculos son clases con su número de entidades. Las flechas son propiedades entre ellas; su anchura crece con el número de tripletas.
no-class = sin clase
not-shown = No se muestra:
smaller-classes = { $count ->
    [one] { $number } clase menor
   *[other] { $number } clases menores
}
rarer-links = { $count ->
    [one] { $number } enlace menos frecuente
   *[other] { $number } enlaces menos frecuentes
}
links = { $count ->
    [one] { $number } enlace
   *[other] { $number } enlaces
}
link-from = De
link-property = Propiedad
link-to = A
link-triples = Tripletas
example-entities = Entidades de ejemplo
one-of = { $class }, una de { $number }
all-triples = Todas las tripletas
query-with-sparql = Consultar con SPARQL
example-triples = Algunas tripletas
example-class = Entidades de la clase «{ $class }»
example-pattern = «{ $class }» con «{ $property }» y «{ $other }»
example-link = De «{ $from }» por «{ $property }» a «{ $to }»
example-values = Los valores más frecuentes de «{ $property }»
example-elsewhere = Todos los conjuntos de datos con la clase «{ $class }»
similar-datasets = Conjuntos de datos similares
all-similar = Todos los conjuntos similares
search-like = Buscar conjuntos similares, sobre
download-and-cite = Descargar y citar
download-file = Archivo
download-files = Archivos
download-copies = Copias guardadas aquí, tal como se cargaron
download-content = Contenido guardado aquí
series = Serie
series-note = Una serie de conjuntos de datos: los datos están en sus miembros.
series-members = Conjuntos de datos de la serie
fact-series = Serie
fact-first = Primero
fact-last = Último
fact-previous = Anterior de la serie
fact-next = Siguiente de la serie
download-structure = Estructura y estadísticas
download-description = Descripción
cite = Citar
metadata-quality = Calidad de los metadatos
referenced-by = Referenciado por
entity-no-triples = No hay tripletas con este sujeto.
entity-unnamed = Un nodo sin nombre

## Similar datasets

similarity = Similitud
score-details = Detalles
similar-to = Similares a { $title }
similar-none = Ningún conjunto de datos es similar.
similar-compared = { $count ->
    [one] Se comparó { $number } conjunto de datos.
   *[other] Se compararon { $number } conjuntos de datos.
}
similar-without = Los duplicados y otras ediciones figuran en la página del conjunto de datos.
basis-vocabulary = vocabulario
basis-links = enlaces
basis-meaning = significado
basis-words = palabras
shared-classes = { $count ->
    [one] { $number } clase en común
   *[other] { $number } clases en común
}
shared-properties = { $count ->
    [one] { $number } propiedad en común
   *[other] { $number } propiedades en común
}
shared-vocabularies = { $count ->
    [one] { $number } vocabulario en común
   *[other] { $number } vocabularios en común
}
shared-links-to = { $count ->
    [one] se enlaza a { $number } de sus espacios de nombres
   *[other] se enlaza a { $number } de sus espacios de nombres
}
shared-links-from = { $count ->
    [one] { $number } espacio de nombres al que enlaza
   *[other] { $number } espacios de nombres a los que enlaza
}
shared-entities = { $count ->
    [one] { $number } entidad a la que ambos enlazan
   *[other] { $number } entidades a las que ambos enlazan
}
shared-targets = { $count ->
    [one] { $number } otra fuente a la que ambos enlazan
   *[other] { $number } otras fuentes a las que ambos enlazan
}
shared-meaning = significado próximo
shared-words = las palabras { $words }
like-text = Encuentra conjuntos de datos que usan las mismas clases y propiedades, enlazan a las mismas entidades o tienen un significado similar a su RDF.
like-not-stored = Sus datos no se guardan.
like-triples = { $count ->
    [one] Se leyó { $number } tripleta.
   *[other] Se leyeron { $number } tripletas.
}
like-problems = Algunos enunciados no se pudieron leer
like-another = Otra búsqueda
like-file = Un archivo RDF: suéltelo aquí o elíjalo
like-formats = Turtle, TriG, N-Triples, N-Quads, N3, RDF/XML o JSON-LD, también comprimido con gzip, bzip2, xz o zstd (no zip); hasta { $megabytes } MB.
like-paste = O pegue RDF
like-dataset = O escriba el identificador o IRI de un conjunto de datos
like-find = Buscar conjuntos similares
like-programs = Los programas envían RDF en el cuerpo y reciben JSON:

## SPARQL page

sparql-text = El grafo por defecto contiene los metadatos de todos los conjuntos de datos. El contenido de cada uno es un grafo con nombre con su IRI.
sparql-examples = Consultas de ejemplo
sparql-example-sizes = Los conjuntos de datos y su tamaño
sparql-example-class = Conjuntos de datos que usan una clase
sparql-example-task = Conjuntos de datos para una tarea, con años y publicaciones
sparql-example-snippets = Vistas previas guardadas y sus métodos
sparql-example-content = Búsqueda en el contenido de todos los conjuntos de datos
sparql-example-search-why = Conjuntos de datos encontrados, y por qué
sparql-example-search-classes = Clases de los conjuntos de datos encontrados
sparql-example-search-content = Tripletas de los conjuntos de datos encontrados
sparql-query = Consulta SPARQL
run = Ejecutar
sparql-answer-as = Resultado como
sparql-table = Tabla
sparql-rows = { $count ->
    [one] { $number } fila
   *[other] { $number } filas
}
sparql-truncated = Hay más filas; el punto de acceso limita su número. Añada LIMIT o un patrón más específico.
sparql-link = Enlace a este resultado
sparql-no-link = La dirección de esta página no contiene la consulta, porque es larga. Guarde la consulta para repetirla.
sparql-chart = Gráfico: { $column } por { $label }
sparql-map = Mapa del resultado
sparql-completions = Prefijos, clases y propiedades
sparql-search = Búsqueda dentro de una consulta
sparql-search-text = Un patrón de servicio encuentra conjuntos de datos, que se combinan con sus descripciones y contenidos:
sparql-unknown-prefix = Línea { $line }: el prefijo «{ $prefix }:» no está declarado.
sparql-add-line = Añada esta línea al principio:
sparql-unexpected = Línea { $line }, columna { $column }: «{ $found }» no está permitido aquí.
sparql-unexpected-end = Línea { $line }: la consulta termina demasiado pronto.
sparql-details = Lo que la gramática permite aquí

## Quality

quality-purpose = Esta página muestra qué pequeños cambios hacen que los datos sean más fáciles de encontrar y usar.
quality-datasets = { $count ->
    [one] Se evaluó { $number } conjunto de datos.
   *[other] Se evaluaron { $number } conjuntos de datos.
}
quality-mean = Puntuación media
quality-improvements = Mejoras con mayor efecto
quality-improvement = Mejora
quality-affected = Conjuntos que mejoran
quality-points = Puntos
quality-not-scored = fuera de la puntuación
quality-dimensions = Puntos obtenidos por dimensión
quality-ratings = Valoraciones
quality-publishers = Por editor
quality-next = Mejor siguiente paso
quality-no-publisher = Sin editor
quality-start-here = Conjuntos que más mejoran
quality-method = La puntuación sigue:
quality-unchecked = Las direcciones no comprobadas no restan puntos.
quality-open-points = { $count ->
    [one] { $number } punto corresponde a direcciones no comprobadas y no cuenta.
   *[other] { $number } puntos corresponden a direcciones no comprobadas y no cuentan.
}
quality-distribution = Distribución evaluada:
quality-violations = Por corregir según DCAT-AP 3.0.1
quality-recommended = Recomendado por DCAT-AP
quality-all = Todos los conjuntos de datos
band-bad = mejorable
band-sufficient = suficiente
band-good = buena
band-excellent = excelente
dimension-findability = Facilidad de localización
dimension-accessibility = Accesibilidad
dimension-interoperability = Interoperabilidad
dimension-reusability = Reutilización
dimension-contextuality = Contexto
dimension-texts = Textos
dimension-content = Contenido
outcome-met = cumplido
outcome-missed = se puede añadir
outcome-unknown = no comprobado

## API documentation

api-text = Todas las rutas se leen sin clave, también desde páginas de otros orígenes. Para programas que escriben clientes:
api-parameter = Parámetro
api-required = obligatorio
api-response = Respuesta

## Tables

table-rows = { $count ->
    [one] { $number } fila
   *[other] { $number } filas
}
table-rows-minimum = { $count ->
    [one] más de { $number } fila
   *[other] más de { $number } filas
}
table-csvw = Descripción de la tabla para programas
table-filter = Con el texto
table-none = Ninguna fila contiene este texto.
table-matching = { $count ->
    [one] { $number } fila contiene este texto.
   *[other] { $number } filas contienen este texto.
}
table-matching-minimum = { $count ->
    [one] Al menos { $number } fila contiene este texto.
   *[other] Al menos { $number } filas contienen este texto.
}
table-matching-csv = solo estas filas
table-name = Nombre
table-incomplete = El texto solo se ha buscado en las primeras { $rows } filas. El CSV contiene todas las filas con este texto.
table-not-sorted = Solo se pueden ordenar tablas de { $rows } filas como máximo.
table-no-column = Las filas no están ordenadas: esta tabla no tiene la columna «{ $column }».
table-more-columns = { $count ->
    [one] { $number } columna más está en el CSV.
   *[other] { $number } columnas más están en el CSV.
}

## Errors

error-missing = Esta página no existe
error-missing-advice = Puede que la dirección esté mal escrita o que el conjunto de datos se haya retirado.
error-busy = El servidor está ocupado
error-busy-advice = Vuelva a intentarlo en unos segundos.
error-long = Esta petición es demasiado larga
error-long-advice = Acorte la consulta. Bastan unas palabras o una o dos frases.
error-internal = Algo ha fallado
error-internal-advice = El error se ha registrado. Vuelva a intentarlo más tarde.
error-request = Esta petición no se puede atender
error-request-advice = Compruebe la dirección o el formulario:
error-start = Página de inicio

## Entidades

entities-for = Entidades para «{ $query }»
entities-count = { $count ->
    [one] { $number } entidad
   *[other] { $number } entidades
}
entities-datasets = { $count ->
    [one] en { $number } conjunto de datos
   *[other] en { $number } conjuntos de datos
}
entities-incomplete = No se han explorado todos los conjuntos de datos con estas palabras. Busque en un solo conjunto o palabras menos frecuentes.
entities-everywhere = Buscar en todos los conjuntos de datos
entities-datasets-link = Buscar conjuntos de datos
entities-link = Entidades con estas palabras
entities-here = Encontrar entidades de este conjunto de datos por palabras
occurrences-of = Conjuntos de datos con { $resource }
occurrences-link = Conjuntos de datos en los que aparece este recurso
occurrences-none = Ningún conjunto de datos contiene este recurso.
occurrences-minimums = El recurso es frecuente: los números son mínimos.
occurrences-incomplete = Es posible que otros conjuntos de datos lo contengan.
occurs-as-subject = { $count ->
    [one] sujeto de { $number } tripleta
   *[other] sujeto de { $number } tripletas
}
occurs-as-object = { $count ->
    [one] objeto de { $number } tripleta
   *[other] objeto de { $number } tripletas
}
occurs-as-class = { $count ->
    [one] clase de { $number } entidad
   *[other] clase de { $number } entidades
}
occurs-as-property = { $count ->
    [one] propiedad de { $number } tripleta
   *[other] propiedad de { $number } tripletas
}

## Values of facets

theme-agri = Agricultura, pesca, silvicultura y alimentación
theme-econ = Economía y finanzas
theme-educ = Educación, cultura y deportes
theme-ener = Energía
theme-envi = Medio ambiente
theme-gove = Gobierno y sector público
theme-heal = Salud
theme-intr = Asuntos internacionales
theme-just = Justicia, sistema judicial y seguridad pública
theme-regi = Regiones y ciudades
theme-soci = Población y sociedad
theme-tech = Ciencia y tecnología
theme-tran = Transporte
language-arabic = Árabe
language-bulgarian = Búlgaro
language-catalan = Catalán
language-chinese = Chino
language-croatian = Croata
language-czech = Checo
language-danish = Danés
language-dutch = Neerlandés
language-english = Inglés
language-estonian = Estonio
language-finnish = Finés
language-french = Francés
language-german = Alemán
language-greek = Griego
language-hungarian = Húngaro
language-irish = Irlandés
language-italian = Italiano
language-japanese = Japonés
language-latvian = Letón
language-lithuanian = Lituano
language-maltese = Maltés
language-norwegian = Noruego
language-polish = Polaco
language-portuguese = Portugués
language-romanian = Rumano
language-russian = Ruso
language-slovak = Eslovaco
language-slovenian = Esloveno
language-spanish = Español
language-swedish = Sueco
