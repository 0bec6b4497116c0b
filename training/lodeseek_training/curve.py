"""A stage's log as a drawing: loss and validation over the steps."""

import json

WIDTH, HEIGHT, EDGE = 640, 280, 36
COLORS = ["#b3541e", "#1f6f8b", "#3c7a3b", "#7a3b74"]


def curve(log):
    lines = [json.loads(line) for line in open(log, encoding="utf-8")]
    lines = [line for line in lines if "step" in line]
    names = [name for name in lines[-1] if name not in ("step", "of", "seconds", "kept")]
    drawn = []
    for number, name in enumerate(names):
        points = [(line["step"], line[name]) for line in lines if line.get(name) is not None]
        if points:
            drawn += series(name, points, lines[-1]["step"] or 1, COLORS[number % len(COLORS)], number)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/><path d="M{EDGE} {EDGE}V{HEIGHT - EDGE}H{WIDTH - EDGE}" '
            f'fill="none" stroke="#999"/>{"".join(drawn)}<text x="{WIDTH - EDGE}" y="{HEIGHT - 14}" text-anchor="end">'
            f'{lines[-1]["step"]} steps</text></svg>\n')


def series(name, points, last, color, number):
    """One line, over its own range."""
    least, most = min(value for _, value in points), max(value for _, value in points)
    span = (most - least) or 1
    places = [(EDGE + step / last * (WIDTH - 2 * EDGE), HEIGHT - EDGE - (value - least) / span * (HEIGHT - 2 * EDGE)) for step, value in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return [f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>',
            f'<text x="{EDGE + 8 + 150 * number}" y="20" fill="{color}">{name} {least:.3f} to {most:.3f}</text>']
