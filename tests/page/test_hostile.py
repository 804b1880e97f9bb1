# SPDX-License-Identifier: Apache-2.0
"""Names that mean harm, in every text of a session that a stranger chooses: nothing runs, nothing breaks, JSON and page say the
name, and a terminal gets no control byte. PAGE_SEED and PAGE_SESSIONS draw more of them."""
import csv
import html.parser
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

import harness
import hostile_names
import hostile_session
import reading
import sessions

SEED = int(os.environ.get("PAGE_SEED", "1"))
SESSIONS = int(os.environ.get("PAGE_SESSIONS", "12" if harness.LONG else "2"))
NAMES_OF_A_SESSION = 48
SELECTED_MOST = 200 if harness.LONG else 16

# What a page may hold: the template's elements, and those of the plot and the tables.
ELEMENTS = set("""html head meta title link style script body a header p h1 h2 h3 h4 h5 nav main section div figure figcaption details summary pre footer
    noscript table caption colgroup col thead tbody tfoot tr th td ul ol li dl dt dd button input label select option fieldset legend output span bdi b strong
    em i code small time abbr sup sub aside canvas textarea svg g defs title desc text tspan path line rect circle ellipse polyline polygon pattern clippath
    clipPath use marker br hr progress meter kbd mark""".split())
# What an element may be given; nothing that runs, loads or styles.
FORBIDDEN = re.compile(r"^(on.*|style|srcdoc|formaction|action|ping|background|xlink:href)$", re.IGNORECASE)
LINK = re.compile(r"^(#|data:,$|blob:)")

DOM = """() => [...document.querySelectorAll("*")].map(e => [e.localName, [...e.attributes].map(a => [a.name, a.value])])"""
# Every text that can be seen or is read out, with where it stands.
TEXTS = """() => {
  const found = [], walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  const place = e => [e.closest("section, header, details, nav, footer"), e].map(n => n && (n.id || n.className || n.localName)).join(" ");
  while (walker.nextNode()) {
    const holder = walker.currentNode.parentElement;
    if (!holder.closest("script, style, noscript")) found.push([place(holder), walker.currentNode.data]);
  }
  document.querySelectorAll("*").forEach(e => { for (const a of e.attributes) found.push([place(e) + "@" + a.name, a.value]); });
  return found;
}"""
UNTOUCHED = """() => ({pwned: typeof window.pwned, proto: Object.getOwnPropertyNames(Object.prototype).sort().join(), title: document.title,
  array: Object.keys([]).length + Object.keys({}).length, broken: document.body.textContent.includes("This part can't be shown")})"""


def is_unseen(character):
    return (unicodedata.category(character) == "Cc" and character not in "\t\n") or "\u200b" <= character <= "\u200f" or \
        "\u2028" <= character <= "\u202e" or "\u2060" <= character <= "\u206f" or character == "\ufeff" or \
        ord(character) & 0xfffe == 0xfffe or "\ufdd0" <= character <= "\ufdef"


def shown(text):
    """A text of the JSON as a page shows it."""
    return "".join("\ufffd" if is_unseen(c) else c for c in text)


def as_written(text):
    """A browser folds blanks; what can't be told apart then is not told apart here either."""
    return re.sub(r"\s+", " ", text).strip()


class Markup(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements, self.comments, self.scripts = [], 0, 0

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, [(name, value or "") for name, value in attributes]))

    def handle_comment(self, data):
        self.comments += 1

    def unknown_decl(self, data):
        self.comments += 1


