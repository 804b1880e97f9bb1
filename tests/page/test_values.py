# SPDX-License-Identifier: Apache-2.0
"""What has spoiled other tools' reports, in JSON and HTML: T01 (figures that are no numbers), T02 (names that mean something to a
format), T04 (the reader's locale), T06 (absolute times as doubles)."""

import pathlib
import re
import shutil
import subprocess
import tempfile

import harness
import oracle
import reading
import sessions
import trace_bytes

NO_NUMBER = re.compile(r"(?<![\w.])-?(nan|inf|infinity)(?![\w.])", re.I)
LOCALES = {"C": None, "C.UTF-8": None, "de_DE.UTF-8": "de_DE", "fr_FR.UTF-8": "fr_FR", "hi_IN.UTF-8": "hi_IN", "ar_EG.UTF-8": "ar_EG"}


class Scratch(harness.Case):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="rooftap-page-"))
        self.addCleanup(shutil.rmtree, self.scratch, True)

    def described(self, text):
        (self.scratch / "trace.txt").write_text(text)
        folder = self.scratch / "session"
        folder.mkdir()
        sessions.run([sessions.MAKE_TRACE, self.scratch / "trace.txt", folder])
        return folder

    def html(self, folder, status=0, name="page.html", **options):
        path = self.scratch / name
        sessions.run([sessions.ROOFTAP, "report", "--html", path, folder], status, **options)
        return path

    def json(self, folder, status=0, **options):
        return sessions.strict(sessions.run([sessions.ROOFTAP, "report", "--json", folder], status, **options).stdout)


class NoNumbers(Scratch):
    """T01: a rate over 0 ns, a share of nothing."""

    def test_kernel_of_0_ns(self):
        folder = self.described("""file 100.trace pid=100
process command="zero"
note timing_on ""
entry 1 cublasGemmEx
device 0 name="NVIDIA GeForce RTX 4090" pci=0x2684 sms=128
name g "g"
name n "nothing"
signature a m=1000 n=500 k=2000
signature b m=0 n=500 k=2000
call a times=1 kernels=1 name=g ns=0 grid=1,1,1
call b times=1 kernels=1 name=g ns=0 grid=1,1,1
kernel n ns=0
end
""")
        report = self.json(folder)
        for op in report["operators"]:
            self.assertIn(op["time_ns"], (0, None))
            self.assertIsNone(op["flops_per_second"], "a rate over no time is not known")
            self.assertIsNone(op["roof_fraction"])
        self.check(self.html(folder))

    def check(self, path):
        still, text = reading.still(path)
        sessions.strict(text)
        for by, table in still.items():
            for row in table["rows"]:
                for cell in row["cells"]:
                    self.assertNotRegex(cell["text"], NO_NUMBER, f"{by} {row['index']}")
        with self.opened(path) as page:
            if page.locator("table[data-by=shape] tbody tr").count():
                page.locator("table[data-by=shape] tbody tr td").first.click()
            self.assertNotRegex(page.locator("main").inner_text(), NO_NUMBER)
            self.assertNotIn("undefined", page.locator("main").inner_text())

    def test_every_session(self):
        for name in self.available(["empty", "blank", "untimed", "poor", "unknown_gpu"]):
            with self.subTest(session=name):
                self.check(self.page_of(name))

    def test_cases_of_the_report(self):
        """All that tests/report has thought of."""
        every = sorted(path.parent.name for path in sessions.CASES.glob("*/trace.txt"))
        for name in every if harness.LONG else every[::12]:
            text = (sessions.CASES / name / "trace.txt").read_text()
            if "@" in text:
                continue
            with self.subTest(case=name):
                folder = sessions.made(f"sessions/case-{name}", sessions.case(name))
                path = self.scratch / f"{name}.html"
                done = subprocess.run([sessions.ROOFTAP, "report", "--html", path, folder], capture_output=True)
                self.assertIn(done.returncode, (0, 1, 2))
                if path.exists():
                    self.check(path)


