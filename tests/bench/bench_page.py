# SPDX-License-Identifier: Apache-2.0
"""What the page costs: `report --html` beside the text report, in time of wall and processors, alternating, and then the page in
Chromium on two processors: from the start of the navigation to data-ready, its longest task, and from an input to the second
frame behind it.

    E2E_BUILD=BUILD bench_page.py [RECORDS [OPERATORS]]    (5,000,000 and 200,000)

Fails if a page is too large or not all of it is there, never for time."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "page"))
import harness  # noqa: E402
from harness import sessions  # noqa: E402

RECORDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
OPERATORS = int(sys.argv[2]) if len(sys.argv) > 2 else 200_000
RUNS = 5
MAKE_LARGE = sessions.MADE / "make_large"

WATCH = """window.longest_ms = 0;
new PerformanceObserver(list => list.getEntries().forEach(e => { window.longest_ms = Math.max(window.longest_ms, e.duration); }))
  .observe({type: "longtask", buffered: true});
new MutationObserver((changes, observer) => {
  if (!document.documentElement.dataset.ready) return;
  window.ready_ms = performance.now();
  observer.disconnect();
}).observe(document, {attributes: true, subtree: true, attributeFilter: ["data-ready"]});"""

# Two frames after DO returned, what it changed was laid out and painted.
TIMED = """async (text) => {
  const act = new Function(text), begin = performance.now();
  act();
  const handled = performance.now();
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return [handled - begin, performance.now() - begin];
}"""

INPUTS = {
    "sort": "document.querySelectorAll('#tables table.rows thead th')[1].querySelector('button').click()",
    "search": "const e = document.querySelector('#operators input[type=search]'); e.value = '4096'; e.dispatchEvent(new Event('input', {bubbles: true}))",
    "clear": "const e = document.querySelector('#operators input[type=search]'); e.value = ''; e.dispatchEvent(new Event('input', {bubbles: true}))",
    "select": "rooftap.state.select(rooftap.state.selected() === 3 ? 5 : 3, 'bench')",
    "class": "rooftap.state.set_filter({bounds: new Set(['memory'])}, 'bench')",
    "all": "rooftap.state.set_filter({bounds: null}, 'bench')",
    "weights": "document.querySelector('#operators input[type=radio][value=weight]').click()",
    "shapes": "document.querySelector('#operators input[type=radio][value=shape]').click()",
}


def cost(command):
    """Seconds of wall and of processors."""
    begin = time.monotonic()
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime


def bench_report(name, folder, page):
    """The least of RUNS, each beside its neighbours."""
    text, html = [], []
    for _ in range(RUNS):
        text.append(cost([sessions.ROOFTAP, "report", folder]))
        html.append(cost([sessions.ROOFTAP, "report", "--html", page, folder]))
    for what, place in (("wall", 0), ("processors", 1)):
        plain, more = min(t[place] for t in text), min(h[place] for h in html)
        print(f"{name}, {what}: text {plain:.2f} s, html {more:.2f} s, added {more - plain:.2f} s, ratio {more / plain:.2f}")
    assert page.stat().st_size < sessions.MOST_BYTES, page.stat().st_size


def bench_page(name, path):
    least, inputs = [], {key: [] for key in INPUTS}
    for _ in range(RUNS):
        context = harness.Browser.get().new_context(viewport={"width": 1280, "height": 900}, offline=True, bypass_csp=True)
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(path.resolve().as_uri())
        page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=harness.READY_MS)
        page.wait_for_timeout(200)
        timing = page.evaluate("""() => { const n = performance.getEntriesByType("navigation")[0], p = performance.getEntriesByType("paint");
          return {ready: window.ready_ms, parsed: n.domInteractive, painted: p.length ? p[p.length - 1].startTime : -1, longest: window.longest_ms}; }""")
        least.append(timing)
        for key, text in INPUTS.items():
            inputs[key].append(page.evaluate(TIMED, text))
        context.close()
    best = min(least, key=lambda timing: timing["ready"])
    print(f"{name}, page of {path.stat().st_size / 1000:.0f} kB: parsed after {best['parsed']:.0f} ms, ready after {best['ready']:.0f} ms, painted after "
          f"{best['painted']:.0f} ms, longest task {best['longest']:.0f} ms")
    print(f"{name}, input to the second frame: " + ", ".join(f"{key} {min(t[1] for t in times):.0f} ms ({min(t[0] for t in times):.0f} handled)"
                                                             for key, times in inputs.items()))


def main():
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    with tempfile.TemporaryDirectory(prefix="rooftap-bench-page-") as place:
        for name, kind, count in (("records", "records", RECORDS), ("operators", "operators", OPERATORS)):
            folder, page = pathlib.Path(place) / name, pathlib.Path(place) / f"{name}.html"
            folder.mkdir()
            subprocess.run([MAKE_LARGE, kind, folder, str(count)], check=True)
            bench_report(f"{count:,} {name}", folder, page)
            bench_page(f"{count:,} {name}", page)
    harness.Browser.close()


main()
