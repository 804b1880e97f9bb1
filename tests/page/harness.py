# SPDX-License-Identifier: Apache-2.0
"""A page of `rooftap report --html` in headless Chromium, as its readers open it: from file://, with the network off.

    class Plot(harness.Case):
        def test_hover(self):
            with self.opened("decode_loop", width=1280) as page:
                page.hover("#roofline canvas") ...

A page that was opened has to be quiet: no console message, no error, no request but the file, no violation of its policy."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def _enter():
    """Goes on in the environment of setup.sh, or ends with 77."""
    found = subprocess.run([str(HERE / "setup.sh"), "--offline"], capture_output=True, text=True)
    if found.returncode:
        print(f"skipped: {found.stderr.strip()}", file=sys.stderr)
        sys.exit(77)
    python, browser = found.stdout.split("\n")[:2]
    os.environ["PAGE_BROWSER"] = browser
    os.execv(python, [python, "-B", *sys.argv])


if "PAGE_BROWSER" not in os.environ:
    _enter()

from playwright.sync_api import sync_playwright  # noqa: E402

import sessions  # noqa: E402

SCREENSHOTS = sessions.MADE / "screenshots"
READY_MS = 30_000  # a bound for what hangs; how long it took is printed, not judged
ARGUMENTS = ["--no-sandbox"] if os.geteuid() == 0 else []
LONG = os.environ.get("PAGE_LONG", "0") not in ("", "0", "OFF")

WATCH = """document.addEventListener("securitypolicyviolation", function (event) {
  console.error("policy: " + event.violatedDirective + " " + event.blockedURI); });"""


class Quiet:
    """What a page says or asks for though it shouldn't."""

    def __init__(self, context, page, url):
        self.faults = []
        page.on("console", lambda message: self.faults.append(f"console: {message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("popup", lambda popup: self.faults.append(f"popup: {popup.url}"))
        page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        context.on("request", lambda request: self.note(request.url, url))
        context.route("**/*", lambda route: route.continue_() if route.request.url.partition("#")[0] == url else route.abort())

    def note(self, asked, url):
        if asked.partition("#")[0] != url and not asked.startswith(("data:", "blob:")):
            self.faults.append(f"request: {asked}")


class Browser:
    """One Chromium for all tests of a program."""

    driver = browser = None

    @classmethod
    def get(cls):
        if cls.browser is None:
            cls.driver = sync_playwright().start()
            cls.browser = cls.driver.chromium.launch(executable_path=os.environ["PAGE_BROWSER"], args=ARGUMENTS)
        return cls.browser

    @classmethod
    def close(cls):
        if cls.browser is not None:
            cls.browser.close()
            cls.driver.stop()
            cls.browser = cls.driver = None


@contextlib.contextmanager
def opened(path, width=1280, height=900, scheme="light", scripts=True, faults=None, **options):
    """The page at PATH, ready. FAULTS: a list that takes what isn't quiet; without it that is an AssertionError."""
    context = Browser.get().new_context(viewport={"width": width, "height": height}, color_scheme=scheme, offline=True,
                                        java_script_enabled=scripts, reduced_motion="reduce", **options)
    try:
        page = context.new_page()
        url = pathlib.Path(path).resolve().as_uri()
        quiet = Quiet(context, page, url)
        if scripts:
            page.add_init_script(WATCH)
        page.goto(url)
        if scripts:
            page.wait_for_selector("html[data-ready=yes]", timeout=READY_MS, state="attached")
        yield page
        page.wait_for_timeout(20) # what is under way, such as a report of the policy, arrives
    finally:
        context.close()
    if faults is not None:
        faults.extend(quiet.faults)
    elif quiet.faults:
        raise AssertionError("\n".join([f"{path} isn't quiet:", *quiet.faults[:20]]))


def ready_ms(page):
    """From the beginning of the navigation to data-ready, as the page's own clock has it."""
    return page.evaluate("() => performance.now()")


def embedded(page):
    return sessions.strict(page.evaluate('() => document.getElementById("data").textContent'))


def settle(page):
    """Two frames: what was asked for is drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


class Case(unittest.TestCase):
    maxDiff = None

    @classmethod
    def tearDownClass(cls):
        Browser.close()

    def page_of(self, name):
        try:
            return sessions.page(name)
        except sessions.Unavailable as reason:
            self.skipTest(str(reason))

    @contextlib.contextmanager
    def opened(self, name, **options):
        """NAME of a session, or the path of a page."""
        with opened(name if isinstance(name, pathlib.Path) else self.page_of(name), **options) as page:
            yield page

    def available(self, names):
        """Of NAMES those that can be had."""
        for name in names:
            try:
                sessions.session(name)
            except sessions.Unavailable as reason:
                print(f"{name}: left out: {reason}", file=sys.stderr)
                continue
            yield name


def main():
    if not sessions.ROOFTAP.exists():
        sys.exit("E2E_BUILD has to name a build folder with rooftap and its simulated GPU")
    unittest.main(verbosity=1, warnings="ignore")


__all__ = ["Browser", "Case", "HERE", "LONG", "SCREENSHOTS", "embedded", "json", "main", "opened", "ready_ms", "sessions", "settle"]
