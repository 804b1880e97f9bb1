# SPDX-License-Identifier: Apache-2.0
"""Files in and out: T05 (a report that is stopped in the middle keeps the old file), T08 (sessions too large for a viewer), T09
(traces of another version, or none at all), T10 (a page that needs something from elsewhere)."""
import base64
import hashlib
import html.parser
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import harness
import reading
import sessions
import trace_bytes

OLD = b"<!doctype html><p>the report of yesterday</p>\n"


class Scratch(harness.Case):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="rooftap-page-"))
        self.addCleanup(shutil.rmtree, self.scratch, True)

    def report(self, *options, **more):
        return subprocess.run([str(word) for word in (sessions.ROOFTAP, "report", *options)], capture_output=True,
                              env=sessions.recording.clean_environment(), timeout=300, **more)


def limit(what, value, ignore=None):
    def begin():
        if ignore is not None:
            signal.signal(ignore, signal.SIG_IGN)
        resource.setrlimit(what, (value, value))
    return begin


class Stopped(Scratch):
    """T05."""

    def setUp(self):
        super().setUp()
        self.path = self.scratch / "report.html"
        self.path.write_bytes(OLD)

    def left_behind(self):
        return sorted(path.name for path in self.scratch.iterdir() if path != self.path)

    def test_no_room(self):
        """The file system is full, or a limit is met, in the middle of the page."""
        for room in (0, 1, 4096, 100_000):
            done = self.report("--html", self.path, sessions.session("decode_loop"),
                               preexec_fn=limit(resource.RLIMIT_FSIZE, room, signal.SIGXFSZ))
            self.assertNotEqual(done.returncode, 0, room)
            self.assertEqual(self.path.read_bytes(), OLD, f"room for {room} bytes")
            self.assertEqual(self.left_behind(), [])
            lines = done.stderr.decode().splitlines()
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(str(self.path), lines[0])

    def test_killed_in_the_middle(self):
        """At the moment when the new page's file is seen in the making."""
        whole, caught = sessions.page("decode_loop").read_bytes(), 0
        for _ in range(8):
            self.path.write_bytes(OLD)
            process = subprocess.Popen([sessions.ROOFTAP, "report", "--html", self.path, sessions.session("decode_loop")],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=sessions.recording.clean_environment())
            while process.poll() is None and len(os.listdir(self.scratch)) == 1:
                pass
            process.send_signal(signal.SIGKILL)
            caught += process.wait() == -signal.SIGKILL
            self.assertIn(self.path.read_bytes(), (OLD, whole))
            for name in self.left_behind():
                (self.scratch / name).unlink()
        print(f"killed in the making {caught} of 8 times")

    def test_killed_at_any_time(self):
        whole = sessions.page("decode_loop").read_bytes()
        for number, how in enumerate([signal.SIGKILL, signal.SIGINT, signal.SIGTERM] * (12 if harness.LONG else 4)):
            self.path.write_bytes(OLD)
            process = subprocess.Popen([sessions.ROOFTAP, "report", "--html", self.path, sessions.session("decode_loop")],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=sessions.recording.clean_environment())
            time.sleep(number * 0.002)
            process.send_signal(how)
            process.wait()
            self.assertIn(self.path.read_bytes(), (OLD, whole), f"{how} after {number * 2} ms")

    def test_nowhere_to_write(self):
        for path in ("/dev/full", self.scratch / "no" / "such" / "folder.html", self.scratch):
            done = self.report("--html", path, sessions.session("decode_loop"))
            self.assertEqual(done.returncode, 2, path)
            self.assertEqual(len(done.stderr.decode().splitlines()), 1, done.stderr)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([sessions.ROOFTAP, "report", "--html", "-", sessions.session("decode_loop")], stdout=full,
                                  stderr=subprocess.PIPE, env=sessions.recording.clean_environment())
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"No space left on device", done.stderr)

    def test_whole_and_once(self):
        """What is written is the page, with the rights of a file that a person makes; a link is followed."""
        self.assertEqual(self.report("--html", self.path, sessions.session("decode_loop")).returncode, 0)
        self.assertEqual(self.path.read_bytes(), sessions.page("decode_loop").read_bytes())
        self.assertEqual(self.left_behind(), [])
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o666 & ~mask)
        piped = self.report("--html", "-", sessions.session("decode_loop"))
        self.assertEqual(piped.stdout, self.path.read_bytes())