class Hostile(harness.Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="rooftap-hostile-"))
        cls.plain = cls.page_of_folder(hostile_session.write(cls.folder / "plain", [b"first_kernel", b"second_kernel"], broken=False))
        markup = Markup()
        markup.feed(cls.plain.read_text())
        cls.comments, cls.scripts = markup.comments, sum(tag == "script" for tag, _ in markup.elements)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
        super().tearDownClass()

    @classmethod
    def report(cls, folder, *options):
        """A session with broken files in it ends with 2, and is reported all the same."""
        done = subprocess.run([sessions.ROOFTAP, "report", *options, folder], capture_output=True, timeout=300,
                              env=sessions.recording.clean_environment())
        assert done.returncode in (0, 2), (done.returncode, done.stderr[-2000:])
        cls.check_terminal(done.stderr)
        return done.stdout

    @staticmethod
    def check_terminal(raw):
        text = raw.decode("utf-8", "strict")
        is_bad = {c for c in text if c != "\n" and (unicodedata.category(c) != "Cn" and is_unseen(c) or c == "\t")} # noncharacters do no harm there
        bad = sorted(hex(ord(c)) for c in is_bad)
        assert not bad, (bad, next(line for line in text.split("\n") if any(hex(ord(c)) in bad for c in line))[:300])

    @classmethod
    def page_of_folder(cls, folder, *options):
        path = cls.folder / f"{len(list(cls.folder.glob('*.html')))}.html"
        cls.report(folder, "--html", path, *options)
        return path

    # ---- what is checked of each page ----

    def check_elements(self, elements, where):
        for tag, attributes in elements:
            self.assertIn(tag, ELEMENTS, where)
            for name, value in attributes:
                self.assertIsNone(FORBIDDEN.match(name) if not (name == "style" and where == "document") else None, f"{where}: <{tag} {name}={value!r}>")
                if name in ("href", "src"):
                    self.assertTrue(LINK.match(value), f"{where}: <{tag} {name}={value!r}>")

    def check_file(self, path):
        raw = path.read_bytes()
        self.assertLess(len(raw), sessions.MOST_BYTES)
        text = raw.decode("utf-8", "strict")
        data = reading.still(path)[1]
        self.assertIsNone(re.search("[<>&\u2028\u2029\0-\x08\x0b-\x1f]", data))
        self.assertEqual({hex(ord(c)) for c in text.replace(data, "") if is_unseen(c)}, set())
        markup = Markup()
        markup.feed(text)
        markup.close()
        self.check_elements(markup.elements, path)
        self.assertEqual(sum(tag == "script" for tag, _ in markup.elements), self.scripts)
        self.assertEqual(markup.comments, self.comments)
        self.assertEqual(text.lower().count("</script"), self.scripts)

    def check_document(self, page, report):
        self.check_elements(page.evaluate(DOM), "document")
        state = page.evaluate(UNTOUCHED)
        title = state.pop("title")
        self.assertFalse(any(is_unseen(c) for c in title) or len(title) > 300, title)
        with harness.opened(self.plain) as plain:
            expected = plain.evaluate(UNTOUCHED)
            expected.pop("title")
        self.assertEqual(state, expected)
        for place, text in page.evaluate(TEXTS):
            self.assertFalse([hex(ord(c)) for c in text if is_unseen(c)], f"{place}: {text[:200]!r}")
        tables = reading.tables(page)
        for by, key in (("shape", "operators"), ("kernel", "kernels")):
            self.assertEqual(sorted(row["index"] for row in tables[by]["rows"]), list(range(len(report[key]))), by)

    def check_selected(self, page, report):
        step = max(1, len(report["operators"]) // SELECTED_MOST)
        for index in range(0, len(report["operators"]), step):
            op = report["operators"][index]
            page.evaluate("index => rooftap.state.select(index, 'test')", index)
            more = page.locator("#operators aside.detail .name button.more")
            if more.count():
                more.click()
            name = page.evaluate("() => document.querySelector('#operators aside.detail .name bdi').textContent")
            self.assertEqual(name, shown(op["display_name"] or op["name"] or "(not known)"))
        page.evaluate("() => rooftap.state.select(null, 'test')")

    def check_search(self, page, report):
        """What is typed is searched for; a name finds its own row."""
        step = max(1, len(report["operators"]) // SELECTED_MOST)
        for index in range(0, len(report["operators"]), step):
            name = report["operators"][index]["name"] or ""
            word = max(re.split(r"\s+", name), key=len)[:60]
            if not word or any(is_unseen(c) for c in word):
                continue
            found = page.evaluate("""([word, index]) => {
              const box = document.getElementById("search-rows");
              box.value = word;
              box.dispatchEvent(new Event("input", {bubbles: true}));
              return !document.querySelector(`table[data-by=shape] tr[data-index="${index}"]`).hidden;
            }""", [word, index])
            self.assertTrue(found, repr(word))
        page.evaluate("""() => { const box = document.getElementById("search-rows");
          box.value = ""; box.dispatchEvent(new Event("input", {bubbles: true})); }""")

    def check_csv(self, page, report):
        text = page.evaluate("""() => { const table = rooftap.rows.read(document.querySelector("table[data-by=kernel]"));
          return rooftap.rows.to_csv(table, rooftap.state.data, table.order); }""")
        rows = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"), newline="")))
        self.assertEqual(len(rows), len(report["kernels"]))
        for row, kernel in zip(rows, report["kernels"]):
            name = row.get("name")
            self.assertIn(name.removeprefix("'") if name.startswith("'") and re.match(r"[=+\-@\t\r]", name[1:2]) else name,
                          {shown(kernel["name"] or ""), shown(kernel["display_name"] or "")})
            for value in row.values():
                self.assertFalse(re.match(r"[=@\t\r]", value or ""), value)

    def check_everything_pressed(self, page):
        """Sorts by each column of each table, opens what is closed, and points at the plot."""
        page.evaluate("""() => {
          document.querySelectorAll("details").forEach(e => { e.open = true; });
          for (const by of document.querySelectorAll("#operators input[name=by]")) {
            by.click();
            document.querySelectorAll("#operators thead button").forEach(e => { e.click(); e.click(); });
          }
          document.querySelectorAll("button.more").forEach(e => e.click());
          const first = document.querySelector("#operators input[name=by]");
          if (first) first.click();
        }""")
        canvas = page.locator("#roofline canvas, #roofline .u-over").last
        if canvas.count() and canvas.is_visible():
            box = canvas.bounding_box()
            for x in range(1, 10):
                for y in range(1, 6):
                    page.mouse.move(box["x"] + box["width"] * x / 10, box["y"] + box["height"] * y / 6)
        harness.settle(page)

    def check_page(self, folder, *options):
        path = self.page_of_folder(folder, *options)
        self.check_file(path)
        embedded = sessions.strict(reading.still(path)[1])
        top = ["--top", str(embedded["cut"]["rows"])] if embedded["cut"] else []
        if embedded["cut"] and embedded["cut"]["rows"]:
            self.assertEqual(embedded, sessions.strict(self.report(folder, "--json", *top, *options)))
        with harness.opened(path) as page:
            self.assertEqual(reading.embedded(page), embedded)
            self.check_document(page, embedded)
            self.check_selected(page, embedded)
            self.check_search(page, embedded)
            self.check_csv(page, embedded)
            self.check_everything_pressed(page)
            self.check_document(page, embedded)
        self.check_terminal(self.report(folder, *options))
        return embedded

    def check_json(self, folder, names):
        report = sessions.strict(self.report(folder, "--json").decode("utf-8", "strict"))
        expected = {hostile_names.as_json(name[:hostile_session.MOST_OF_A_RECORD]) for name in names}
        self.assertEqual({op["name"] for op in report["operators"] if op["shape_source"] != "exact"}, expected)
        self.assertTrue(expected <= {kernel["name"] for kernel in report["kernels"]} | {"cublasGemmEx"})
        return report

    # ---- sessions ----

    def test_known_names(self):
        for at in range(0, len(hostile_names.ALL), NAMES_OF_A_SESSION):
            names = hostile_names.ALL[at:at + NAMES_OF_A_SESSION]
            with self.subTest(names=at):
                folder = hostile_session.write(self.folder / f"known-{at}", names, processes=1 + at // NAMES_OF_A_SESSION % 2)
                self.check_json(folder, names)
                self.check_page(folder)

    def test_made_up_names(self):
        for seed in range(SEED, SEED + SESSIONS):
            names = list(dict.fromkeys(hostile_names.names(seed, NAMES_OF_A_SESSION)))
            with self.subTest(seed=seed):
                folder = hostile_session.write(self.folder / f"made-up-{seed}", names)
                self.check_json(folder, names)
                self.check_page(folder)

    def test_files_beside(self):
        """A model, a GPU table and a table of kernels that are called so, and a session folder."""
        for name in (hostile_names.SCRIPTS[0], b"\"><img src=x onerror='window.pwned=1'>", b"__proto__"):
            with self.subTest(name=name):
                folder = hostile_session.write(self.folder / os.fsdecode(hostile_session.file_name(name)), [name, b"constructor", b"kernel"])
                model, gpus, kernels = (self.folder / f"{kind}-{len(name)}" for kind in ("model.gguf", "gpus.json", "kernels.json"))
                hostile_session.write_model(model, [name, *hostile_names.WORDS[:12], *hostile_names.SCRIPTS[:6]])
                hostile_session.write_gpu_table(gpus, name)
                hostile_session.write_kernel_table(kernels, b"constructor")
                report = self.check_page(folder, "--model", model)
                self.assertTrue(any(hostile_names.as_json(name) in weight for op in report["operators"] for weight in op.get("model_weights") or []))
                self.check_page(folder, "--gpu-table", gpus, "--kernel-table", kernels)

    def test_recorded_command(self):
        """A quote in the command, and every byte that an argument can hold."""
        programs = {"quote": [sys.executable, "-c", 'print("hello")'],
                    "bytes": [sys.executable, "-c", "pass", *(bytes([byte]) for byte in range(1, 256)), bytes(range(1, 256))]}
        for name, command in programs.items():
            with self.subTest(command=name):
                folder = self.folder / f"recorded-{name}"
                subprocess.run([sessions.ROOFTAP, "record", "-q", "-o", folder, "--simulate", "rtx4090", "--", *command], timeout=120, check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=sessions.recording.clean_environment())
                done = subprocess.run([sessions.ROOFTAP, "report", "--json", folder], capture_output=True, timeout=120)
                report = sessions.strict(done.stdout.decode("utf-8", "strict"))
                given = b" ".join(word if isinstance(word, bytes) else os.fsencode(word) for word in command)
                self.assertEqual(report["session"]["command"], hostile_names.as_json(given))
                page = self.folder / f"{name}.page.html"
                self.check_terminal(subprocess.run([sessions.ROOFTAP, "report", "--html", page, folder], capture_output=True, timeout=120).stderr)
                self.check_file(page)
                with harness.opened(page) as opened:
                    self.assertEqual(opened.evaluate(UNTOUCHED)["pwned"], "undefined")
                    self.assertEqual(reading.embedded(opened)["session"]["command"], hostile_names.as_json(given))


harness.main()