class Names(Scratch):
    """T02: each format escapes for its own grammar, names come back as they were."""

    def argv(self):
        """A command line with all bytes from 1 to 255, as the program and the launcher see it."""
        return ["print(\"hello\")", "</script><img src=x onerror=window.hurt=1>", "\u2028\u2029", bytes(range(1, 256)), b"\x1b[31m\x07"]

    def test_command_line(self):
        folder = self.scratch / "session"
        # exec -a: the process has the same name and arguments before its shim reads them
        script = 'program=$1; shift; exec -a "$1" "$program" --layers 1 --steps 1'
        sessions.run([sessions.ROOFTAP, "record", "-q", "-o", folder, "--simulate", "rtx4090", "--", "bash", "-c", script, "bash",
                      sessions.recording.DECODE_LOOP, *(word for word in self.argv())])
        report = self.json(folder)
        for word in self.argv():
            wanted = word if isinstance(word, str) else None
            if wanted:
                self.assertIn(wanted, report["session"]["command"])
        path = self.html(folder)
        self.quiet_and_unhurt(path)
        text = sessions.run([sessions.ROOFTAP, "report", folder]).stdout
        self.assertIsNone(re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", text), "a control character reaches the terminal")

    def quiet_and_unhurt(self, path):
        with self.opened(path) as page:
            page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")
            for row in page.locator("table[data-by=shape] tbody tr").all()[:20]:
                row.locator("td").first.click()
                row.locator("td").last.hover()
            self.assertIsNone(page.evaluate("() => window.hurt || null"))
            self.assertEqual(page.evaluate("""() => [...document.querySelectorAll('*')].filter(node =>
              ["IMG", "IFRAME", "OBJECT", "EMBED", "BASE", "FORM"].includes(node.tagName) ||
              [...node.attributes].some(one => one.name.startsWith("on"))).map(node => node.outerHTML.slice(0, 80))"""), [])

    def test_names_come_back(self):
        trace = trace_bytes.Trace(100)
        trace.process(b"names")
        trace.entry(1, b"cublasGemmEx")
        trace.device(b"NVIDIA GeForce RTX 4090")
        trace.note("timing_on", b"")
        names = ["quote \" and 'apostrophe'", "back\\slash", "new\nline\ttab\x01", "</script><script>window.hurt=1</script>",
                 "<img src=x onerror=window.hurt=1>", "\u2028line\u2029paragraph", "__proto__", "=1+1", "&lt;b&gt;"]
        for place, name in enumerate(names):
            trace.launch(trace.name(name.encode()), 9000 - 100 * place)
        folder = self.scratch / "session"
        folder.mkdir()
        trace.write(folder)
        report = self.json(folder)
        self.assertEqual([op["name"] for op in report["operators"]], names)
        path = self.html(folder)
        self.assertEqual(sessions.strict(reading.still(path)[1]), report)
        self.quiet_and_unhurt(path)
        shown = [row["cells"][-1]["text"] for row in reading.still(path)[0]["shape"]["rows"]]
        for name, text in zip(names, shown):
            if name.isprintable() and name.isascii():
                self.assertEqual(text, name)
        terminal = sessions.run([sessions.ROOFTAP, "report", "--all", folder]).stdout
        self.assertIsNone(re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", terminal))


class Locale(Scratch):
    """T04: identical bytes under every locale, also of a program that sets its own before the shim formats anything."""

    @classmethod
    def setUpClass(cls):
        cls.folder = sessions.made("locales", cls.make_locales)

    @staticmethod
    def make_locales(folder):
        """In a folder of the build: nothing of the system is changed."""
        folder.mkdir()
        if not shutil.which("localedef"):
            return
        for name, source in LOCALES.items():
            if source:
                subprocess.run(["localedef", "-i", source, "-f", "UTF-8", folder / name], capture_output=True)

    def environment(self, name):
        return {**sessions.recording.clean_environment(), "LC_ALL": name, "LANGUAGE": name, "LOCPATH": str(self.folder)}

    def works(self, name):
        done = subprocess.run(["python3", "-c", "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.str(45.8))"],
                              env=self.environment(name), capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    def names(self):
        have = {name: self.works(name) for name in LOCALES}
        if have["de_DE.UTF-8"] != "45,8":
            self.skipTest("no locale sources; install locales")
        self.assertTrue(all(have.values()), have)
        return list(have)

    def test_report(self):
        for session in self.available(["decode_loop", "llama", "hostile"]):
            with self.subTest(session=session):
                folder = sessions.session(session)
                for option in ("--json", "--html"):
                    given = [option] if option == "--json" else ["--html", "-"]
                    bytes_of = {name: sessions.run([sessions.ROOFTAP, "report", *given, folder], env=self.environment(name)).stdout
                                for name in self.names()}
                    self.assertEqual({name: text == bytes_of["C"] for name, text in bytes_of.items()}, dict.fromkeys(bytes_of, True), option)

    def test_program_with_a_locale(self):
        sizes = {}
        for name in ("C", "de_DE.UTF-8"):
            folder = self.scratch / name
            environment = {**self.environment(name), "LD_PRELOAD": str(sessions.MADE / "libsets_locale.so")}
            self.names()
            sessions.run([sessions.ROOFTAP, "record", "-q", "-o", folder, "--simulate", "rtx4090", "--", sessions.recording.DECODE_LOOP,
                          "--layers", "2", "--steps", "2"], env=environment)
            report = self.json(folder, env=self.environment(name))
            sizes[name] = [[op[key] for key in ("name", "m", "n", "k", "calls", "time_ns", "share", "intensity", "bound")]
                           for op in report["operators"]]
            self.assertTrue(report["session"]["started_realtime_ns"] > 10**18)
        self.assertEqual(sizes["C"], sizes["de_DE.UTF-8"])
        self.assertTrue(sizes["C"])

    def test_browser(self):
        """The page says the same to readers of every language."""
        texts = {}
        for name in ("en-US", "de-DE", "ar-EG", "hi-IN", "fr-FR"):
            with self.opened("decode_loop", locale=name, timezone_id="Asia/Kolkata" if name == "hi-IN" else "UTC") as page:
                texts[name] = page.locator("body").inner_text()
        self.assertEqual({name: text == texts["en-US"] for name, text in texts.items()}, dict.fromkeys(texts, True))


class Epoch(Scratch):
    """T06: kernels 49 ns apart at today's epoch neither overlap nor lose a nanosecond."""

    def test_49_ns(self):
        count, length, gap = 200, 100, 49
        trace = trace_bytes.Trace(100)
        trace.clock_ns = 1_780_000_000_123_456_789
        trace.process(b"close kernels")
        trace.entry(2, b"cuLaunchKernel")
        trace.device(b"NVIDIA GeForce RTX 4090")
        trace.note("timing_on", b"")
        name = trace.name(b"close")
        for _ in range(count):
            trace.launch(name, length)
            trace.clock_ns += gap - 100 # trace_bytes leaves 100 ns
        folder = self.scratch / "session"
        folder.mkdir()
        trace.write(folder)
        report, busy = self.json(folder), count * length
        device = report["devices"][0]
        self.assertEqual((device["gpu_busy_ns"], device["idle_ns"], device["span_ns"]),
                         (busy, (count - 1) * gap, busy + (count - 1) * gap))
        self.assertEqual(report["operators"][0]["time_ns"], busy)
        path = self.html(folder)
        self.assertEqual(sessions.strict(reading.still(path)[1])["devices"][0]["idle_ns"], (count - 1) * gap)
        with self.opened(path) as page:
            text = page.locator("#overview").inner_text()
        self.assertIn(oracle.duration(busy), text)
        self.assertIn(oracle.duration(busy + (count - 1) * gap), text)
        self.assertIn(oracle.share((count - 1) * gap / device["span_ns"]) + " %", text)


if __name__ == "__main__":
    harness.main()