class Large(Scratch):
    """T08: memory goes by shapes, not by records; the page by neither."""

    def test_many_records(self):
        count = 5_000_000 if harness.LONG else 300_000

        def make(folder):
            folder.mkdir()
            sessions.run([sessions.MADE / "make_large", "records", folder, count])
        folder = sessions.made("sessions/records", make)
        path = self.scratch / "page.html"
        done = self.report("--html", path, folder, preexec_fn=limit(resource.RLIMIT_AS, 2 << 30))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertLess(path.stat().st_size, sessions.MOST_BYTES)
        with self.opened(path) as page:
            report = reading.embedded(page)
        self.assertEqual(report["coverage"]["kernels"] + report["coverage"]["calls"] + report["coverage"]["launches"], count)

    def test_many_operators(self):
        """The first of them and the exact rest; the page answers."""
        path = self.page_of("large")
        self.assertLess(path.stat().st_size, sessions.MOST_BYTES)
        with self.opened(path) as page:
            print(f"{sessions.LARGE} operators: ready after {harness.ready_ms(page):.0f} ms, {path.stat().st_size} bytes")
            report = reading.embedded(page)
            rest = report["cut"]["operators"]
            self.assertEqual(len(report["operators"]) + rest["count"], sessions.LARGE)
            self.assertEqual(sum(op["time_ns"] for op in report["operators"]) + rest["time_ns"], report["coverage"]["gpu_time_ns"])
            self.assertEqual(sum(op["calls"] for op in report["operators"]) + rest["calls"],
                             report["coverage"]["calls"] + report["coverage"]["launches"])
            self.assertEqual(report, sessions.report("large", "--top", str(report["cut"]["rows"])))
            before = page.evaluate("() => performance.now()")
            page.locator("#search-rows").fill("4096")
            page.locator("table[data-by=shape] thead th button").nth(2).click()
            page.locator("table[data-by=shape] tbody tr:visible").first.click()
            harness.settle(page)
            print(f"search, sort, select: {page.evaluate('() => performance.now()') - before:.0f} ms")


class Versions(Scratch):
    """T09."""

    def trace(self, folder, change=None):
        trace = trace_bytes.Trace(100)
        trace.process(b"versions")
        trace.entry(1, b"cublasGemmEx")
        trace.device(b"NVIDIA GeForce RTX 4090")
        trace.note("timing_on", b"")
        name = trace.name(b"a_kernel")
        if change == "unknown record":
            trace.add(200, b"of a newer version" * 20)
        for _ in range(3):
            trace.gemm(1, 4096, 4096, name)
        folder.mkdir()
        path = trace.write(folder)
        raw = bytearray(path.read_bytes())
        for at in range(0, len(raw), trace_bytes.BLOCK):
            if raw[at:at + 8] != trace_bytes.MAGIC:
                continue
            if change == "minor":
                raw[at + 10:at + 12] = struct.pack("<H", 7)
            if change == "major":
                raw[at + 8:at + 10] = struct.pack("<H", 2)
            if change == "big-endian":
                raw[at:at + 8] = raw[at:at + 8][::-1]
        path.write_bytes(raw if change != "no bytes" else b"")
        return folder

    def ends(self, folder):
        """(status, JSON or None, page's text or None, standard error) of both."""
        told = self.report("--json", folder)
        report = sessions.strict(told.stdout) if told.stdout else None
        path = self.scratch / (folder.name + ".html")
        done = self.report("--html", path, folder)
        self.assertEqual(done.returncode, told.returncode, done.stderr)
        text = None
        if path.exists():
            self.assertEqual(sessions.strict(reading.still(path)[1]), report)
            with self.opened(path) as page:
                text = page.locator("body").inner_text()
        return told.returncode, report, text, told.stderr.decode()

    def test_newer_minor(self):
        plain = self.ends(self.trace(self.scratch / "plain"))
        for change in ("minor", "unknown record"):
            status, report, text, _ = self.ends(self.trace(self.scratch / change, change))
            self.assertEqual(status, 0)
            self.assertEqual([op["time_ns"] for op in report["operators"]], [op["time_ns"] for op in plain[1]["operators"]])
            self.assertIn(report["verdict"]["sentence"][:20], text)
        self.assertGreaterEqual(report["coverage"]["records_unknown"], 1)

    def test_newer_major(self):
        status, report, text, told = self.ends(self.trace(self.scratch / "major", "major"))
        self.assertEqual(status, 2)
        for words in (told, " ".join(report["problems"]), text):
            self.assertRegex(words, r"\b2\.\d")
            self.assertRegex(words, r"\b1\.\d|\bversion 1\b|\b1\b")

    def test_no_trace_at_all(self):
        for change in ("big-endian", "no bytes"):
            folder = self.trace(self.scratch / change, change)
            status, report, text, told = self.ends(folder)
            self.assertIn(status, (1, 2), change)
            self.assertTrue(told or report["problems"])
            if text is not None:
                self.assertEqual(report["operators"], [])
        folder = self.scratch / "folder"
        (folder / "100-1-0000000000000064.trace").mkdir(parents=True)
        status, report, _, _ = self.ends(folder)
        self.assertIn(status, (1, 2))

    def test_no_session(self):
        path = self.scratch / "page.html"
        done = self.report("--html", path, self.scratch / "nothing here")
        self.assertEqual((done.returncode, len(done.stderr.decode().splitlines())), (2, 1))
        self.assertFalse(path.exists(), "no page of nothing")
        (self.scratch / "file").write_bytes(b"x")
        status, report, text, told = self.ends(self.scratch / "file")
        self.assertEqual((status, len(told.splitlines())), (2, 1))
        self.assertIn(report["problems"][0][-40:], text)


