//! Places that catalogues name by IRIs and queries by words: countries, and states of the USA.

use super::BoundingBox;
use std::sync::LazyLock;

/// The table of places; its first lines describe the columns. Boxes of the EU, EFTA and the United Kingdom are without territories outside of
/// Europe: of Portugal and Spain the archipelagos in the Atlantic are omitted, of Norway Svalbard and Jan Mayen. `tools/place_boxes.py`
/// derives most of the other boxes, and lists those that were corrected.
const TABLE: &str = include_str!("places.tsv");

/// A country, a territory or a state of the USA.
pub(super) struct Place {
    /// Code: three letters or digits as in the EU's country list; `US-` and two letters for a state.
    code: &'static str,
    /// Code of NUTS with two letters.
    nuts: Option<&'static str>,
    /// Number in GeoNames.
    geonames: Option<u32>,
    /// Box in degrees of WGS 84.
    pub(super) bounds: BoundingBox,
    /// Name in English.
    pub(super) name: &'static str,
    /// Names by which it is recognized, in English, German, French, Spanish and Italian. A name in several languages is listed once.
    pub(super) names: Vec<PlaceName>,
}

/// A name of a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaceName {
    pub(super) text: &'static str,
    /// If true, it is recognized only as written here: in lower case, or without its accent, it is another word.
    pub(super) is_exact: bool,
}

static PLACES: LazyLock<Vec<Place>> = LazyLock::new(|| {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        Place::from_row(row).unwrap_or_else(|| panic!("invalid row of places.tsv: {row}"))
    })
    .collect()
});

/// IRIs of the countries in the EU's country list, today and formerly, end in codes, mostly of ISO 3166-1.
/// <https://op.europa.eu/en/web/eu-vocabularies/dataset/-/resource?uri=http://publications.europa.eu/resource/dataset/country>
const EU_COUNTRIES: [&str; 2] = [
    "publications.europa.eu/resource/authority/country/",
    "publications.europa.eu/mdr/authority/country/",
];
/// IRIs of the regions of NUTS. Those with two letters are countries.
const NUTS: [&str; 2] = ["data.europa.eu/nuts/code/", "nuts.geovocab.org/id/"];
/// IRIs of GeoNames end in a number, often followed by a slash or the name of a page.
const GEONAMES: [&str; 3] = ["sws.geonames.org/", "www.geonames.org/", "geonames.org/"];

impl Place {
    /// Reads a row of the table.
    fn from_row(row: &'static str) -> Option<Self> {
        let [code, nuts, geonames, bounds, names] =
            row.split('\t').collect::<Vec<_>>().try_into().ok()?;
        let geonames = if geonames.is_empty() {
            None
        } else {
            Some(geonames.parse().ok()?)
        };
        let recognized = names.split('|').filter(|name| !name.starts_with('-'));
        Some(Self {
            code,
            nuts: Some(nuts).filter(|nuts| !nuts.is_empty()),
            geonames,
            bounds: bounds.parse().ok()?,
            name: names.split('|').next()?.trim_start_matches(['-', '=']),
            names: recognized.map(PlaceName::from_cell).collect(),
        })
    }

    /// Returns all places.
    pub(super) fn all() -> &'static [Self] {
        &PLACES
    }

    /// Returns the country that an IRI of the EU's country list, of NUTS or of GeoNames denotes.
    pub(super) fn from_iri(iri: &str) -> Option<&'static Self> {
        let address = iri
            .trim()
            .strip_prefix("http://")
            .or_else(|| iri.trim().strip_prefix("https://"))?;
        if let Some(code) = strip_any_prefix(address, &EU_COUNTRIES) {
            return PLACES
                .iter()
                .find(|place| place.code == code && place.code.len() == 3);
        }
        if let Some(code) = strip_any_prefix(address, &NUTS) {
            return PLACES.iter().find(|place| place.nuts == Some(code));
        }
        let number = strip_any_prefix(address, &GEONAMES)?.split('/').next()?;
        let number: u32 = number.parse().ok()?;
        PLACES.iter().find(|place| place.geonames == Some(number))
    }
}

/// Returns the rest of a text after the first of the prefixes that it has.
fn strip_any_prefix<'t>(text: &'t str, prefixes: &[&str]) -> Option<&'t str> {
    prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))
}

