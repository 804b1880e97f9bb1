#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_reading.py BUILD [DOCUMENT]: what a document says is so. Its console blocks are run in their order, and every line below a
command must be in what it prints; each picture must be what the session of its name draws; figures of the prose stand in a
block, or are worked out in a comment such as <!-- 362.0 / 165.2 = 2.2 -->. UPDATE=1 writes the pictures. $ROOFTAP_TORCH is a
Python with PyTorch for CUDA 13; without one, what needs it is left out, and said."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
TORCH = pathlib.Path(os.environ.get("ROOFTAP_TORCH", ROOT / ".deps/venv-torch/bin/python"))
COMMENT = re.compile(r"<!--(.*?)-->", re.S)
BLOCK = re.compile(r"^( *)```console\n(.*?)^ *```$", re.M | re.S)
PICTURE = re.compile(r"!\[([^\]]*)\]\(pictures/([\w-]+)\.svg\)\s+\*([^*]*)\*")
NUMBER = re.compile(r"(?<![\w.,-])(?:\d{1,3}(?:,\d{3})+|\d+\.\d+|\d{3,})(?![\w]|\.\d)")


class Wrong(Exception):
    pass


def blocks_of(text):
    """[(command, [lines])] of each block."""
    for match in BLOCK.finditer(text):
        commands = []
        for line in textwrap.dedent(match[2]).splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            else:
                commands[-1][1].append(line.strip())
        yield commands


def world(build, scratch):
    """A folder in which the commands are found as a reader would have them."""
    programs = scratch / "programs"
    programs.mkdir()
    for name, path in (("rooftap", build / "bin/rooftap"), ("decode_loop", build / "examples/decode_loop/decode_loop")):
        script = programs / name
        script.write_text(f'#!/bin/sh\nexec "{path}" "$@"\n')
        script.chmod(0o755)
    if TORCH.exists():
        script = programs / "python"
        script.write_text(f'#!/bin/sh\nexec "{TORCH}" "$@"\n')
        script.chmod(0o755)
    folder = scratch / "folder"
    folder.mkdir()
    shutil.copy(ROOT / "examples/decode_loop/qwen2.5-7b.json", folder)
    shutil.copy(ROOT / "docs/naive_attention.py", folder)
    own = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(scratch), "XDG_DATA_HOME": str(scratch / "data"), "LC_ALL": "C.UTF-8"}
    return folder, {**os.environ, **own}


def needs_torch(commands):
    return any(re.search(r"-- python\b", command) for command, _ in commands)


def run(command, folder, environment):
    done = subprocess.run(["sh", "-ec", command], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Wrong(f"`{command}` ended with {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout


def check_lines(command, lines, printed):
    rest = [line.strip() for line in printed.splitlines()]
    for line in lines:
        if line not in rest:
            near = next((each for each in rest if each[:20] == line[:20]), "nothing alike")
            raise Wrong(f"`{command}` does not print, in this order:\n  {line}\nbut\n  {near}")
        rest = rest[rest.index(line) + 1:]


def picture_of(session, folder, environment):
    page = run(f"rooftap report --html - {session}", folder, environment)
    pictures = re.findall(r"<svg [^>]*class=\"roofline-picture\".*?</svg>\n", page, re.S)
    if len(pictures) != 1:
        raise Wrong(f"{session}: {len(pictures)} pictures in its page")
    xml.etree.ElementTree.fromstring(pictures[0])
    return pictures[0]


def check_picture(document, match, folder, environment):
    alternative, name, caption = match.groups()
    if "simulated" not in alternative or "Simulated" not in caption:
        raise Wrong(f"picture {name}: neither text nor caption may leave out that the GPU is simulated")
    if f"`{name}`" not in caption:
        raise Wrong(f"picture {name}: the caption does not name its session")
    path = document.parent / "pictures" / f"{name}.svg"
    if not (folder / name).exists():
        return path.exists()
    drawn = picture_of(name, folder, environment)
    if os.environ.get("UPDATE") == "1":
        path.write_text(drawn)
    if not path.exists() or path.read_text() != drawn:
        raise Wrong(f"{path}: not what `rooftap report --html` draws of {name} (UPDATE=1 writes it)")
    return True


def result_of(comment):
    """The text behind "=", once what stands before it is found to be that, to its last digit."""
    match = re.fullmatch(r"([\d.\s*/+-]+)=\s*([\d.]+)", comment.strip())
    if not match:
        raise Wrong(f"no sum: <!--{comment}-->")
    digits = len(match[2].partition(".")[2])
    value = eval(match[1], {"__builtins__": {}})  # digits and signs alone, as matched
    if abs(value - float(match[2])) > 0.5 * 10**-digits * (1 + 1e-9):
        raise Wrong(f"<!--{comment}--> is {value}")
    return match[2], re.findall(r"[\d.]+", match[1])


def check_prose(text):
    """Numbers of the prose: in a block, or the result of a sum of such."""
    printed = set(re.findall(r"\d[\d.,]*\d|\d", " ".join(match[2] for match in BLOCK.finditer(text))))
    worked_out = set()
    for comment in COMMENT.findall(text):
        result, operands = result_of(comment)
        for operand in operands:
            if operand not in printed and float(operand) > 8:
                raise Wrong(f"<!--{comment}-->: no command prints {operand}")
        worked_out.add(result)
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)|RTX \d+", " ", COMMENT.sub(" ", BLOCK.sub(" ", text)))
    for number in NUMBER.findall(prose):
        if number not in printed and number not in worked_out:
            raise Wrong(f"no command prints {number}, which the text has")


def check(document, build, scratch):
    text = document.read_text()
    folder, environment = world(build, scratch)
    ran = left_out = 0
    check_prose(text)
    for commands in blocks_of(text):
        if needs_torch(commands) and not TORCH.exists():
            left_out += 1
            continue
        for command, lines in commands:
            check_lines(command, lines, run(command, folder, environment))
            ran += 1
    pictures = [check_picture(document, match, folder, environment) for match in PICTURE.finditer(text)]
    stray = {path.stem for path in (document.parent / "pictures").glob("*.svg")} - {match[2] for match in PICTURE.finditer(text)}
    if stray or len(pictures) != text.count("pictures/") or not all(pictures):
        raise Wrong(f"pictures that are in no document, or in none of the tree: {stray or pictures}")
    print(f"{document.name}: {ran} commands print what it says, {len(pictures)} pictures are theirs"
          + (f"; {left_out} blocks need PyTorch ({TORCH}) and were left out" if left_out else ""))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    document = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "docs/reading-a-roofline.md")
    with tempfile.TemporaryDirectory() as scratch:
        try:
            check(document, build, pathlib.Path(scratch))
        except Wrong as wrong:
            print(f"{document}: {wrong}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
