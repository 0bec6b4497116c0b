//! Well-known binary (ISO 19125, and the flags of PostGIS) as geometries of GeoJSON.
//!
//! # Why not a library?
//!
//! The readers on crates.io (`wkb`, `geozero`) bring traits and types of geometries of their own. Seven kinds of geometries take a
//! hundred lines, and give the values that the GeoJSON reader has already.

use crate::value::Value;

/// Maximum nesting of collections.
const MAX_DEPTH: usize = 8;

/// Returns the geometry, with longitudes and latitudes alone. `None` if the bytes are damaged, or the kind is another one.
pub(crate) fn to_geometry(bytes: &[u8]) -> Option<Value> {
    let mut reader = Reader {
        bytes,
        is_little_endian: true,
    };
    reader.geometry(0)
}

/// Returns a geometry of GeoJSON.
pub(crate) fn geometry_value(kind: &str, coordinates: Value) -> Value {
    Value::Object(vec![
        ("type".to_owned(), Value::Text(kind.to_owned())),
        ("coordinates".to_owned(), coordinates),
    ])
}

/// Returns a position of GeoJSON.
pub(crate) fn position_value(x: f64, y: f64) -> Value {
    let numbers = [x, y].map(|number| Value::Number(number.to_string()));
    Value::List(numbers.to_vec())
}

struct Reader<'b> {
    bytes: &'b [u8],
    is_little_endian: bool,
}

impl Reader<'_> {
    fn geometry(&mut self, depth: usize) -> Option<Value> {
        self.is_little_endian = match self.take::<1>()? {
            [0] => false,
            [1] => true,
            _ => return None,
        };
        let code = self.number()?;
        // PostGIS marks heights, measures and an identifier of the reference system by flags; ISO adds thousands.
        let (flags, code) = (code >> 29, code & 0x1fff_ffff);
        if flags & 1 != 0 {
            self.number()?;
        }
        let (thousands, code) = (code / 1000, code % 1000);
        let has_height = flags & 4 != 0 || matches!(thousands, 1 | 3);
        let has_measure = flags & 2 != 0 || matches!(thousands, 2 | 3);
        let width = 2 + usize::from(has_height) + usize::from(has_measure);
        let (kind, levels) = match code {
            1 => ("Point", 0),
            2 => ("LineString", 1),
            3 => ("Polygon", 2),
            4 => return self.members("MultiPoint", depth),
            5 => return self.members("MultiLineString", depth),
            6 => return self.members("MultiPolygon", depth),
            7 => return self.members("GeometryCollection", depth),
            _ => return None,
        };
        Some(geometry_value(kind, self.coordinates(levels, width)?))
    }

    /// Reads the members of a geometry with several ones.
    fn members(&mut self, kind: &str, depth: usize) -> Option<Value> {
        if depth >= MAX_DEPTH {
            return None;
        }
        let count = self.number()?;
        // Nothing is reserved for the announced count, which may be wrong: each member takes bytes of the input.
        let mut members = Vec::new();
        for _ in 0..count {
            members.push(self.geometry(depth + 1)?);
        }
        if kind == "GeometryCollection" {
            return Some(Value::Object(vec![
                ("type".to_owned(), Value::Text(kind.to_owned())),
                ("geometries".to_owned(), Value::List(members)),
            ]));
        }
        let mut coordinates = Vec::with_capacity(members.len());
        for member in members {
            coordinates.push(member.get("coordinates")?.clone());
        }
        Some(geometry_value(kind, Value::List(coordinates)))
    }

    fn coordinates(&mut self, levels: usize, width: usize) -> Option<Value> {
        if levels == 0 {
            let (x, y) = (self.float()?, self.float()?);
            for _ in 2..width {
                self.float()?;
            }
            // The empty point has no numbers.
            if x.is_nan() && y.is_nan() {
                return Some(Value::List(Vec::new()));
            }
            return Some(position_value(x, y));
        }
        let count = self.number()?;
        let mut elements = Vec::new();
        for _ in 0..count {
            elements.push(self.coordinates(levels - 1, width)?);
        }
        Some(Value::List(elements))
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk::<N>()?;
        self.bytes = rest;
        Some(*taken)
    }

    fn number(&mut self) -> Option<u32> {
        let bytes = self.take()?;
        Some(if self.is_little_endian {
            u32::from_le_bytes(bytes)
        } else {
            u32::from_be_bytes(bytes)
        })
    }

    fn float(&mut self) -> Option<f64> {
        let bytes = self.take()?;
        Some(if self.is_little_endian {
            f64::from_le_bytes(bytes)
        } else {
            f64::from_be_bytes(bytes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Wkt, to_wkt};

    fn wkt(hex: &str) -> Option<Wkt> {
        let digits = hex.as_bytes().chunks(2);
        let bytes: Vec<u8> = digits
            .map(|pair| {
                let pair = std::str::from_utf8(pair).expect("ASCII");
                u8::from_str_radix(pair, 16).expect("hexadecimal")
            })
            .collect();
        to_wkt(&to_geometry(&bytes)?)
    }

    #[test]
    fn binary_becomes_text() {
        let one = "000000000000f03f";
        let two = "0000000000000040";
        for (hex, expected) in [
            (format!("0101000000{one}{two}"), "POINT (1 2)"),
            // Big endian.
            (
                "00000000013ff00000000000004000000000000000".to_owned(),
                "POINT (1 2)",
            ),
            // With a height, as in ISO and as in PostGIS with a reference system.
            (format!("01e9030000{one}{two}{one}"), "POINT (1 2)"),
            (format!("01010000a0e6100000{one}{two}{one}"), "POINT (1 2)"),
            (
                format!("010200000002000000{one}{two}{two}{one}"),
                "LINESTRING (1 2, 2 1)",
            ),
            (
                format!("01040000000100000001010000{}{one}{two}", "00"),
                "MULTIPOINT (1 2)",
            ),
            (
                format!(
                    "0103000000010000000300000{}{one}{two}{two}{one}{one}{two}",
                    "0"
                ),
                "POLYGON ((1 2, 2 1, 1 2))",
            ),
        ] {
            assert_eq!(wkt(&hex), Some(Wkt::Whole(expected.to_owned())), "{hex}");
        }
    }

    #[test]
    fn damaged_bytes_are_no_geometry() {
        for hex in ["", "02", "0101000000", "0102000000ffffffff", "0109000000"] {
            assert_eq!(wkt(hex), None, "{hex}");
        }
    }
}
