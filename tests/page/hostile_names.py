# SPDX-License-Identifier: Apache-2.0
"""Names that mean something to what a report passes through: HTML, JSON, scripts, CSV, terminals, UTF-8, JavaScript's objects."""
import codecs
import random

# Each sets window.pwned if anything runs it.
SCRIPTS = [
    b"</script><script>window.pwned=1</script>", b"<script>window.pwned=1</script>", b"</SCRIPT ><sCrIpT>pwned=1</sCrIpT>",
    b"<img src=x onerror=window.pwned=1>", b"\"><img src=x onerror='window.pwned=1'>", b"' onmouseover='window.pwned=1' x='",
    b"\" onfocus=\"window.pwned=1\" autofocus tabindex=0 x=\"", b"<svg onload=window.pwned=1>", b"<svg><script>pwned=1</script></svg>",
    b"<!--<script>", b"<!-- ", b"-->", b"--!><script>window.pwned=1</script>", b"<![CDATA[", b"]]><script>window.pwned=1</script>",
    b"</pre></details><script>window.pwned=1</script>", b"</td></tr></table><iframe srcdoc='<script>parent.pwned=1</script>'>",
    b"</title></textarea></style></noscript><script>window.pwned=1</script>", b"<style>*{display:none}</style>",
    b"<link rel=stylesheet href=//example.invalid/x.css>", b"<base href=//example.invalid/>", b"<meta http-equiv=refresh content=0>",
    b"<form action=javascript:pwned=1><input autofocus onfocus=pwned=1>", b"javascript:window.pwned=1", b"data:text/html,<script>pwned=1</script>",
    b"${window.pwned=1}", b"`${pwned=1}`", b"');window.pwned=1;('", b"\");window.pwned=1;(\"", b"\\\";window.pwned=1;//", b"\\u003cscript\\u003epwned=1",
    b"{{constructor.constructor('pwned=1')()}}", b"%3Cscript%3Epwned=1%3C/script%3E", b"@verdict@", b"@data@", b"<!-- @text@ -->", b"&lt;script&gt;pwned=1",
]
PLAIN = [b"\"", b"'", b"\\", b"\\\\", b"`", b"&", b"&amp;", b"&amp;amp;", b"&#60;", b"&quot", b"<", b">", b"</", b"<>", b"<a>", b"a<b>(c)",
         b"$&", b"$1", b"%s%n%d", b"%", b"\\x41", b"\\u0041", b"\\n"]
CONTROLS = [b"a\nb", b"a\r\nb", b"a\tb", b"a\x01b", b"\x1b[31mred\x1b[0m", b"\x1b]0;title\x07", b"a\x7fb", b"a\x08\x08b", b"\xc2\x85next", b"\xc2\x9b31m",
            b" leading", b"trailing ", b"  ", b"\n"]
UNICODE = ["a\u2028b".encode(), "a\u2029b".encode(), "abc\u202egnp.exe\u202c".encode(), "\u2066\u2067x\u2069".encode(), "a\u200bb".encode(),
           "\ufeffbom".encode(), "\ufffd".encode(), "\ufffe\uffff".encode(), "\U0001f600\U0010ffff".encode(), "e\u0301".encode(), "\u00e9".encode(),
           ("z" + "\u0335\u0321" * 40).encode(), "\u6f22\u5b57\u30ab\u30ca".encode(), "\u05d0\u05d1\u05d2 \u0645\u0631\u062d\u0628\u0627".encode()]
INVALID = [b"\xed\xa0\x80", b"\xed\xb0\x80\xed\xa0\x80", b"\xed\xa0\xbd\xed\xb8\x80", b"\xc0\xbc" b"script\xc0\xbe", b"\xe0\x80\xbc", b"\xf0\x80\x80\xbc",
           b"\xff\xfe", b"\x80\x81", b"a\xe2\x80", b"a\xe2\x80\"b", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xc3", b"<\xe2\x80>"]
WORDS = [b"__proto__", b"constructor", b"toString", b"hasOwnProperty", b"valueOf", b"prototype", b"__defineGetter__", b"length", b"null", b"undefined", b"NaN", b"-",
         b"Infinity", b"true", b"0", b"-1", b"1e999", b"007", b"0x10", b"=cmd|' /C calc'!A0", b"=1+1", b"+1+1", b"-1+1", b"@SUM(A1)", b"\t=1+1",
         b"a,b", b"a;b", b"\"a\",\"b\"", b"memory", b"unknown", b"all others", b"gemm", b"data", b"tables", b"#data", b".part"]
LONG = [b"_Z" + b"N" * 4000, b"void kernel<" + b"std::tuple<int, " * 1500 + b">" * 1500 + b"(float*)", b"x" * 65000, b"<img src=x onerror=pwned=1>" * 1200,
        "\u6f22".encode() * 20000, b"_ZN5cuteE" + b"I" * 10000, b"&" * 30000, b"\xff" * 20000, b"\x01" * 20000]
ALL = SCRIPTS + PLAIN + CONTROLS + UNICODE + INVALID + WORDS + LONG


def _one_byte(error):
    return "\ufffd", error.start + 1


codecs.register_error("each byte", _one_byte)


def as_json(name):
    """The text that JSON.md promises for these bytes: each byte that belongs to no character is U+FFFD."""
    return name.decode("utf-8", "each byte")


def made_up(draw: random.Random):
    """Pieces of the above and any bytes, never NUL."""
    parts = []
    for _ in range(draw.randint(1, 6)):
        kind = draw.random()
        if kind < 0.6:
            part = draw.choice(SCRIPTS + PLAIN + CONTROLS + UNICODE + INVALID + WORDS)
            begin = draw.randrange(len(part))
            parts.append(part[begin:] if draw.random() < 0.5 else part)
        elif kind < 0.8:
            parts.append(bytes(draw.randint(1, 255) for _ in range(draw.randint(1, 12))))
        else:
            parts.append(chr(draw.choice([0x7f, 0x2028, 0x202e, 0xd7ff, 0xe000, 0xfffd, 0x10000, draw.randrange(1, 0xd800)])).encode())
    return b"".join(parts)


def names(seed, count):
    draw = random.Random(seed)
    return [made_up(draw) for _ in range(count)]