impl PlaceName {
    /// Reads a name of the table; `=` marks an exact one.
    fn from_cell(cell: &'static str) -> Self {
        let exact = cell.strip_prefix('=');
        Self {
            text: exact.unwrap_or(cell),
            is_exact: exact.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_place() {
        assert_eq!(
            Place::all()
                .iter()
                .filter(|place| place.code.len() == 3)
                .count(),
            200
        );
        assert_eq!(
            Place::all()
                .iter()
                .filter(|place| place.code.starts_with("US-"))
                .count(),
            50,
            "49 states and DC"
        );
        assert_eq!(
            Place::all()
                .iter()
                .filter(|place| place.nuts.is_some())
                .count(),
            37
        );
        let mut codes: Vec<_> = Place::all().iter().map(|place| place.code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Place::all().len());
    }

    /// Longitude and latitude of cities: capitals, and places far from them.
    const INSIDE: [(&str, f64, f64); 50] = [
        ("AUT", 16.4, 48.2),
        ("BEL", 4.4, 50.8),
        ("BGR", 23.3, 42.7),
        ("CHE", 7.4, 46.9),
        ("CYP", 33.4, 35.2),
        ("CZE", 14.4, 50.1),
        ("DEU", 13.4, 52.5),
        ("DNK", 12.6, 55.7),
        ("ESP", -3.7, 40.4),
        ("EST", 24.8, 59.4),
        ("FIN", 24.9, 60.2),
        ("FRA", 2.4, 48.9),
        ("GBR", -0.1, 51.5),
        ("GRC", 23.7, 38.0),
        ("HRV", 16.0, 45.8),
        ("HUN", 19.0, 47.5),
        ("IRL", -6.3, 53.3),
        ("ISL", -21.9, 64.1),
        ("ITA", 12.5, 41.9),
        ("LIE", 9.5, 47.1),
        ("LTU", 25.3, 54.7),
        ("LUX", 6.1, 49.6),
        ("LVA", 24.1, 56.9),
        ("MLT", 14.5, 35.9),
        ("NLD", 4.9, 52.4),
        ("NOR", 10.8, 59.9),
        ("POL", 21.0, 52.2),
        ("PRT", -9.1, 38.7),
        ("ROU", 26.1, 44.4),
        ("SVK", 17.1, 48.1),
        ("SVN", 14.5, 46.1),
        ("SWE", 18.1, 59.3),
        ("AUS", 149.1, -35.3),
        ("BRA", -47.9, -15.8),
        ("CHN", 116.4, 39.9),
        ("FJI", 178.4, -18.1),
        ("IND", 77.2, 28.6),
        ("JPN", 139.7, 35.7),
        ("MDV", 73.1, -0.6),
        ("MUS", 63.4, -19.7),
        ("NZL", 174.8, -41.3),
        ("RUS", 37.6, 55.8),
        ("SYC", 55.7, -4.3),
        ("TUV", 179.2, -8.5),
        ("USA", -77.0, 38.9),
        ("USA", -149.9, 61.2),
        ("ZAF", 28.2, -25.7),
        ("US-AK", -149.9, 61.2),
        ("US-DC", -77.0, 38.9),
        ("US-MD", -76.6, 39.3),
    ];

    #[test]
    fn cities_are_in_the_boxes() {
        for (code, longitude, latitude) in INSIDE {
            let place = Place::all()
                .iter()
                .find(|place| place.code == code)
                .expect(code);
            let city = BoundingBox::from_position(longitude, latitude).expect("a point");
            assert!(place.bounds.intersects(city), "{code}");
        }
    }

    #[test]
    fn boxes_are_those_of_the_place_only() {
        let bounds = |code: &str| {
            Place::all()
                .iter()
                .find(|place| place.code == code)
                .expect(code)
                .bounds
        };
        for (one, other) in [
            ("DEU", "GBR"),
            ("USA", "FRA"),
            ("FJI", "AUS"),
            ("US-MD", "US-NY"),
            ("RUS", "CAN"),
            ("NZL", "AUS"),
            ("NZL", "FJI"),
        ] {
            assert!(!bounds(one).intersects(bounds(other)), "{one} and {other}");
        }
    }

    #[test]
    fn iris_name_countries() {
        let name = |iri: &str| Place::from_iri(iri).map(|place| place.name);
        assert_eq!(
            name("http://publications.europa.eu/resource/authority/country/BEL"),
            Some("Belgium")
        );
        assert_eq!(
            name("http://publications.europa.eu/resource/authority/country/JPN"),
            Some("Japan")
        );
        assert_eq!(name("http://data.europa.eu/nuts/code/EL"), Some("Greece"));
        assert_eq!(name("http://data.europa.eu/nuts/code/BE21"), None);
        assert_eq!(name("http://data.europa.eu/nuts/code/"), None);
        assert_eq!(
            name("http://publications.europa.eu/resource/authority/country/US-MD"),
            None
        );
        assert_eq!(
            name("http://publications.europa.eu/resource/authority/country/GEO"),
            Some("Georgia")
        );
        assert_eq!(
            name("http://publications.europa.eu/resource/authority/country/1A0"),
            Some("Kosovo")
        );
        for greece in [
            "https://www.geonames.org/390903",
            "http://sws.geonames.org/390903/",
            "https://sws.geonames.org/390903/about.rdf",
        ] {
            assert_eq!(name(greece), Some("Greece"), "{greece}");
        }
        assert_eq!(
            name("http://publications.europa.eu/mdr/authority/country/LUX"),
            Some("Luxembourg")
        );
        assert_eq!(name("http://sws.geonames.org/39090/"), None);
        assert_eq!(
            name("http://publications.europa.eu/resource/authority/country/ATA"),
            None
        );
        assert_eq!(name("http://example.org/BEL"), None);
    }
}
