# SPDX-License-Identifier: Apache-2.0
"""What escapes texts for the page, on every text of hostile_names.py and made-up ones, against Python's own decoders.

    test_escapes.py ESCAPE_TEXTS [SECONDS]"""
import html
import html.parser
import random
import struct
import subprocess
import sys
import time
import unicodedata

import hostile_names

program, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 0


def through(texts, *mode):
    given = b"".join(struct.pack("<I", len(text)) + text for text in texts)
    out = subprocess.run([program, *mode], input=given, stdout=subprocess.PIPE, check=True).stdout
    escaped, at = [], 0
    while at < len(out):
        (size,) = struct.unpack_from("<I", out, at)
        escaped.append(out[at + 4:at + 4 + size])
        at += 4 + size
    assert len(escaped) == len(texts)
    return escaped


def unseen(character):
    """Controls, line and paragraph separators, what only steers writing, and what is no character at all."""
    number = ord(character)
    return (unicodedata.category(character) == "Cc" and character not in "\t\n") or number & 0xfffe == 0xfffe or 0xfdd0 <= number <= 0xfdef or \
        0x200b <= number <= 0x200f or 0x2028 <= number <= 0x202e or 0x2060 <= number <= 0x206f or number == 0xfeff


def shown(name):
    """What a reader of the page sees: U+FFFD for what can't be seen, or isn't text."""
    return "".join("\ufffd" if unseen(c) else c for c in hostile_names.as_json(name))


class Text(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.pieces, self.attributes, self.tags = [], [], 0

    def handle_data(self, data):
        self.pieces.append(data)

    def handle_starttag(self, tag, attrs):
        self.tags += 1
        self.attributes.append(attrs)

    def handle_comment(self, data):
        self.tags += 1

    handle_decl = unknown_decl = handle_pi = handle_comment


def parse(markup):
    parser = Text()
    parser.feed(markup)
    parser.close()
    return parser


def check_html(names):
    for name, raw in zip(names, through(names, "html")):
        text = raw.decode("utf-8", "strict")
        for letter in "<>\"'\u2028\u2029\r\0\x1b":
            assert letter not in text, (name, text)
        assert html.unescape(text) == shown(name), (name, text)
        between = parse(f"<p>{text}</p>")
        assert between.tags == 1 and "".join(between.pieces) == shown(name), (name, text)
        inside = parse(f'<p title="{text}">')
        assert inside.tags == 1 and inside.attributes == [[("title", shown(name))]], (name, text, inside.attributes)


def check_cut(names, most):
    for name, raw in zip(names, through(names, "cut", str(most))):
        text = html.unescape(raw.decode("utf-8", "strict"))
        if len(name) <= most:
            assert text == shown(name), (name, text)
            continue
        assert text.endswith("…"), (name, most, text)
        # Where it is cut no character is split, so what is left is the text of so many bytes, or of up to 3 less.
        assert text[:-1] in [shown(name[:most - less]) for less in range(min(4, most + 1))], (name, most, text)


check_html(hostile_names.ALL + hostile_names.names(1, 4000) + [bytes([a, b]) for a in range(1, 256) for b in (1, 0x26, 0x3c, 0x80, 0xbf, 0xe2, 0xff)])
check_html([chr(c).encode("utf-8", "surrogatepass") for c in [*range(1, 0x3000), *range(0xd700, 0xe100), *range(0xfd00, 0x10100), 0x10ffff]])
for most in (0, 1, 2, 3, 7, 100):
    check_cut(hostile_names.ALL + hostile_names.names(2, 500), most)
seed, end, tried = 100, time.monotonic() + seconds, 0
while time.monotonic() < end:
    check_html(hostile_names.names(seed, 2000))
    check_cut(hostile_names.names(seed, 500), random.Random(seed).randrange(64))
    seed, tried = seed + 1, tried + 2500
print(f"escapes: held, {tried} more tried")
