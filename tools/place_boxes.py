#!/usr/bin/env python3
"""Prints the box of each country and each state of the USA: the name, then west,south,east,north in degrees.

usage: place_boxes.py COUNTRIES_TOPOLOGY STATES_TOPOLOGY

COUNTRIES_TOPOLOGY is countries-50m.json of the npm package world-atlas 2.0.2: Natural Earth, 1:50 million, in the public domain.
STATES_TOPOLOGY is states-10m.json of the npm package us-atlas 3.0.1: boundaries of the US Census Bureau, in the public domain.
The boxes in crates/catalog/src/coverage/places.tsv are from here, except those of the EU, EFTA and the United Kingdom. Corrected are those that lack
islands in the file (FSM, GNQ, IDN, JPN, KOR, MDV, MHL, MUS, SYC, TON; TUV is missing in it), NZL (without Tokelau), and UKR (with Crimea).

A box is the narrowest one around all parts of a place, rounded outwards to tenths. It crosses the antimeridian if that is narrower:
its west is then greater than its east.
"""

import json
import math
import sys

from land_outline import arcs


def numbers(nested):
    """Yields the numbers of arcs in nested lists."""
    for one in nested:
        if isinstance(one, list):
            yield from numbers(one)
        else:
            yield one if one >= 0 else ~one


def narrowest(longitudes):
    """Returns the ends of the narrowest interval around positions on the circle: outside of it is the widest gap."""
    ordered = sorted(set(longitudes))
    gaps = [(after - before, place) for place, (before, after) in enumerate(zip(ordered, ordered[1:] + [ordered[0] + 360]))]
    last = max(gaps)[1]
    return ordered[(last + 1) % len(ordered)], ordered[last]


def boxes(topology, layer):
    """Yields the name and the box of each place of a layer."""
    # land_outline has x = longitude + 180 and y = 90 - latitude.
    known = [[(x - 180, 90 - y) for x, y in arc] for arc in arcs(topology)]
    for geometry in topology["objects"][layer]["geometries"]:
        points = [point for number in numbers(geometry["arcs"]) for point in known[number]]
        west, east = narrowest(x for x, _ in points)
        south, north = min(y for _, y in points), max(y for _, y in points)
        outwards = [math.floor(10 * west), math.floor(10 * south), math.ceil(10 * east), math.ceil(10 * north)]
        yield geometry["properties"]["name"], [value / 10 for value in outwards]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: place_boxes.py COUNTRIES_TOPOLOGY STATES_TOPOLOGY")
    for path, layer in zip(sys.argv[1:3], ("countries", "states")):
        with open(path, encoding="utf-8") as file:
            for name, box in boxes(json.load(file), layer):
                print(name, ",".join(f"{value:g}" for value in box), sep="\t")


if __name__ == "__main__":
    main()
