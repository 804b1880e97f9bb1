#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The harness has to notice what planted.c, a bad shim, does: each thing once, in the aspect where it shows, and in no other
that has nothing to do with it. What it must not notice is a shim that does nothing."""
from recording import BUILD, main
from test_programs import SUBJECT
from transcript import ASPECTS, Row, Transcripts, compare, seen_aspects

PLANTED = str(BUILD / "tests" / "transcript" / "libtranscript_planted.so")
# What is planted, and where it has to show: all of these, and nothing else but what follows from it (in brackets).
PLANTS = {
    "nothing": ([], []),
    "errno": (["errno"], []),
    "flag": (["fenv"], []),
    "rounding": (["fenv"], []),
    "masked": (["fenv"], []),
    "output": (["stdout"], []),
    "complaint": (["stderr"], []),
    "descriptor": (["descriptors"], []),
    "mask": (["mask"], ["threads"]),
    "pending": (["pending", "mask"], ["threads"]),
    "disposition": (["dispositions"], []),
    "umask": (["umask"], []),
    "folder": (["folder"], ["children"]),
    "environment": (["children"], []),
    "priority": (["process"], []),
    "thread with signals": (["threads"], []),
    "two threads": (["threads"], []),
    "status": (["results"], []),
    "call": (["calls"], []),
    "facts each time": (["calls"], []),
    "setter": (["calls"], []),
    "twice": (["calls", "work"], ["nodes", "errno", "results"]),
    "skipped": (["calls", "work"], ["nodes", "results", "fenv"]),
    "argument": (["calls"], []),
    "sticky error": (["sticky_error", "calls"], ["results"]),
    "taken error": (["calls", "sticky_error"], []),
    "node": (["nodes", "calls", "work"], ["fenv"]),
    "exit": (["status"], None),
    "death": (["status"], None),
}
# In which scene it shows.
SCENES = {"node": "capture", "taken error": "errors", "status": "errors"}


class Planted(Transcripts):
    def found(self, plant):
        """Scene `ending` has all that is needed of most: cuBLAS calls in several threads, looks at the end."""
        scene = SCENES.get(plant, "ending")
        row = Row(plant, [SUBJECT, scene], 8, inject=lambda session: {"LD_PRELOAD": PLANTED, "PLANT": plant}, traced=False)
        if scene not in self.scenes:
            self.scenes[scene] = self.alone(row)
        return compare(self.scenes[scene], self.shimmed(row), row)

    def test_each_is_noticed(self):
        self.scenes, wrong = {}, []
        for plant, (wanted, follows) in PLANTS.items():
            found = self.found(plant)
            missed = [aspect for aspect in wanted if aspect not in found]
            more = [] if follows is None else [f"{a}: {found[a][:2]}" for a in found if a not in wanted + follows]
            print(f"{plant.ljust(20)} {', '.join(found) or 'identical'}")
            if missed or more:
                wrong.append(f"{plant}: not noticed in {missed}, besides in {more}")
        print(f"{len(PLANTS) - 1} differences planted, {len(wrong)} wrong", flush=True)
        self.assertEqual(wrong, [])

    def test_each_aspect_can_differ(self):
        """What is not planted is done by a shell: one that is never seen to differ might be blind."""
        planted = {aspect for wanted, _ in PLANTS.values() for aspect in wanted}
        row = Row("", [SUBJECT, "ending"], 8)
        alone = self.alone(row)
        self.assertEqual(sorted({"mask", "pending", "stdout", "stderr", "files", "nodes"} & seen_aspects(alone)), [])
        changed = Row("", ["sh", "-c", "trap '' USR2; echo more >file; exec \"$@\"", "sh", SUBJECT, "ending"], 8)
        found = compare(alone, self.alone(changed), changed)
        self.assertEqual(sorted(found), ["dispositions", "files"])
        lacks_handler = Row("", [SUBJECT, "errors"], 8)
        found = compare(alone, self.alone(lacks_handler), lacks_handler)
        self.assertIn("handler", found)
        self.assertEqual(sorted(set(ASPECTS) - planted - {"handler", "files"}), [])


if __name__ == "__main__":
    main()
