# SPDX-License-Identifier: Apache-2.0
"""Report and ledger compared exactly. How a ledger is read and what its calls are called is the comparison's of
tests/real/pytorch; here failures are compared too, and sessions of several processes."""
import collections
import importlib.util
import pathlib

_path = pathlib.Path(__file__).resolve().parents[1] / "real" / "pytorch" / "compare.py"
_spec = importlib.util.spec_from_file_location("compare", _path)
compare = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(compare)


def succeeded(tallies):
    """Failed calls have no row in a report: they are in its failures[]."""
    kept = {}
    for key, tally in tallies.items():
        tally.calls -= tally.failed
        tally.failed = 0
        if tally.calls or tally.kernels:
            kept[key] = tally
    return kept


def failures_of_ledger(entries):
    return collections.Counter((entry["function"], entry["status"]) for _, entry in entries
                               if entry["type"] == "call" and not entry["nested"] and entry["status"])


def failures_of_report(report):
    return collections.Counter({(failure["name"], failure["status"]): failure["calls"] for failure in report["failures"]})


def differences(session):
    """Every difference between the session's ledgers and its report, as text."""
    report = session.report
    path = session.folder.with_suffix(".report.json")
    path.write_text(session.report_run("--json").out)
    entries = compare.read_ledger(session.ledgers)
    calls, others, totals = compare.of_ledger(entries)
    reported_calls, reported_others, reported_totals = compare.of_report(path)
    for tallies in (others, reported_others):  # launches are no library calls
        for tally in tallies.values():
            tally.calls = tally.failed = 0
    found = list(compare.differences("call", succeeded(calls), succeeded(reported_calls)))
    found += compare.differences("kernel", others, reported_others)
    found += [f"{key}: ledger {totals[key]}, report {reported_totals[key]}" for key in totals
              if totals[key] != reported_totals[key]]
    failed, reported_failed = failures_of_ledger(entries), failures_of_report(report)
    if failed != reported_failed:
        found.append(f"failures: ledger {dict(failed)}, report {dict(reported_failed)}")
    return found


def assert_equal(case, session, calls=None, kernels=None):
    """Exact equality, and that there was something to be equal: CALLS outermost calls, KERNELS kernels in the ledger."""
    made = [line for line in session.ledger("call") if not line["nested"]]
    ran = session.ledger("kernel")
    case.assertTrue(made, "the ledger holds no call")
    if calls is not None:
        case.assertEqual(len(made), calls, "calls in the ledger")
    if kernels is not None:
        case.assertEqual(len(ran), kernels, "kernels in the ledger")
    case.assertEqual(differences(session), [])
    coverage = session.report["coverage"]
    case.assertEqual({key: coverage[key] for key in ("records_dropped", "records_damaged", "blocks_damaged", "buffers_lost",
                                                     "kernels_untimed")},
                     dict.fromkeys(("records_dropped", "records_damaged", "blocks_damaged", "buffers_lost",
                                    "kernels_untimed"), 0))
