//! Vocabulary terms that the program reads and writes. A test checks that each is described in `ontologies/`.

macro_rules! vocabulary {
    ($(#[$doc:meta])* $module:ident = $namespace:literal { $($(#[$term_doc:meta])* $name:ident = $local:literal,)* }) => {
        $(#[$doc])*
        pub mod $module {
            /// Namespace IRI.
            pub const NAMESPACE: &str = $namespace;
            $($(#[$term_doc])* #[doc = concat!("`", $namespace, $local, "`")]
            pub const $name: &str = concat!($namespace, $local);)*
            /// All terms of this vocabulary that the program uses.
            pub const ALL: &[&str] = &[$($name),*];
        }
    };
}

vocabulary! {
    /// RDF: <https://www.w3.org/TR/rdf12-concepts/>; the terms of triple terms: <https://www.w3.org/TR/rdf12-interop/>.
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#" {
        TYPE = "type",
        STATEMENT = "Statement",
        SUBJECT = "subject",
        PREDICATE = "predicate",
        OBJECT = "object",
        REIFIES = "reifies",
        DIR_LANG_STRING = "dirLangString",
        TRIPLE_TERM = "TripleTerm",
        TT_SUBJECT = "ttSubject",
        TT_PREDICATE = "ttPredicate",
        TT_OBJECT = "ttObject",
        FIRST = "first",
        REST = "rest",
        NIL = "nil",
        SEQ = "Seq",
        VALUE = "value",
    }
}
vocabulary! {
    /// RDF Schema: <https://www.w3.org/TR/rdf-schema/>.
    rdfs = "http://www.w3.org/2000/01/rdf-schema#" {
        LABEL = "label",
        COMMENT = "comment",
        SEE_ALSO = "seeAlso",
        SUB_CLASS_OF = "subClassOf",
        DOMAIN = "domain",
        RANGE = "range",
    }
}
vocabulary! {
    /// OWL: <https://www.w3.org/TR/owl2-overview/>.
    owl = "http://www.w3.org/2002/07/owl#" {
        ONTOLOGY = "Ontology",
        VERSION_INFO = "versionInfo",
        SAME_AS = "sameAs",
    }
}
vocabulary! {
    /// SKOS: <https://www.w3.org/TR/skos-reference/>.
    skos = "http://www.w3.org/2004/02/skos/core#" {
        PREF_LABEL = "prefLabel",
        CONCEPT = "Concept",
        IN_SCHEME = "inScheme",
        NOTATION = "notation",
        CONCEPT_SCHEME = "ConceptScheme",
        DEFINITION = "definition",
        SCOPE_NOTE = "scopeNote",
        CHANGE_NOTE = "changeNote",
        ALT_LABEL = "altLabel",
        EXACT_MATCH = "exactMatch",
    }
}
vocabulary! {
    /// DCAT 3: <https://www.w3.org/TR/vocab-dcat-3/>.
    dcat = "http://www.w3.org/ns/dcat#" {
        CATALOG = "Catalog",
        DATASET = "Dataset",
        DISTRIBUTION_CLASS = "Distribution",
        HAS_DATASET = "dataset",
        DISTRIBUTION = "distribution",
        DOWNLOAD_URL = "downloadURL",
        ACCESS_URL = "accessURL",
        ACCESS_SERVICE = "accessService",
        ENDPOINT_URL = "endpointURL",
        MEDIA_TYPE = "mediaType",
        KEYWORD = "keyword",
        THEME = "theme",
        LANDING_PAGE = "landingPage",
        RECORD = "record",
        SERVICE = "service",
        CATALOG_PROPERTY = "catalog",
        CATALOG_RECORD = "CatalogRecord",
        DATASET_SERIES = "DatasetSeries",
        DATA_SERVICE = "DataService",
        SERIES_MEMBER = "seriesMember",
        SERVES_DATASET = "servesDataset",
        ENDPOINT_DESCRIPTION = "endpointDescription",
        CONTACT_POINT = "contactPoint",
        BYTE_SIZE = "byteSize",
        COMPRESS_FORMAT = "compressFormat",
        PACKAGE_FORMAT = "packageFormat",
        VERSION = "version",
        START_DATE = "startDate",
        END_DATE = "endDate",
        BBOX = "bbox",
        CENTROID = "centroid",
        SPATIAL_RESOLUTION = "spatialResolutionInMeters",
        TEMPORAL_RESOLUTION = "temporalResolution",
        QUALIFIED_RELATION = "qualifiedRelation",
        RELATIONSHIP = "Relationship",
        HAD_ROLE = "hadRole",
        IN_SERIES = "inSeries",
        HAS_VERSION = "hasVersion",
        IS_VERSION_OF = "isVersionOf",
        PREVIOUS_VERSION = "previousVersion",
        PREV = "prev",
        NEXT = "next",
        FIRST = "first",
        LAST = "last",
        RESOURCE = "Resource",
        ROLE = "Role",
        THEME_TAXONOMY = "themeTaxonomy",
    }
}
vocabulary! {
    /// DCMI Metadata Terms: <https://www.dublincore.org/specifications/dublin-core/dcmi-terms/>.
    dcterms = "http://purl.org/dc/terms/" {
        TITLE = "title",
        ALTERNATIVE = "alternative",
        DESCRIPTION = "description",
        ABSTRACT = "abstract",
        IDENTIFIER = "identifier",
        CREATOR = "creator",
        PUBLISHER = "publisher",
        LICENSE = "license",
        RIGHTS = "rights",
        ISSUED = "issued",
        CREATED = "created",
        MODIFIED = "modified",
        SOURCE = "source",
        FORMAT = "format",
        CONTRIBUTOR = "contributor",
        TYPE = "type",
        SUBJECT = "subject",
        LANGUAGE = "language",
        SPATIAL = "spatial",
        LOCATION = "Location",
        TEMPORAL = "temporal",
        PERIOD_OF_TIME = "PeriodOfTime",
        ACCRUAL_PERIODICITY = "accrualPeriodicity",
        ACCESS_RIGHTS = "accessRights",
        RIGHTS_STATEMENT = "RightsStatement",
        PROVENANCE = "provenance",
        PROVENANCE_STATEMENT = "ProvenanceStatement",
        CONFORMS_TO = "conformsTo",
        RELATION = "relation",
        REFERENCES = "references",
        IS_REFERENCED_BY = "isReferencedBy",
        IS_PART_OF = "isPartOf",
        HAS_VERSION = "hasVersion",
        IS_VERSION_OF = "isVersionOf",
        REPLACES = "replaces",
        HAS_PART = "hasPart",
        IS_REPLACED_BY = "isReplacedBy",
        BIBLIOGRAPHIC_CITATION = "bibliographicCitation",
        LINGUISTIC_SYSTEM = "LinguisticSystem",
        RIGHTS_HOLDER = "rightsHolder",
        LICENSE_DOCUMENT = "LicenseDocument",
        FREQUENCY = "Frequency",
        STANDARD = "Standard",
        MEDIA_TYPE_OR_EXTENT = "MediaTypeOrExtent",
        MEDIA_TYPE = "MediaType",
    }
}
vocabulary! {
    /// The fifteen elements of Dublin Core 1.1, read but never written.
    dc11 = "http://purl.org/dc/elements/1.1/" {
        TITLE = "title",
        DESCRIPTION = "description",
        CREATOR = "creator",
    }
}
vocabulary! {
    /// FOAF: <http://xmlns.com/foaf/spec/>.
    foaf = "http://xmlns.com/foaf/0.1/" {
        AGENT = "Agent",
        PERSON = "Person",
        ORGANIZATION = "Organization",
        DOCUMENT = "Document",
        NAME = "name",
        TOPIC = "topic",
        PRIMARY_TOPIC = "primaryTopic",
        IS_PRIMARY_TOPIC_OF = "isPrimaryTopicOf",
        HOMEPAGE = "homepage",
        PAGE = "page",
        MBOX = "mbox",
        DEPICTION = "depiction",
        GIVEN_NAME = "givenName",
        FIRST_NAME = "firstName",
        FAMILY_NAME = "familyName",
        LAST_NAME = "lastName",
        SURNAME = "surname",
    }
}
vocabulary! {
    /// vCard, for contact points of DCAT: <https://www.w3.org/TR/vcard-rdf/>.
    vcard = "http://www.w3.org/2006/vcard/ns#" {
        FN = "fn",
        KIND = "Kind",
        INDIVIDUAL = "Individual",
        ORGANIZATION = "Organization",
        HAS_EMAIL = "hasEmail",
        HAS_VALUE = "hasValue",
        HAS_TELEPHONE = "hasTelephone",
        HAS_URL = "hasURL",
        HAS_UID = "hasUID",
        ORGANIZATION_NAME = "organization-name",
        GIVEN_NAME = "given-name",
        FAMILY_NAME = "family-name",
        HAS_FN = "hasFN",
        HAS_NAME = "hasName",
        HAS_ORGANIZATION_NAME = "hasOrganizationName",
        VALUE = "value",
    }
}
vocabulary! {
    /// ADMS, for identifiers and states: <https://www.w3.org/TR/vocab-adms/>.
    adms = "http://www.w3.org/ns/adms#" {
        IDENTIFIER = "identifier",
        IDENTIFIER_CLASS = "Identifier",
        VERSION_NOTES = "versionNotes",
        STATUS = "status",
        SAMPLE = "sample",
    }
}
vocabulary! {
    /// SPDX, for checksums: <https://spdx.org/rdf/terms/>.
    spdx = "http://spdx.org/rdf/terms#" {
        CHECKSUM = "checksum",
        CHECKSUM_CLASS = "Checksum",
        ALGORITHM = "algorithm",
        CHECKSUM_VALUE = "checksumValue",
        CHECKSUM_ALGORITHM = "ChecksumAlgorithm",
        MD5 = "checksumAlgorithm_md5",
        SHA256 = "checksumAlgorithm_sha256",
    }
}
vocabulary! {
    /// The locations of the EU's core vocabulary: <https://www.w3.org/ns/locn>.
    locn = "http://www.w3.org/ns/locn#" {
        GEOMETRY = "geometry",
        GEOMETRY_CLASS = "Geometry",
    }
}
vocabulary! {
    /// Terms that DCAT-AP adds to DCAT: <https://semiceu.github.io/DCAT-AP/>.
    dcatap = "http://data.europa.eu/r5r/" {
        APPLICABLE_LEGISLATION = "applicableLegislation",
        AVAILABILITY = "availability",
        HVD_CATEGORY = "hvdCategory",
    }
}
vocabulary! {
    /// VoID: <https://www.w3.org/TR/void/>.
    void = "http://rdfs.org/ns/void#" {
        DATASET = "Dataset",
        LINKSET = "Linkset",
        TRIPLES = "triples",
        ENTITIES = "entities",
        CLASSES = "classes",
        PROPERTIES = "properties",
        DISTINCT_SUBJECTS = "distinctSubjects",
        DISTINCT_OBJECTS = "distinctObjects",
        VOCABULARY = "vocabulary",
        CLASS_PARTITION = "classPartition",
        CLASS = "class",
        PROPERTY_PARTITION = "propertyPartition",
        PROPERTY = "property",
        SUBSET = "subset",
        SUBJECTS_TARGET = "subjectsTarget",
        OBJECTS_TARGET = "objectsTarget",
        URI_SPACE = "uriSpace",
        DATA_DUMP = "dataDump",
        DATASET_DESCRIPTION = "DatasetDescription",
        SPARQL_ENDPOINT = "sparqlEndpoint",
        DOCUMENTS = "documents",
        EXAMPLE_RESOURCE = "exampleResource",
        FEATURE = "feature",
    }
}
vocabulary! {
    /// SPARQL service description: <https://www.w3.org/TR/sparql11-service-description/>.
    sd = "http://www.w3.org/ns/sparql-service-description#" {
        NAME = "name",
        NAMED_GRAPH = "namedGraph",
        NAMED_GRAPH_CLASS = "NamedGraph",
        SERVICE = "Service",
        ENDPOINT = "endpoint",
        SUPPORTED_LANGUAGE = "supportedLanguage",
        SPARQL_10_QUERY = "SPARQL10Query",
        SPARQL_11_QUERY = "SPARQL11Query",
        SPARQL_12_QUERY = "SPARQL12Query",
        RESULT_FORMAT = "resultFormat",
        FEATURE = "feature",
        FEATURE_CLASS = "Feature",
        PROPERTY_FEATURE = "propertyFeature",
        BASIC_FEDERATED_QUERY = "BasicFederatedQuery",
        EXTENSION_FUNCTION = "extensionFunction",
        FUNCTION = "Function",
        DEFAULT_DATASET = "defaultDataset",
        DATASET = "Dataset",
        DEFAULT_GRAPH = "defaultGraph",
        GRAPH = "graph",
        GRAPH_CLASS = "Graph",
    }
}
vocabulary! {
    /// File formats as service descriptions name them: <https://www.w3.org/ns/formats/>.
    formats = "http://www.w3.org/ns/formats/" {
        RESULTS_JSON = "SPARQL_Results_JSON",
        RESULTS_XML = "SPARQL_Results_XML",
        RESULTS_CSV = "SPARQL_Results_CSV",
        RESULTS_TSV = "SPARQL_Results_TSV",
        TURTLE = "Turtle",
        JSON_LD = "JSON-LD",
        N_TRIPLES = "N-Triples",
        RDF_XML = "RDF_XML",
        TRIG = "TriG",
        N_QUADS = "N-Quads",
    }
}
vocabulary! {
    /// Hydra, for paging of catalogues. It contains the current terms and the former ones that tools still read:
    /// <https://www.hydra-cg.com/spec/latest/core/>.
    hydra = "http://www.w3.org/ns/hydra/core#" {
        PARTIAL_COLLECTION_VIEW = "PartialCollectionView",
        PAGED_COLLECTION = "PagedCollection",
        COLLECTION = "Collection",
        VIEW = "view",
        TOTAL_ITEMS = "totalItems",
        ITEMS_PER_PAGE = "itemsPerPage",
        FIRST = "first",
        LAST = "last",
        NEXT = "next",
        PREVIOUS = "previous",
        FIRST_PAGE = "firstPage",
        LAST_PAGE = "lastPage",
        NEXT_PAGE = "nextPage",
        PREVIOUS_PAGE = "previousPage",
    }
}
vocabulary! {
    /// SHACL, for example queries: <https://www.w3.org/TR/shacl/>.
    sh = "http://www.w3.org/ns/shacl#" {
        SPARQL_EXECUTABLE = "SPARQLExecutable",
        SPARQL_SELECT_EXECUTABLE = "SPARQLSelectExecutable",
        SELECT = "select",
        NODE_SHAPE = "NodeShape",
        PROPERTY_SHAPE = "PropertyShape",
        TARGET_CLASS = "targetClass",
        PROPERTY = "property",
        PATH = "path",
        MIN_COUNT = "minCount",
        MAX_COUNT = "maxCount",
        NODE_KIND = "nodeKind",
        DATATYPE = "datatype",
        CLASS = "class",
        OR = "or",
        IRI = "IRI",
        BLANK_NODE = "BlankNode",
        LITERAL = "Literal",
        BLANK_NODE_OR_IRI = "BlankNodeOrIRI",
        IRI_OR_LITERAL = "IRIOrLiteral",
        BLANK_NODE_OR_LITERAL = "BlankNodeOrLiteral",
    }
}
vocabulary! {
    /// Schema.org, for example queries and works: <https://schema.org/>.
    schema = "https://schema.org/" {
        TARGET = "target",
        DATASET = "Dataset",
        CREATIVE_WORK = "CreativeWork",
        URL = "url",
        PERSON = "Person",
        ORGANIZATION = "Organization",
        EMAIL = "email",
        PROPERTY_VALUE = "PropertyValue",
        ADDITIONAL_PROPERTY = "additionalProperty",
        NAME = "name",
        VALUE = "value",
        START_DATE = "startDate",
        END_DATE = "endDate",
        GEO = "geo",
        LATITUDE = "latitude",
        LONGITUDE = "longitude",
        BOX = "box",
        POLYGON = "polygon",
        LINE = "line",
        LEGAL_NAME = "legalName",
        GIVEN_NAME = "givenName",
        FAMILY_NAME = "familyName",
        ADDITIONAL_NAME = "additionalName",
        IDENTIFIER = "identifier",
        TEXT = "text",
        TERM_CODE = "termCode",
        CIRCLE = "circle",
        GEO_MIDPOINT = "geoMidpoint",
        GEO_RADIUS = "geoRadius",
        SAME_AS = "sameAs",
        FUNDER = "funder",
        MAINTAINER = "maintainer",
        PROVIDER = "provider",
        SOURCE_ORGANIZATION = "sourceOrganization",
        DESCRIPTION = "description",
        VARIABLE_MEASURED = "variableMeasured",
        CONTENT_SIZE = "contentSize",
        CONTENT_URL = "contentUrl",
        CONTAINED_IN = "containedIn",
        IS_ACCESSIBLE_FOR_FREE = "isAccessibleForFree",
        UNIT_TEXT = "unitText",
        POSITION = "position",
    }
}
vocabulary! {
    /// Croissant, for datasets for machine learning: <https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html>.
    croissant = "http://mlcommons.org/croissant/" {
        FILE_OBJECT = "FileObject",
        FILE_SET = "FileSet",
        RECORD_SET = "recordSet",
        FIELD = "field",
        SUB_FIELD = "subField",
        ANNOTATION = "annotation",
        CONTAINED_IN = "containedIn",
        CONTENT_URL = "contentUrl",
        MD5 = "md5",
        CITE_AS = "citeAs",
        DATA_TYPE = "dataType",
    }
}
vocabulary! {
    /// CSV on the Web: <https://www.w3.org/TR/tabular-metadata/>.
    csvw = "http://www.w3.org/ns/csvw#" {
        TABLE = "Table",
        TABLE_GROUP = "TableGroup",
        TABLE_PROPERTY = "table",
        ROW_CLASS = "Row",
        ROW = "row",
        ROWNUM = "rownum",
        URL = "url",
        DESCRIBES = "describes",
        NOTE = "note",
        TABLE_SCHEMA = "tableSchema",
        COLUMN = "column",
        NAME = "name",
        TITLE = "title",
        DATATYPE = "datatype",
        PROPERTY_URL = "propertyUrl",
        DIALECT = "dialect",
        DIALECT_CLASS = "Dialect",
        ENCODING = "encoding",
        DELIMITER = "delimiter",
        HEADER_ROW_COUNT = "headerRowCount",
    }
}
vocabulary! {
    /// RDF Data Cube: <https://www.w3.org/TR/vocab-data-cube/>.
    qb = "http://purl.org/linked-data/cube#" {
        DATA_SET_CLASS = "DataSet",
        DATA_SET = "dataSet",
        OBSERVATION = "Observation",
        DIMENSION_PROPERTY = "DimensionProperty",
        MEASURE_PROPERTY = "MeasureProperty",
        ATTRIBUTE_PROPERTY = "AttributeProperty",
    }
}
vocabulary! {
    /// Linked Data Platform, for containers of catalogues: <https://www.w3.org/TR/ldp/>.
    ldp = "http://www.w3.org/ns/ldp#" {
        CONTAINS = "contains",
    }
}
vocabulary! {
    /// Linked Data Event Streams: <https://w3id.org/ldes/specification>.
    ldes = "https://w3id.org/ldes#" {
        EVENT_STREAM = "EventStream",
        VERSION_OF_PATH = "versionOfPath",
        TIMESTAMP_PATH = "timestampPath",
        VERSION_DELETE_OBJECT = "versionDeleteObject",
        RETENTION_POLICY = "retentionPolicy",
        RETENTION_POLICY_CLASS = "RetentionPolicy",
        VERSION_AMOUNT = "versionAmount",
        LATEST_VERSION_SUBSET = "LatestVersionSubset",
        AMOUNT = "amount",
    }
}
vocabulary! {
    /// TREE, for the pages of event streams: <https://w3id.org/tree/specification>.
    tree = "https://w3id.org/tree#" {
        VIEW = "view",
        MEMBER = "member",
        RELATION = "relation",
        NODE = "node",
        NODE_CLASS = "Node",
        GREATER_THAN_OR_EQUAL_TO_RELATION = "GreaterThanOrEqualToRelation",
        PATH = "path",
        VALUE = "value",
    }
}
vocabulary! {
    /// Activity Streams, for the events of feeds: <https://www.w3.org/TR/activitystreams-vocabulary/>.
    activity_streams = "https://www.w3.org/ns/activitystreams#" {
        CREATE = "Create",
        UPDATE = "Update",
        DELETE = "Delete",
        OBJECT = "object",
        PUBLISHED = "published",
    }
}
vocabulary! {
    /// The Citation Typing Ontology, for works that use datasets: <https://sparontologies.github.io/cito/current/cito.html>.
    cito = "http://purl.org/spar/cito/" {
        USES_DATA_FROM = "usesDataFrom",
    }
}
vocabulary! {
    /// Positions in WGS 84: <https://www.w3.org/2003/01/geo/>.
    geo = "http://www.w3.org/2003/01/geo/wgs84_pos#" {
        LAT = "lat",
        LONG = "long",
    }
}
vocabulary! {
    /// Geometries of GeoSPARQL: <https://opengeospatial.github.io/ogc-geosparql/>.
    geosparql = "http://www.opengis.net/ont/geosparql#" {
        AS_WKT = "asWKT",
        AS_GEO_JSON = "asGeoJSON",
        HAS_GEOMETRY = "hasGeometry",
        HAS_BOUNDING_BOX = "hasBoundingBox",
        WKT_LITERAL = "wktLiteral",
        AS_GML = "asGML",
    }
}
vocabulary! {
    /// OWL-Time, for the ends of periods: <https://www.w3.org/TR/owl-time/>.
    time = "http://www.w3.org/2006/time#" {
        HAS_BEGINNING = "hasBeginning",
        HAS_END = "hasEnd",
        IN_XSD_DATE_TIME_STAMP = "inXSDDateTimeStamp",
        IN_XSD_DATE_TIME = "inXSDDateTime",
        IN_XSD_DATE = "inXSDDate",
        IN_XSD_YEAR_MONTH = "inXSDgYearMonth",
        IN_XSD_YEAR = "inXSDgYear",
    }
}
vocabulary! {
    /// The Data Quality Vocabulary: <https://www.w3.org/TR/vocab-dqv/>.
    dqv = "http://www.w3.org/ns/dqv#" {
        HAS_QUALITY_MEASUREMENT = "hasQualityMeasurement",
        QUALITY_MEASUREMENT = "QualityMeasurement",
        COMPUTED_ON = "computedOn",
        IS_MEASUREMENT_OF = "isMeasurementOf",
        VALUE = "value",
        METRIC = "Metric",
        IN_DIMENSION = "inDimension",
        DIMENSION = "Dimension",
    }
}
vocabulary! {
    /// Quality metrics, defined in `ontologies/quality.ttl`. Metrics of single indicators are named by their keys.
    quality = "https://w3id.org/lodeseek/quality#" {
        SCORE = "score",
    }
}
vocabulary! {
    /// PROV-O, for how snippets came to be: <https://www.w3.org/TR/prov-o/>.
    prov = "http://www.w3.org/ns/prov#" {
        ENTITY = "Entity",
        ACTIVITY = "Activity",
        SOFTWARE_AGENT = "SoftwareAgent",
        WAS_DERIVED_FROM = "wasDerivedFrom",
        WAS_GENERATED_BY = "wasGeneratedBy",
        GENERATED_AT_TIME = "generatedAtTime",
        USED = "used",
        WAS_ASSOCIATED_WITH = "wasAssociatedWith",
        QUALIFIED_ATTRIBUTION = "qualifiedAttribution",
        AGENT = "agent",
        ATTRIBUTION = "Attribution",
    }
}
vocabulary! {
    /// HealthDCAT-AP: <https://healthdataportal.eu/ns/health>.
    healthdcatap = "http://healthdataportal.eu/ns/health#" {
        ANALYTICS = "analytics",
        HAS_CODE_VALUES = "hasCodeValues",
        HAS_CODING_SYSTEM = "hasCodingSystem",
        HDAB = "hdab",
        HEALTH_CATEGORY = "healthCategory",
        HEALTH_THEME = "healthTheme",
        MAX_TYPICAL_AGE = "maxTypicalAge",
        MIN_TYPICAL_AGE = "minTypicalAge",
        NUMBER_OF_RECORDS = "numberOfRecords",
        NUMBER_OF_UNIQUE_INDIVIDUALS = "numberOfUniqueIndividuals",
        POPULATION_COVERAGE = "populationCoverage",
        PUBLISHER_NOTE = "publisherNote",
        PUBLISHER_TYPE = "publisherType",
        RETENTION_PERIOD = "retentionPeriod",
        TRUSTED_DATA_HOLDER = "trustedDataHolder",
    }
}
vocabulary! {
    /// Data Privacy Vocabulary, in HealthDCAT-AP: <https://w3id.org/dpv>.
    dpv = "https://w3id.org/dpv#" {
        HAS_LEGAL_BASIS = "hasLegalBasis",
        HAS_PERSONAL_DATA = "hasPersonalData",
        HAS_PURPOSE = "hasPurpose",
    }
}
vocabulary! {
    /// DCAT-US 3: <https://resources.data.gov/resources/dcat-us-3/>.
    dcatus = "http://resources.data.gov/ontology/dcat-us#" {
        PURPOSE = "purpose",
        LIABILITY_STATEMENT = "liabilityStatement",
        DESCRIBED_BY = "describedBy",
        METADATA_DISTRIBUTION = "metadataDistribution",
        ACCESS_RESTRICTION = "accessRestriction",
        USE_RESTRICTION = "useRestriction",
        CUI_RESTRICTION = "cuiRestriction",
        GEOGRAPHIC_BOUNDING_BOX = "geographicBoundingBox",
        GEOGRAPHIC_BOUNDING_BOX_CLASS = "GeographicBoundingBox",
        WEST = "westBoundingLongitude",
        EAST = "eastBoundingLongitude",
        NORTH = "northBoundingLatitude",
        SOUTH = "southBoundingLatitude",
    }
}
vocabulary! {
    /// CoDaKG: <https://github.com/nju-websoft/CoDaKG>.
    codakg = "https://github.com/nju-websoft/CoDaKG/blob/main/schema.owl#" {
        SCHEMA_OVERLAP = "schemaOverlap",
        DATA_OVERLAP = "dataOverlap",
    }
}
vocabulary! {
    /// GeoDCAT-AP 3: <https://semiceu.github.io/GeoDCAT-AP/releases/3.0.0/>.
    geodcatap = "http://data.europa.eu/930/" {
        REFERENCE_SYSTEM = "referenceSystem",
        SPATIAL_RESOLUTION_AS_TEXT = "spatialResolutionAsText",
        TOPIC_CATEGORY = "topicCategory",
        RESOURCE_TYPE = "resourceType",
        SERVICE_TYPE = "serviceType",
        SERVICE_CATEGORY = "serviceCategory",
        SERVICE_PROTOCOL = "serviceProtocol",
        PURPOSE = "purpose",
        CUSTODIAN = "custodian",
        DISTRIBUTOR = "distributor",
        ORIGINATOR = "originator",
        PRINCIPAL_INVESTIGATOR = "principalInvestigator",
        PROCESSOR = "processor",
        RESOURCE_PROVIDER = "resourceProvider",
        USER = "user",
    }
}
vocabulary! {
    /// Organization Ontology, in DCAT-US: <https://www.w3.org/TR/vocab-org/>.
    org = "http://www.w3.org/ns/org#" {
        ORGANIZATION = "Organization",
    }
}
vocabulary! {
    /// The Bibliographic Ontology, for the order of authors: <http://purl.org/ontology/bibo/>.
    bibo = "http://purl.org/ontology/bibo/" {
        AUTHOR_LIST = "authorList",
    }
}
vocabulary! {
    /// Creative Commons, for licences: <https://creativecommons.org/ns>.
    cc = "http://creativecommons.org/ns#" {
        LEGAL_CODE = "legalcode",
    }
}
vocabulary! {
    /// GeoRSS, with latitudes first: <https://docs.ogc.org/cs/17-002r1/17-002r1.html>.
    georss = "http://www.georss.org/georss/" {
        POINT = "point",
        LINE = "line",
        POLYGON = "polygon",
        BOX = "box",
    }
}
vocabulary! {
    /// Lodeseek's own terms, defined in `ontologies/lodeseek.ttl`.
    lodeseek = "https://w3id.org/lodeseek/ns#" {
        SNIPPET = "Snippet",
        HAS_SNIPPET = "snippet",
        METHOD = "method",
        BUDGET = "budget",
        WORK_BOUND = "workBound",
        QUERY = "query",
        STATEMENT = "statement",
        RANK = "rank",
        GRAPH = "graph",
        INTRODUCED_BY = "introducedBy",
        USES = "uses",
        TASK = "Task",
        MODALITY = "Modality",
        LANGUAGE = "Language",
        LANGUAGE_PARTITION = "languagePartition",
        LANGUAGE_TAG = "languageTag",
        LITERALS = "literals",
        SKIPPED_STATEMENTS = "skippedStatements",
        IS_INDEX_ONLY = "isIndexOnly",
        EMPTY_CELLS = "emptyCells",
        MIXED_CELLS = "mixedCells",
        OMITTED_ROWS = "omittedRows",
        JOINABLE = "joinable",
        UNIONABLE = "unionable",
        OWN_COLUMN = "ownColumn",
        OTHER_COLUMN = "otherColumn",
        OWN_VALUES = "ownValues",
        OTHER_VALUES = "otherValues",
        SHARED_VALUES = "sharedValues",
        SHARED_COLUMNS = "sharedColumns",
        IS_ESTIMATE = "isEstimate",
        SAMPLED_TRIPLES = "sampledTriples",
        ENTITY_PATTERN = "EntityPattern",
        LINK_PATTERN = "LinkPattern",
        HAS_ENTITY_PATTERN = "entityPattern",
        HAS_LINK_PATTERN = "linkPattern",
        ENTITY_PATTERNS = "entityPatterns",
        LINK_PATTERNS = "linkPatterns",
        ESTIMATED_LINK_PATTERNS = "estimatedLinkPatterns",
        OUTGOING_PROPERTY = "outgoingProperty",
        INCOMING_PROPERTY = "incomingProperty",
        SUBJECT_PATTERN = "subjectPattern",
        OBJECT_PATTERN = "objectPattern",
        DATASET_NAMES_GRAPH = "DatasetNamesGraph",
        MARKED_TRUNCATION = "MarkedTruncation",
        BLANK_NODE = "blankNode",
        IS_AWAITED = "isAwaited",
        SAMPLED_CONTENT = "SampledContent",
        SAMPLE_OF = "sampleOf",
        STATED = "stated",
        SERVED_BY = "servedBy",
        ID = "id",
        SOURCE_IRI = "sourceIri",
        SUGGESTED_THEME = "suggestedTheme",
    }
}
vocabulary! {
    /// Search as a SPARQL `SERVICE`, defined in `ontologies/search.ttl`.
    search = "https://w3id.org/lodeseek/search#" {
        SERVICE = "service",
        TEXT = "text",
        LITERAL_TEXT = "literalText",
        IN_DATASET = "inDataset",
        OCCURRENCE_OF = "occurrenceOf",
        ENTITY = "entity",
        PROPERTY = "property",
        LITERAL = "literal",
        DATASET = "dataset",
        ROLE = "role",
        COUNT = "count",
        COMPLETE = "complete",
        LIMIT = "limit",
        OFFSET = "offset",
        MODEL = "model",
        SINCE = "since",
        BEFORE = "before",
        WITHIN = "within",
        COVERS = "covers",
        LIKE = "like",
        TASK = "task",
        MODALITY = "modality",
        LANGUAGE = "language",
        KEYWORD = "keyword",
        CREATOR = "creator",
        THEME = "theme",
        CLASS = "class",
        PUBLISHER = "publisher",
        FORMAT = "format",
        VOCABULARY = "vocabulary",
        SOURCE = "source",
        LICENSE = "license",
        SNIPPET_METHOD = "snippetMethod",
        RANK = "rank",
        SCORE = "score",
        TITLE = "title",
        CLOSEST = "closest",
        MATCH_QUALITY = "matchQuality",
        MATCH = "match",
        FIELD = "field",
        SHARE = "share",
        TERM = "term",
        SNIPPET = "snippet",
        STATEMENT = "statement",
        POSITION = "position",
    }
}

/// Vocabularies of this module: (name, all terms used).
pub const VOCABULARIES: &[(&str, &[&str])] = &[
    ("rdf", rdf::ALL),
    ("rdfs", rdfs::ALL),
    ("owl", owl::ALL),
    ("skos", skos::ALL),
    ("dcat", dcat::ALL),
    ("dcterms", dcterms::ALL),
    ("dc11", dc11::ALL),
    ("foaf", foaf::ALL),
    ("vcard", vcard::ALL),
    ("adms", adms::ALL),
    ("spdx", spdx::ALL),
    ("locn", locn::ALL),
    ("dcatap", dcatap::ALL),
    ("healthdcatap", healthdcatap::ALL),
    ("dpv", dpv::ALL),
    ("dcatus", dcatus::ALL),
    ("geodcatap", geodcatap::ALL),
    ("codakg", codakg::ALL),
    ("org", org::ALL),
    ("void", void::ALL),
    ("sd", sd::ALL),
    ("formats", formats::ALL),
    ("hydra", hydra::ALL),
    ("sh", sh::ALL),
    ("schema", schema::ALL),
    ("croissant", croissant::ALL),
    ("csvw", csvw::ALL),
    ("qb", qb::ALL),
    ("ldp", ldp::ALL),
    ("ldes", ldes::ALL),
    ("tree", tree::ALL),
    ("activity_streams", activity_streams::ALL),
    ("cito", cito::ALL),
    ("geo", geo::ALL),
    ("geosparql", geosparql::ALL),
    ("time", time::ALL),
    ("bibo", bibo::ALL),
    ("cc", cc::ALL),
    ("georss", georss::ALL),
    ("dqv", dqv::ALL),
    ("quality", quality::ALL),
    ("prov", prov::ALL),
    ("lodeseek", lodeseek::ALL),
    ("search", search::ALL),
];

/// Prefixes used in Turtle output and in short forms of IRIs.
pub const PREFIXES: &[(&str, &str)] = &[
    ("rdf", rdf::NAMESPACE),
    ("rdfs", rdfs::NAMESPACE),
    ("owl", owl::NAMESPACE),
    ("skos", skos::NAMESPACE),
    ("dcat", dcat::NAMESPACE),
    ("dct", dcterms::NAMESPACE),
    ("foaf", foaf::NAMESPACE),
    ("vcard", vcard::NAMESPACE),
    ("adms", adms::NAMESPACE),
    ("spdx", spdx::NAMESPACE),
    ("locn", locn::NAMESPACE),
    ("dcatap", dcatap::NAMESPACE),
    ("healthdcatap", healthdcatap::NAMESPACE),
    ("dpv", dpv::NAMESPACE),
    ("dcat-us", dcatus::NAMESPACE),
    ("geodcatap", geodcatap::NAMESPACE),
    ("org", org::NAMESPACE),
    ("schema", schema::NAMESPACE),
    ("cito", cito::NAMESPACE),
    ("void", void::NAMESPACE),
    ("sd", sd::NAMESPACE),
    ("prov", prov::NAMESPACE),
    ("hydra", hydra::NAMESPACE),
    ("dqv", dqv::NAMESPACE),
    ("quality", quality::NAMESPACE),
    ("sh", sh::NAMESPACE),
    ("lodeseek", lodeseek::NAMESPACE),
    ("search", search::NAMESPACE),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];