class Addresses(html.parser.HTMLParser):
    """What a page could load, and its scripts, styles and policy."""

    LOADING = {"src", "href", "srcset", "data", "action", "poster", "background", "cite", "formaction", "ping", "xlink:href", "srcdoc"}

    def __init__(self):
        super().__init__()
        self.loaded, self.texts, self.policy, self.inside, self.handlers = [], {"script": [], "style": []}, None, None, []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.loaded += [(tag, name, value) for name, value in attributes if name in self.LOADING]
        self.handlers += [(tag, name) for name in given if name.startswith("on") or name == "style"]
        if tag == "meta" and (given.get("http-equiv") or "").lower() == "content-security-policy":
            self.policy = given["content"]
        if tag in self.texts and given.get("type") != "application/json":
            self.inside = tag
            self.texts[tag].append("")

    def handle_data(self, text):
        if self.inside:
            self.texts[self.inside][-1] += text

    def handle_endtag(self, tag):
        if tag == self.inside:
            self.inside = None


class SelfContained(Scratch):
    """T10."""

    def test_nothing_from_elsewhere(self):
        for name in self.available(["decode_loop", "llama", "pytorch", "empty", "hostile"]):
            with self.subTest(session=name):
                text = self.page_of(name).read_text(encoding="utf-8")
                parser = Addresses()
                parser.feed(text)
                for tag, attribute, value in parser.loaded:
                    self.assertRegex(value or "", r"^(#|data:,?$)", f"<{tag} {attribute}>")
                self.assertEqual(parser.handlers, [])
                for style in parser.texts["style"]:
                    self.assertNotRegex(style, r"@import|url\(\s*['\"]?(?!data:|#)")
                self.check_policy(parser)

    def check_policy(self, parser):
        policy = dict(part.strip().split(" ", 1) for part in parser.policy.split(";") if part.strip())
        self.assertEqual(policy["default-src"], "'none'")
        self.assertNotIn("unsafe", parser.policy)
        self.assertNotRegex(parser.policy, r"https?:|\*")
        for tag in ("script", "style"):
            allowed = re.findall(r"'sha256-([^']+)'", policy[f"{tag}-src"])
            here = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in parser.texts[tag]]
            self.assertEqual(sorted(here), sorted(allowed), f"{tag}: just what is here is allowed")
            self.assertTrue(here)
        for directive in ("base-uri", "form-action"):
            self.assertEqual(policy.get(directive), "'none'", directive)

    def test_markup_is_whole(self):
        """Each element that is opened is closed, in order."""
        void = {"meta", "link", "br", "hr", "img", "input", "col", "wbr"}
        for name in self.available(["llama", "hostile", "empty"]):
            opened, test = [], self

            class Nesting(html.parser.HTMLParser):
                def handle_starttag(self, tag, attributes):
                    if tag not in void:
                        opened.append(tag)

                def handle_startendtag(self, tag, attributes):
                    pass

                def handle_endtag(self, tag):
                    test.assertEqual(opened.pop() if opened else None, tag, f"{name}: line {self.getpos()[0]}")

            parser = Nesting()
            parser.feed(self.page_of(name).read_text(encoding="utf-8"))
            parser.close()
            self.assertEqual(opened, [], name)


if __name__ == "__main__":
    harness.main()
