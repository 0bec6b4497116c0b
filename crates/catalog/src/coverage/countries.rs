//! Countries that catalogues name by IRIs and queries by words: labels, and boxes of their European territory.

use super::BoundingBox;

/// A country with its codes and its box.
pub(super) struct Country {
    /// Code of ISO 3166-1 with three letters, as in the country list of the EU.
    alpha3: &'static str,
    /// Code of NUTS with two letters.
    nuts: &'static str,
    /// Number in GeoNames.
    geonames: u32,
    pub(super) name: &'static str,
    /// West, south, east and north, in degrees, rounded outwards to tenths.
    bounds: [f64; 4],
}

/// IRIs of the countries in the EU's country list, today and formerly, end in codes of ISO 3166-1.
/// <https://op.europa.eu/en/web/eu-vocabularies/dataset/-/resource?uri=http://publications.europa.eu/resource/dataset/country>
const EU_COUNTRIES: [&str; 2] =
    ["publications.europa.eu/resource/authority/country/", "publications.europa.eu/mdr/authority/country/"];
/// IRIs of the regions of NUTS. Those with two letters are countries.
const NUTS: [&str; 2] = ["data.europa.eu/nuts/code/", "nuts.geovocab.org/id/"];
/// IRIs of GeoNames end in a number, often followed by a slash or the name of a page.
const GEONAMES: [&str; 3] = ["sws.geonames.org/", "www.geonames.org/", "geonames.org/"];

const fn country(
    alpha3: &'static str,
    nuts: &'static str,
    geonames: u32,
    name: &'static str,
    bounds: [f64; 4],
) -> Country {
    Country { alpha3, nuts, geonames, name, bounds }
}

/// The member states of the EU and EFTA, and the United Kingdom, without territories outside of Europe. Of Portugal and
/// Spain the archipelagos in the Atlantic are omitted, of Norway Svalbard and Jan Mayen.
const COUNTRIES: [Country; 32] = [
    country("AUT", "AT", 2_782_113, "Austria", [9.5, 46.3, 17.2, 49.1]),
    country("BEL", "BE", 2_802_361, "Belgium", [2.5, 49.4, 6.5, 51.6]),
    country("BGR", "BG", 732_800, "Bulgaria", [22.3, 41.2, 28.7, 44.3]),
    country("CHE", "CH", 2_658_434, "Switzerland", [5.9, 45.8, 10.5, 47.9]),
    country("CYP", "CY", 146_669, "Cyprus", [32.2, 34.5, 34.7, 35.8]),
    country("CZE", "CZ", 3_077_311, "Czechia", [12.0, 48.5, 18.9, 51.1]),
    country("DEU", "DE", 2_921_044, "Germany", [5.8, 47.2, 15.1, 55.1]),
    country("DNK", "DK", 2_623_032, "Denmark", [8.0, 54.5, 15.3, 57.8]),
    country("ESP", "ES", 2_510_769, "Spain", [-9.4, 35.9, 4.4, 43.9]),
    country("EST", "EE", 453_733, "Estonia", [21.7, 57.5, 28.3, 59.8]),
    country("FIN", "FI", 660_013, "Finland", [19.0, 59.4, 31.6, 70.2]),
    country("FRA", "FR", 3_017_382, "France", [-5.2, 41.3, 9.7, 51.2]),
    country("GBR", "UK", 2_635_167, "United Kingdom", [-8.7, 49.8, 1.8, 60.9]),
    country("GRC", "EL", 390_903, "Greece", [19.3, 34.7, 29.7, 41.8]),
    country("HRV", "HR", 3_202_326, "Croatia", [13.4, 42.3, 19.5, 46.6]),
    country("HUN", "HU", 719_819, "Hungary", [16.1, 45.7, 22.9, 48.6]),
    country("IRL", "IE", 2_963_597, "Ireland", [-10.7, 51.4, -5.9, 55.5]),
    country("ISL", "IS", 2_629_691, "Iceland", [-24.6, 63.2, -13.4, 66.6]),
    country("ITA", "IT", 3_175_395, "Italy", [6.6, 35.4, 18.6, 47.1]),
    country("LIE", "LI", 3_042_058, "Liechtenstein", [9.4, 47.0, 9.7, 47.3]),
    country("LTU", "LT", 597_427, "Lithuania", [20.9, 53.8, 26.9, 56.5]),
    country("LUX", "LU", 2_960_313, "Luxembourg", [5.7, 49.4, 6.6, 50.2]),
    country("LVA", "LV", 458_258, "Latvia", [20.9, 55.6, 28.3, 58.1]),
    country("MLT", "MT", 2_562_770, "Malta", [14.1, 35.7, 14.6, 36.1]),
    country("NLD", "NL", 2_750_405, "Netherlands", [3.3, 50.7, 7.3, 53.6]),
    country("NOR", "NO", 3_144_096, "Norway", [4.4, 57.9, 31.2, 71.2]),
    country("POL", "PL", 798_544, "Poland", [14.1, 49.0, 24.2, 54.9]),
    country("PRT", "PT", 2_264_397, "Portugal", [-9.6, 36.9, -6.1, 42.2]),
    country("ROU", "RO", 798_549, "Romania", [20.2, 43.6, 29.8, 48.3]),
    country("SVK", "SK", 3_057_568, "Slovakia", [16.8, 47.7, 22.6, 49.7]),
    country("SVN", "SI", 3_190_538, "Slovenia", [13.3, 45.4, 16.7, 46.9]),
    country("SWE", "SE", 2_661_886, "Sweden", [10.9, 55.3, 24.2, 69.1]),
];

