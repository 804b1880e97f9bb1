# SPDX-License-Identifier: Apache-2.0
"""Colours of page.css, read from the file: WCAG 2.2's contrast in both schemes (1.4.3 for text, 1.4.11 for what isn't text), and
classes that stay apart for colour-blind people (Machado, Oliveira, Fernandes 2009, severity 1; distance: CIE 1976 in L*a*b*)."""
import itertools
import pathlib
import re
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "report" / "page"
TEXT, SHAPE = 4.5, 3.0
APART = 20  # of L*a*b*; 2.3 is what one just sees

CLASSES = ["memory", "compute", "overhead", "unknown"]
ON_PAPER = ["ink", "muted", "accent", "problem", *CLASSES]
BEHIND_NAMES = [*CLASSES, "seen", "seen-2", "seen-3", "seen-4", "partly", "muted", "problem", "accent", "prefill", "decode"]
BLINDNESS = {
    "protanopia": [(0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)],
    "deuteranopia": [(0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)],
    "tritanopia": [(1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)],
}


def properties(block):
    """{name: "#rrggbb"} of those that are colours."""
    return dict(re.findall(r"--([a-z0-9-]+):\s*(#[0-9a-fA-F]{6})\b", block))


def schemes():
    text = re.sub(r"/\*.*?\*/", "", (PAGE / "page.css").read_text(encoding="utf-8"), flags=re.S)
    light = properties(re.search(r":root\s*\{(.*?)\}", text, re.S).group(1))
    dark = re.search(r"@media screen and \(prefers-color-scheme: dark\)\s*\{\s*:root\s*\{(.*?)\}", text, re.S).group(1)
    return {"light": light, "dark": {**light, **properties(dark)}}


def linear(colour):
    channels = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    return [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]


def luminance(rgb):
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]


def contrast(one, other):
    lighter, darker = sorted((luminance(linear(one)), luminance(linear(other))), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def lab(rgb):
    """Of linear sRGB, white D65."""
    x = (0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.9505
    z = (0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.089
    f = [value ** (1 / 3) if value > 216 / 24389 else (24389 / 27 * value + 16) / 116 for value in (x, luminance(rgb), z)]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def seen(colour, matrix):
    rgb = linear(colour)
    return [min(1, max(0, sum(factor * value for factor, value in zip(row, rgb)))) for row in matrix]


def distance(one, other):
    return sum((a - b) ** 2 for a, b in zip(lab(one), lab(other))) ** 0.5


class Contrast(unittest.TestCase):
    def each(self):
        for scheme, colours in schemes().items():
            with self.subTest(scheme=scheme):
                yield colours

    def least(self, colours, pairs, bound):
        for one, other in pairs:
            with self.subTest(colour=one, on=other):
                self.assertGreaterEqual(round(contrast(colours[one], colours[other]), 2), bound)

    def test_the_formula(self):
        self.assertAlmostEqual(contrast("#000000", "#ffffff"), 21)  # WCAG 2.2, definition of contrast ratio
        self.assertAlmostEqual(contrast("#767676", "#ffffff"), 4.54, places=2)  # the greyest text on white that passes AA
        self.assertAlmostEqual(lab(linear("#ffffff"))[0], 100, places=1)

    def test_text(self):
        for colours in self.each():
            self.least(colours, itertools.product(ON_PAPER, ["paper", "panel"]), TEXT)
            self.least(colours, [("ink", "mark"), ("ink", "idle"), ("problem", "problem-panel"), ("simulated", "simulated-panel")], TEXT)
            self.least(colours, [("paper", "accent")], TEXT)  # a pressed button

    def test_names_in_bars(self):
        for colours in self.each():
            self.least(colours, [("on-class", name) for name in BEHIND_NAMES], TEXT)

    def test_edges_of_what_can_be_used(self):
        for colours in self.each():
            self.least(colours, itertools.product(["edge", "accent"], ["paper", "panel"]), SHAPE)

    def test_both_schemes_name_all(self):
        light, dark = schemes().values()
        self.assertEqual(set(light), set(dark))
        self.assertTrue(all(light[name] != dark[name] for name in ON_PAPER))

    def test_classes_are_apart_for_the_colour_blind(self):
        for colours in self.each():
            for kind, matrix in BLINDNESS.items():
                for one, other in itertools.combinations(CLASSES, 2):
                    with self.subTest(kind=kind, classes=(one, other)):
                        apart = distance(seen(colours[one], matrix), seen(colours[other], matrix))
                        self.assertGreater(apart, APART)

    def test_no_colour_beside_the_properties(self):
        """Colours elsewhere would be of one scheme alone."""
        for file in sorted(PAGE.glob("*.css")):
            text = re.sub(r"/\*.*?\*/", "", file.read_text(encoding="utf-8"), flags=re.S)
            strays = [line.strip() for line in text.split("\n") if re.search(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)", line)
                      and not line.strip().startswith("--") and re.search(r":[^;]*#[0-9a-fA-F]{3,8}\b", line)]
            self.assertEqual(strays, [], file.name)

    def test_the_static_picture_is_of_the_light_scheme(self):
        colours = set(schemes()["light"].values())
        for file in ["roofline_svg.c", "roofline_points.c"]:
            used = re.findall(r"#[0-9a-f]{6}", (PAGE.parent / file).read_text(encoding="utf-8"))
            self.assertTrue(used)
            self.assertEqual(set(used) - colours, set(), file)

    def test_no_style_in_markup(self):
        text = (PAGE / "page.html").read_text(encoding="utf-8")
        self.assertNotRegex(text, r"\sstyle=")


if __name__ == "__main__":
    unittest.main()
