# SPDX-License-Identifier: Apache-2.0
"""Words for what must hold of a report."""
import math

EPSILON = 1e-9
COUNT_MOST = 2**63 - 1  # integers stand for all that is larger
EXACT_MOST = 2**50  # sums of doubles are whole up to here


class Broken(Exception):
    """A line to print."""


def require(holds, *what):
    if not holds:
        raise Broken(" ".join(str(word) for word in what))


def near(a, b, tolerance=EPSILON):
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-12)


def known(*values):
    return all(value is not None for value in values)


def same(a, b, *what):
    """Both unknown, or the same number."""
    require((a is None) == (b is None) and (a is None or near(a, b)), *what, a, "where it should be", b)


def total(values):
    """Of those that are known; None: of none."""
    there = [value for value in values if value is not None]
    return sum(there) if there else None


def times_of(op):
    """Calls, or executions if more, timed or not."""
    return max(op["calls"] or 0, op["executions"] or 0, op["executions_all"] or 0)