impl Country {
    /// Returns the country that an IRI of the EU's country list, of NUTS or of GeoNames denotes.
    pub(super) fn from_iri(iri: &str) -> Option<&'static Self> {
        let address = iri.trim().strip_prefix("http://").or_else(|| iri.trim().strip_prefix("https://"))?;
        let after = |prefixes: &[&str]| prefixes.iter().find_map(|prefix| address.strip_prefix(prefix));
        if let Some(code) = after(&EU_COUNTRIES) {
            return COUNTRIES.iter().find(|country| country.alpha3 == code);
        }
        if let Some(code) = after(&NUTS) {
            return COUNTRIES.iter().find(|country| country.nuts == code);
        }
        let number: u32 = after(&GEONAMES)?.split('/').next()?.parse().ok()?;
        COUNTRIES.iter().find(|country| country.geonames == number)
    }

    /// Returns the country with a code of ISO 3166-1 with three letters.
    pub(super) fn from_alpha3(code: &str) -> Option<&'static Self> {
        COUNTRIES.iter().find(|country| country.alpha3 == code)
    }

    /// Returns all countries with a box.
    #[cfg(test)]
    pub(super) fn all() -> &'static [Self] {
        &COUNTRIES
    }

    pub(super) fn bounds(&self) -> Option<BoundingBox> {
        let [west, south, east, north] = self.bounds;
        BoundingBox::new(west, south, east, north)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_have_boxes_in_europe() {
        let europe = BoundingBox::new(-25.0, 34.0, 35.0, 72.0).expect("a box");
        for country in &COUNTRIES {
            let bounds = country.bounds().unwrap_or_else(|| panic!("{} has no box", country.name));
            assert_eq!(BoundingBox::around(&[bounds, europe]), Some(europe), "{}", country.name);
        }
    }

    /// Coordinates of the capitals, in the order of the table.
    const CAPITALS: [(f64, f64); 32] = [
        (16.4, 48.2),
        (4.4, 50.8),
        (23.3, 42.7),
        (7.4, 46.9),
        (33.4, 35.2),
        (14.4, 50.1),
        (13.4, 52.5),
        (12.6, 55.7),
        (-3.7, 40.4),
        (24.8, 59.4),
        (24.9, 60.2),
        (2.4, 48.9),
        (-0.1, 51.5),
        (23.7, 38.0),
        (16.0, 45.8),
        (19.0, 47.5),
        (-6.3, 53.3),
        (-21.9, 64.1),
        (12.5, 41.9),
        (9.5, 47.1),
        (25.3, 54.7),
        (6.1, 49.6),
        (24.1, 56.9),
        (14.5, 35.9),
        (4.9, 52.4),
        (10.8, 59.9),
        (21.0, 52.2),
        (-9.1, 38.7),
        (26.1, 44.4),
        (17.1, 48.1),
        (14.5, 46.1),
        (18.1, 59.3),
    ];

    #[test]
    fn capitals_are_in_the_boxes() {
        for (country, (longitude, latitude)) in COUNTRIES.iter().zip(CAPITALS) {
            let capital = BoundingBox::from_position(longitude, latitude).expect("a point");
            assert!(country.bounds().expect("a box").intersects(capital), "{}", country.name);
        }
    }

    #[test]
    fn iris_name_countries() {
        let name = |iri: &str| Country::from_iri(iri).map(|country| country.name);
        assert_eq!(name("http://publications.europa.eu/resource/authority/country/BEL"), Some("Belgium"));
        assert_eq!(name("http://data.europa.eu/nuts/code/EL"), Some("Greece"));
        assert_eq!(name("http://data.europa.eu/nuts/code/BE21"), None);
        for greece in [
            "https://www.geonames.org/390903",
            "http://sws.geonames.org/390903/",
            "https://sws.geonames.org/390903/about.rdf",
        ] {
            assert_eq!(name(greece), Some("Greece"), "{greece}");
        }
        assert_eq!(name("http://publications.europa.eu/mdr/authority/country/LUX"), Some("Luxembourg"));
        assert_eq!(name("http://sws.geonames.org/39090/"), None);
        assert_eq!(name("http://publications.europa.eu/resource/authority/country/ATA"), None);
        assert_eq!(name("http://example.org/BEL"), None);
    }
}
