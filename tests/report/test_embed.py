# SPDX-License-Identifier: Apache-2.0
"""How the build puts the page together: what is put in, what is refused, and what is left out without uPlot.

test_embed.py CMAKE EMBED_CMAKE CC
"""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CMAKE, EMBED, CC = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
PAGE = """<!doctype html>
<html><head>
<!-- @policy@ -->
<link rel="stylesheet" href="uplot.css">
<link rel="stylesheet" href="a.css">
</head><body>
<footer><!-- @notices@ --></footer>
<script src="uplot.js"></script>
<script src="sample.js"></script>
<script src="a.js"></script>
<script src="b.js"></script>
</body></html>
"""


def token(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class Embed(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        (self.folder / "uplot").mkdir()
        self.parts = {
            "page.html": PAGE, "a.css": ":root { --a: 1 }\n", "a.js": 'var a = ["[", ";;", "\\\\;", "${a}", "@b@"];\n',
            "b.js": "/* \u20ac \u00e9 */ var b = `${a}`; // no line feed at the end", "sample.js": "sample",
            "uplot_licence.txt": "MIT & <c> 2022 Leon\n", "uplot/uplot.js": "/*! https://x (v1.2.3) */\nvar uPlot = 1;\n",
            "uplot/uplot.css": ".uplot {}\n"}

    def tearDown(self):
        self.scratch.cleanup()

    def embed(self, uplot=True):
        for name, text in self.parts.items():
            if text is not None:
                (self.folder / name).write_text(text, encoding="utf-8")
        return subprocess.run([CMAKE, f"-DPAGE={self.folder / 'page.html'}", f"-DUPLOT={self.folder / 'uplot' if uplot else ''}",
                               f"-DOUT={self.folder / 'out.c'}", "-P", EMBED], capture_output=True, text=True)

    def text(self, uplot=True):
        """What a compiler makes of the array."""
        done = self.embed(uplot)
        self.assertEqual(done.returncode, 0, done.stderr)
        main = self.folder / "main.c"
        main.write_text('#include <stdio.h>\n#include "report/page_template.h"\n'
                        "int main(void) { return fwrite(page_template, 1, page_template_bytes, stdout) != page_template_bytes; }\n")
        root = EMBED.parent.parent.parent
        subprocess.run([*CC.split(), "-I", root, "-o", self.folder / "main", main, self.folder / "out.c"], check=True)
        return subprocess.run([self.folder / "main"], check=True, capture_output=True).stdout.decode("utf-8")

    def test_all_parts_are_in_it_byte_for_byte(self):
        text = self.text()
        for name in ("a.js", "b.js", "uplot/uplot.js"):
            self.assertIn(f"<script>{self.parts[name]}</script>", text)
        for name in ("a.css", "uplot/uplot.css"):
            self.assertIn(f"<style>{self.parts[name]}</style>", text)
        self.assertNotIn("sample", text)
        self.assertNotIn("src=", text)
        self.assertNotIn("stylesheet", text)

    def test_the_policy_names_each_part_and_nothing_else(self):
        content = re.search('<meta http-equiv="Content-Security-Policy" content="([^"]*)">', self.text())[1]
        scripts = " ".join(token(self.parts[name]) for name in ("uplot/uplot.js", "a.js", "b.js"))
        styles = " ".join(token(self.parts[name]) for name in ("uplot/uplot.css", "a.css"))
        self.assertEqual(content, f"default-src 'none'; script-src {scripts}; style-src {styles}; img-src data:; "
                                  "base-uri 'none'; form-action 'none'")

    def test_hashes_of_many_texts(self):
        for i in range(12):  # each of the letters of base64, with and without a plus and a slash
            self.parts["a.js"] = f"var a = {i};"
            self.assertEqual(self.embed().returncode, 0)
            self.assertIn(token(self.parts["a.js"]), (self.folder / "out.c.html").read_text())

    def test_uplot_brings_its_notice(self):
        self.assertIn("uPlot 1.2.3, MIT licence</summary><pre>MIT &amp; &lt;c&gt; 2022 Leon\n</pre>", self.text())

    def test_without_uplot(self):
        text = self.text(uplot=False)
        self.assertEqual(len(re.findall("<script>", text)), 2)
        self.assertEqual(len(re.findall("'sha256-", text)), 3)
        self.assertNotIn("uplot", text.lower())

    def refuses(self, word):
        done = self.embed()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(word, " ".join(done.stderr.split()))
        self.assertFalse((self.folder / "out.c").exists())

    def test_what_would_end_its_element(self):
        for end in ("</script>", "</SCRIPT ", "</style", "<!--", "<script"):
            for name in ("a.js", "a.css", "uplot/uplot.js"):
                with self.subTest(end=end, name=name):
                    self.tearDown()
                    self.setUp()
                    self.parts[name] += f"/* {end} */"
                    self.refuses("write it otherwise")

    def test_carriage_returns(self):
        (self.folder / "b.js").write_bytes(b"var b;\rvar c;\n")
        self.parts["b.js"] = None
        self.refuses("carriage return")

    def test_a_part_that_is_not_there(self):
        self.parts["b.js"] = None
        self.refuses("page.html names b.js")

    def test_no_place_for_the_policy(self):
        self.parts["page.html"] = PAGE.replace("@policy@", "policy")
        self.refuses("@policy@")


os.environ.pop("CFLAGS", None)
unittest.main(argv=sys.argv[:1])
