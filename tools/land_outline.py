#!/usr/bin/env python3
"""Derives the outline of land on the map of pages from Natural Earth, and writes it as the data of an SVG path.

usage: land_outline.py LAND_TOPOLOGY > crates/server/assets/land.txt

LAND_TOPOLOGY is land-110m.json of the npm package world-atlas 2.0.2 (`npm pack world-atlas@2.0.2`): Natural Earth's land, 1:110 million,
version 4.1.0, in TopoJSON. Natural Earth is in the public domain (https://www.naturalearthdata.com/about/terms-of-use/).

A degree is a unit: x is the longitude plus 180, y is 90 less the latitude. Lines are simplified by Douglas and Peucker, coordinates are
rounded to half a degree, and islands smaller than a square of one degree are left out.
"""

import json
import sys

TOLERANCE = 0.35
SMALLEST_AREA = 1.0


def arcs(topology):
    """Yields the arcs of a quantized topology as (x, y) on the map."""
    (scale_x, scale_y), (offset_x, offset_y) = topology["transform"]["scale"], topology["transform"]["translate"]
    for arc in topology["arcs"]:
        x = y = 0
        points = []
        for step_x, step_y in arc:
            x, y = x + step_x, y + step_y
            points.append((x * scale_x + offset_x + 180, 90 - (y * scale_y + offset_y)))
        yield points


def rings(topology):
    """Yields every ring of the land. A negative arc is reversed."""
    known = list(arcs(topology))
    for geometry in topology["objects"]["land"]["geometries"]:
        polygons = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
        for polygon in polygons:
            for ring in polygon:
                points = []
                for arc in ring:
                    line = known[arc] if arc >= 0 else known[~arc][::-1]
                    points += line[1:] if points else line
                yield points


def unwrapped(points):
    """Removes the jumps of a ring at the antimeridian. A ring around the south pole is closed along the lower edge of the map."""
    result = points[:1]
    for x, y in points[1:]:
        turns = round((x - result[-1][0]) / 360)
        result.append((x - 360 * turns, y))
    if abs(result[-1][0] - result[0][0]) > 180:
        result += [(result[-1][0], 180), (result[0][0], 180), result[0]]
    return result


def clipped(points, edge, sign):
    """Returns the part of a ring with sign * (x - edge) >= 0 (Sutherland and Hodgman)."""
    result = []
    for (x1, y1), (x2, y2) in zip(points, points[1:]):
        inside, stays = sign * (x1 - edge) >= 0, sign * (x2 - edge) >= 0
        if inside:
            result.append((x1, y1))
        if inside != stays:
            result.append((edge, y1 + (y2 - y1) * (edge - x1) / (x2 - x1)))
    return result + result[:1]


def parts_on_map(points):
    """Yields the parts of an unwrapped ring between 0 and 360, from it and its copies a turn apart."""
    for turn in (-360, 0, 360):
        part = clipped(clipped([(x + turn, y) for x, y in points], 0, 1), 360, -1)
        if part:
            yield part


def simplified(points, tolerance):
    """Simplifies a line by Douglas and Peucker; its ends are kept."""
    if len(points) < 3:
        return points
    (x1, y1), (x2, y2) = points[0], points[-1]
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5

    def distance(point):
        x, y = point
        if length == 0:
            return ((x - x1) ** 2 + (y - y1) ** 2) ** 0.5
        return abs((x2 - x1) * (y1 - y) - (x1 - x) * (y2 - y1)) / length

    farthest = max(range(1, len(points) - 1), key=lambda place: distance(points[place]))
    if distance(points[farthest]) <= tolerance:
        return [points[0], points[-1]]
    return simplified(points[:farthest + 1], tolerance)[:-1] + simplified(points[farthest:], tolerance)


def area(points):
    return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in zip(points, points[1:]))) / 2


def number(half_degrees):
    """Writes a number of half degrees in the shortest form."""
    text = f"{half_degrees / 2:g}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def path(topology):
    parts = []
    whole = [unwrapped(ring) for ring in rings(topology)]
    for ring in [part for one in whole if area(one) >= SMALLEST_AREA for part in parts_on_map(simplified(one, TOLERANCE))]:
        rounded = []
        for x, y in ring:
            point = (round(2 * x), round(2 * y))
            if not rounded or rounded[-1] != point:
                rounded.append(point)
        if len(rounded) < 4:
            continue
        (x, y), text = rounded[0], f"M{number(rounded[0][0])} {number(rounded[0][1])}l"
        steps = []
        for next_x, next_y in rounded[1:-1]:
            first, second = number(next_x - x), number(next_y - y)
            steps.append(first + (second if second.startswith("-") else " " + second))
            x, y = next_x, next_y
        joined = steps[0]
        for step in steps[1:]:
            joined += step if step.startswith("-") else " " + step
        parts.append(text + joined + "z")
    return "".join(parts)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        print(path(json.load(file)))


if __name__ == "__main__":
    main()
