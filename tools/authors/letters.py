"""The letters of the formulas: which of them neither the table of conventions.md nor their page explains.

python tools/authors/letters.py [CHAPTER...]

The table has a row for letters and a part. A page has its own list, a paragraph that opens with "**Notation.**".
Read are the numbered formulas, without indices, exponents and words; a hat or a star makes no other letter.
"""

import re
import sys
from collections import Counter

from boxes import source
from kinds import ROOT, chapters, contents, kind

PARTS = {"pspin": "I", "transformer": "II", "mapping": "III", "results": "IV", "beyond": "V"}
GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta kappa lambda mu nu xi rho sigma tau phi "
    "varphi chi psi omega Gamma Delta Theta Lambda Xi Phi Psi Omega ell Sigma"
).split()
SILENT = r"mathrm|text|operatorname|textbf|label|tag|begin|end|mathsf|texttt"  # their words are words, not letters
FONTS = "mathcal|mathbb"
BESIDE = re.compile(rf"[_^]\s*|\\(?:{SILENT})\*?\s*(?=\{{)|\\mathrm\s+(?=[A-Za-z])")
COMMAND = re.compile(r"\\[A-Za-z]+")
INTEGRAL = re.compile(r"e\^|d\s*(?=[A-Za-z]|\\[A-Za-z])|d(?=\}\{)")  # and exponential


def group(tex, start):
    """The end of the group, command or sign that begins at a place."""
    if tex[start] != "{":
        match = re.compile(r"\\[A-Za-z]+|\\.|.", re.S).match(tex, start)
        return match.end()
    depth, at = 0, start
    while True:
        depth += (tex[at] == "{") - (tex[at] == "}")
        at += 1
        if depth == 0:
            return at


def letters(tex):
    """The letters of a formula that are no index, exponent, word or sign: {"N", "\\sigma", "\\mathcal C", ...}."""
    tex = re.sub(r"\\\\\[[-\w]+\]", " ", tex)  # a line break with its space
    out, at = [], 0
    while at < len(tex):
        match, name = BESIDE.match(tex, at), COMMAND.match(tex, at)
        if match and match.end() < len(tex):  # an index, an exponent, a word
            at, one = group(tex, match.end()), " "
        elif name:
            at, one = name.end(), name[0]
        elif INTEGRAL.match(tex, at):
            at, one = at + 1, " "
        else:
            at, one = at + 1, tex[at]
        out.append(one)
    plain = re.sub(r"\\(mathbf|boldsymbol)\s*", " ", "".join(out))  # a vector of what the letter is
    fonts = rf"\\({FONTS})\s*(?:([A-Za-z])|\{{\s*(\\?[A-Za-z]+)\s*\}})"
    found = {f"\\{font} {one or braced}" for font, one, braced in re.findall(fonts, plain)}
    plain = re.sub(rf"\\({FONTS})\s*(?:[A-Za-z]|\{{[^}}]*\}})", " ", plain)
    found |= {f"\\{name}" for name in re.findall(r"\\([A-Za-z]+)", plain) if name in GREEK}
    plain = re.sub(r"\\[A-Za-z]+|\\.", " ", plain)
    return found | set(re.findall(r"[A-Za-z]", plain))


def numbered(name):
    """The numbered formulas of a chapter: (label, TeX)."""
    found = re.findall(r"\$\$((?:(?!\$\$).)*)\$\$ *\(([\w-]+)\)", "\n\n".join(source(name)), re.S)
    return [(label, tex) for tex, label in found]


def inline(text: str) -> set[str]:
    """The letters of all formulas in a text."""
    return set().union(*(letters(tex) for tex in re.findall(r"\$([^$]+)\$", text)))


def table() -> list[tuple[set[str], list[str], bool]]:
    """The rows of the table: (letters, parts, whether the row says that the letter has two meanings)."""
    text = (ROOT / "conventions.md").read_text(encoding="utf-8")
    text = text.split("| letter | part |")[1].split("\n\n")[0]
    order, rows = list(PARTS.values()), []
    form = r"^\| (\$.*?) \| ([IV]+|all|[IV]+ to [IV]+) \| (.*?) \|"
    for letter, part, meaning in re.findall(form, text, re.M):
        first, _, last = ("I to V" if part == "all" else part).partition(" to ")
        parts = order[order.index(first) : order.index(last or first) + 1]
        rows.append((inline(letter), parts, "(two meanings)" in meaning))
    return rows


def local(name: str) -> set[str]:
    """The letters that a page explains in its own list."""
    lists = r"\*\*Notation\.\*\*.*?(?=\n\s*\n|\n:::)(?:\n:class: dropdown\n.*?\n:::)?"
    found = re.findall(lists, "\n\n".join(source(name)), re.S)
    return set().union(*map(inline, found))


def part(name: str) -> str:
    """The part whose letters a chapter uses: its own, or for a further chapter that of its folder."""
    openings = [names for _, names in contents() if kind(names[0]) == "opening"]
    own = [order for order, names in zip(PARTS.values(), openings) if f"chapters/{name}" in names]
    return own[0] if own else PARTS[name.split("/")[0]]


def missing(name: str) -> dict[str, list[str]]:
    """The letters of numbered formulas that neither the table nor the page explains, and where they stand."""
    here = part(name)
    known = local(name).union(*(row for row, parts, _ in table() if here in parts))
    found = {}
    for label, tex in numbered(name):
        for letter in letters(tex) - known:
            found.setdefault(letter, []).append(label)
    return found


def collisions() -> list[tuple[str, str]]:
    """Letters that a part has in two rows, not both marked."""
    cells = [((one, part), two) for row, parts, two in table() for one in row for part in parts]
    count, marked = (
        Counter(key for key, two in cells if not two),
        {key for key, two in cells if two},
    )
    return [key for key, number in count.items() if number > 1 or key in marked]


def main(names):
    for name in names or chapters():
        found = missing(name)
        print(f"{name}: {len(found)}")
        for letter, labels in sorted(found.items()):
            print(f"  {letter:14s} {', '.join(labels)}")
    print("in two rows:", collisions())


if __name__ == "__main__":
    main(sys.argv[1:])
