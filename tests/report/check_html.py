# SPDX-License-Identifier: Apache-2.0
"""The file of `rooftap report --html`, read without a browser, beside --json and the text report of the same sessions.

check_html.py REPORT_DRIVER MAKE_TRACE CASES
"""
import base64
import hashlib
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BYTES_MOST = 1_000_000
TEXT_BYTES_MOST = 96 << 10
VOID = {"br", "circle", "col", "hr", "img", "input", "line", "link", "meta", "path", "rect"}
# What a browser fetches, or goes to by itself.
LOADING = {"src", "srcset", "href", "xlink:href", "action", "formaction", "data", "poster", "background", "ping"}


class Page(html.parser.HTMLParser):
    """What is in the page by id, and by tag: scripts, styles, links."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.scripts, self.styles, self.metas, self.ids, self.texts, self.open = [], [], [], set(), {}, []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert "style" not in attributes, f"the policy forbids <{tag} style=…>"
        for key, value in attributes.items():
            assert not key.startswith("on"), f"<{tag} {key}=…>"
            assert key not in LOADING or re.match(r"(#|data:,$)", value), f"<{tag} {key}={value!r}>"
        if "id" in attributes:
            assert attributes["id"] not in self.ids, f"two elements are called {attributes['id']}"
            self.ids.add(attributes["id"])
        if tag == "meta":
            self.metas.append(attributes)
        if tag in ("script", "style"):
            (self.scripts if tag == "script" else self.styles).append({"attributes": attributes, "text": ""})
        if tag not in VOID:
            self.open.append((tag, attributes.get("id")))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open and self.open.pop()[0] == tag, f"</{tag}> where {self.open} is open"

    def handle_data(self, text):
        if not self.open:
            return
        if self.open[-1][0] in ("script", "style"):
            (self.scripts if self.open[-1][0] == "script" else self.styles)[-1]["text"] += text
        for _, name in self.open:
            if name:
                self.texts[name] = self.texts.get(name, "") + text


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True)
    assert done.returncode in (0, 1, 2), (command, done.returncode, done.stderr[-400:])
    return done


def hashes_of(elements):
    return sorted(f"'sha256-{base64.b64encode(hashlib.sha256(e['text'].encode()).digest()).decode()}'" for e in elements)


def check_policy(page):
    policies = [meta["content"] for meta in page.metas if meta.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1, policies
    policy = {words[0]: words[1:] for words in (part.split() for part in policies[0].split(";"))}
    code = [script for script in page.scripts if "type" not in script["attributes"]]
    assert len(code) > 5 and len(page.styles) >= 1
    assert sorted(policy.pop("script-src")) == hashes_of(code)
    assert sorted(policy.pop("style-src")) == hashes_of(page.styles)
    assert policy == {"default-src": ["'none'"], "img-src": ["data:"], "base-uri": ["'none'"], "form-action": ["'none'"]}, policy


def data_of(page):
    embedded = [script for script in page.scripts if script["attributes"].get("type")]
    assert [script["attributes"] for script in embedded] == [{"type": "application/json", "id": "data"}], embedded
    text = embedded[0]["text"]
    assert not re.search("[<>&\u2028\u2029]", text), "a letter with a meaning in HTML in the JSON"
    return json.loads(text)


def words(text):
    return " ".join(text.split())


def check(driver, session, rows):
    asked = ["--top", rows] if rows else []
    made = run(driver, "--html", *asked, session)
    whole = run(driver, "--json", session)
    assert (made.returncode, made.stderr) == (whole.returncode, whole.stderr), (made.stderr, whole.stderr)
    if not whole.stdout:
        assert not made.stdout
        return False
    text = made.stdout.decode("utf-8")
    assert len(made.stdout) < BYTES_MOST, len(made.stdout)
    assert "<!-- @" not in text and "sample.js" not in text
    page = Page(text)
    check_policy(page)

    data = data_of(page)
    cut = data["cut"]
    same = run(driver, "--json", "--top", cut["rows"], session) if cut else whole
    assert data == json.loads(same.stdout), "the page's JSON is not that of --json"
    assert not cut or not rows or cut["rows"] <= rows, (cut["rows"], rows)

    assert words(page.texts["verdict"]) == words(data["verdict"]["sentence"]), page.texts["verdict"]
    expected = run(driver, "--rows", 30, session).stdout.decode()
    check_text(expected, page.texts["text"])
    return True


def check_text(whole, shown):
    shown = shown[shown.index("The report as text") + len("The report as text"):].strip()
    lines, expected = shown.split("\n"), whole.strip().split("\n")
    if len(whole.encode()) <= TEXT_BYTES_MOST:
        assert lines == expected, next(pair for pair in zip(lines, expected) if pair[0] != pair[1])
        return
    assert len(shown.encode()) <= TEXT_BYTES_MOST
    left_out = re.fullmatch(r"… (\d+) more lines: 'rooftap report DIR' prints them all", lines.pop())
    assert lines == expected[:len(lines)] and int(left_out[1]) == len(expected) - len(lines), (left_out, len(expected))


def check_as_many_as_fit(driver, make_trace, folder):
    """More than fits: kernels with long C++ names, each another, and products of as many shapes."""
    session = folder / "many"
    session.mkdir()
    for process in range(12): # make_trace knows few names at once
        lines = [f"file {process}.trace pid={100 + process} incarnation={1 + process}", 'process command="many"', 'note timing_on "CUPTI 13.0"',
                 "entry 1 cublasGemmEx", 'device 0 name="NVIDIA GeForce RTX 4090" pci=0x2684 sms=128 uuid=1', 'name g "gemm"']
        for i in range(100 * process, 100 * process + 100):
            name = f"_ZN4many{len(str(i)) + 500}n{'x' * 499}{i}E1T"
            lines += [f'name k{i} "{name}"', f"launch k{i} kernels=1 ns={5000 + i}",
                      f"signature s{i} m={64 + i} n=1 k=4096 type=bf16", f"call s{i} kernels=1 name=g ns={9000 + i}"]
        (folder / "many.txt").write_text("\n".join([*lines, "end"]) + "\n")
        assert run(make_trace, folder / "many.txt", session).returncode == 0
    assert check(driver, session, 0) and check(driver, session, 100000)
    page = run(driver, "--html", session).stdout
    rows = data_of(Page(page.decode()))["cut"]["rows"]
    assert len(page) > 0.9 * BYTES_MOST, f"{rows} rows are {len(page)} bytes: more would have fit"
    assert 10 < rows < 256, rows


def sessions_of(make_trace, cases, folder):
    for case in sorted(cases.iterdir()):
        if not (case / "trace.txt").exists() or (case / "command").exists():
            continue
        values = {"@PID@": str(os.getpid()), "@HOST@": os.uname().nodename, "@NOW@": "1800000000"}
        session = folder / case.name
        session.mkdir()
        for name in ("trace.txt", "session.json"):
            if (case / name).exists():
                text = (case / name).read_bytes().decode("utf-8", "surrogateescape")
                for mark, value in values.items():
                    text = text.replace(mark, value)
                where = folder / "trace.txt" if name == "trace.txt" else session / name
                where.write_bytes(text.encode("utf-8", "surrogateescape"))
        assert run(make_trace, folder / "trace.txt", session).returncode == 0, case
        yield session


def main():
    driver, make_trace, cases = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    pages = 0
    with tempfile.TemporaryDirectory() as folder:
        check_as_many_as_fit(driver, make_trace, pathlib.Path(folder))
        for session in sessions_of(make_trace, cases, pathlib.Path(folder)):
            for rows in (0, 1, 3):
                try:
                    pages += check(driver, session, rows)
                except AssertionError as fault:
                    raise AssertionError(f"{session.name}, --top {rows}: {fault}") from fault
    print(pages, "pages")
    assert pages > 100, "too few sessions for this to say anything"


main()
