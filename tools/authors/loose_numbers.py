"""List the numbers in the prose of a page of which nothing says where they come from.

python tools/authors/loose_numbers.py [CHAPTER...]     default: every page that is a notebook

A number with two or more decimals, with a power of ten, or in per cent, an integer from 20 on, a count "k of n" and a
fraction in words ("two thirds", "a third more") must be found near its sentence:

* in a section (a heading of level 2) and its captions: printed by a cell of the section, or written as it is in the
  code of the section. So the numbers that only prove something can be printed by one folded cell at its end;
* in an alternative text, which says what is seen in a picture: printed by the cell that draws it or by a folded one
  right after it, or in the code;
* in an exercise: the section is the exercise with its solution;
* in the opening, the summary, the table of checks and what follows, which speak of the whole page: they may besides
  repeat, digit for digit, what the prose of the sections says, where it is checked. What the page prints is not
  enough: a page prints so many numbers that a wrong one is often among them;
* in any sentence: by the section with a label to which the sentence links, on this page or another.

A printed number has at least the decimals of the prose (a printed 0.5 is no 0.50) and at most two more. With one digit,
as 0.01, it may be a parameter: then it may stand in any code of the page. In per cent it may also stand without (0.12
for 12 %). An integer may stand in any code of the page too, and after "about" its last zeros
are rounded. Of a count, k and n are printed together ("k of n",
"k/n") or, from 20 on, each; a fraction in words is printed to 5 % of itself. Years (1900 to 2099 but 2000), indices and
exponents, numbers of equations alone in brackets, and the minutes of boxes and exercises are not read. Signs are not
read, nor are code, links, and a sentence that cites its source. What is listed is computed
nowhere, or by the reader (a half of something): print it, or allow it, with the reason, in
tests/book/allowed_numbers.yml. The exit status is the number of pages with such a number.
"""

import functools
import json
import pathlib
import re
import sys
from dataclasses import dataclass, field

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from run_notebooks import ROOT, all_chapters, find

ALLOWED = ROOT / "tests" / "book" / "allowed_numbers.yml"
WHOLE_PAGE = {
    "",
    "What is checked, and how well",
    "Summary",
    "Further reading",
    "Next",
}  # "": before the first heading
POWER = r"(?:\s*(?:\\times|\\cdot|×)\s*10\^\{?(-?\d+)\}?|[eE]([-+]?\d+))?"
NUMBER = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?|\.\d+)"
    + POWER
    + r"(?![\w]|\.\d)(\s*\\?%|\s+per\s+cent|\s+in\s+a\s+hundred)?"
)
FROM = 20  # the first integer that must be found
OF = re.compile(r"(?<![\w.])(\d+) (?:of|out of) (?:the |all |its |our |these )?(\d+)(?![\w]|\.\d)")
COUNTS = {
    word: k for k, word in enumerate("one two three four five six seven eight nine".split(), 1)
}
PARTS = {
    word: k
    for k, word in enumerate("third quarter fifth sixth seventh eighth ninth tenth".split(), 3)
}
PARTS |= {"hundredth": 100, "thousandth": 1000}
WORDS = re.compile(
    rf"\b(an?|{'|'.join(COUNTS)})[ -]({'|'.join(PARTS)})(s?)\b"
    r"(?=(?:\s+(more|less|larger|smaller|higher|lower|longer|shorter|above|below|of|as)\b|[.,;:)]|$|s))",
    re.I,
)
FENCE = r"^(`{3,}|~{3,}).*?^\1\s*$"  # code, and the gates of exercises
LINK = r"\{(?:ref|numref|eq|prf:ref)\}`(?:[^`<]*<)?([\w-]+)>?`"
HIDDEN = [r"\*\*Takes\*\*.*", r"\(★+, \d+ min\)", r"cells run in about \d+ s"]  # times
HIDDEN += [r"(?<!\d)\(\d{2,3}\)", r"\([a-z]{2,4}-[\w-]+\)"]  # numbers of equations, labels
HIDDEN += [r"\{[\w:]+\}`[^`]*`", "`[^`]*`", r"\]\([^)]*\)", r"https?://\S+", r"\barXiv:\S+"]
GATE = r"[`:]{3,}\{(?:exercise-start\}.*?:label:|solution-start\})\s*(\S+)"
BEGINS = r"^(?=## |[`:]{3,}\{(?:exercise|solution)-start)"
LABEL = re.compile(r"^\(([\w-]+)\)=$|\$\$ \(([\w-]+)\)|^:(?:label|name):\s*(\S+)", re.M)


@dataclass(frozen=True)
class Number:
    value: float
    decimals: int  # of the last digit: 2 for 0.12, -22 for 5.9e23
    written: str
    telling: bool  # whether it must be found
    digits: int  # significant ones
    percent: bool = False
    kind: str = "decimal"  # or integer, of, words
    parts: tuple = ()  # of a count: k, n; of words: the values that it may mean

    def among(self, found, more=2):
        """Whether one of the (value, decimals) found is this number, written with up to so many decimals more.

        A count is found as ((k, n), None).
        """
        if self.kind == "of":
            whole = {value for value, has in found if has == 0}
            return (self.parts, None) in found or min(self.parts) >= FROM and whole >= {*self.parts}
        if self.kind == "words":
            ratios = {value[0] / value[1] for value, has in found if has is None and value[1]}
            ratios |= {value for value, has in found if has is not None}
            return any(abs(x - part) <= 0.05 * self.value for x in ratios for part in self.parts)
        more = max(more, -self.decimals) if self.kind == "integer" else more
        readings = [(self.value, self.decimals)] + [
            (self.value / 100, self.decimals + 2)
        ] * self.percent
        return any(
            abs(x - value) <= (0.5 + 1e-6) * 10.0**-decimals and decimals <= has <= decimals + more
            for value, decimals in readings
            for x, has in found
            if has is not None
        )


def counts(text):
    """Every count "k of n" of a text."""
    for match in OF.finditer(re.sub(r"\\?\$", "", text)):
        k, n = map(int, match.groups())
        if k <= n:
            yield Number(k / max(n, 1), 0, f"{k} of {n}", True, 2, kind="of", parts=(k, n))


def fractions(text):
    """Every fraction in words; with "more" it may be printed as 1.33 too, with "less" as 0.67."""
    for count, part, many, which in WORDS.findall(text):
        value = COUNTS.get(count.lower(), 1) / PARTS[part.lower()]
        sign = -1 if which in ("less", "smaller", "lower", "shorter", "below") else 1
        means = (value,) if which in ("", "of", "as") else (value, 1 + sign * value)
        said = f"{count} {part}{many}" + f" {which}" * (len(means) > 1)
        yield Number(value, 0, said.lower(), True, 2, kind="words", parts=means)


def numbers(text):
    """Every number of a text, written in digits."""
    text = re.sub(r"(?<=\d)(?:\\,|\{,\}|_|\u2009|\u202f| (?=\d{3}\b))(?=\d)", "", text)  # 10 000
    for match in NUMBER.finditer(text):
        digits, power = match.group(1), int(match.group(2) or match.group(3) or 0)
        decimals = len(digits.partition(".")[2])
        ten, percent = bool(match.group(2) or match.group(3)), bool(match.group(4))
        said = digits + match.group(0)[len(digits) :].rstrip() * ten
        whole = not (decimals or ten or percent)
        year = len(digits) == 4 and digits[:2] in ("19", "20") and digits != "2000"
        raised = re.search(r"[\^_]\{?[-\w(/]*$", text[: match.start()])  # an index or an exponent
        about = whole and re.search(r"\b(about|some|nearly|almost) \$?$", text[: match.start()])
        yield Number(
            float(digits) * 10.0**power,
            len(digits.rstrip("0")) - len(digits) if about else decimals - power,
            said,
            decimals > 1
            or ten
            or percent
            or whole
            and int(digits) >= FROM
            and not (year or raised),
            len(digits.replace(".", "").lstrip("0")),
            percent,
            "integer" if whole else "decimal",
        )


@dataclass
class Section:
    """What stands under a heading of level 2; or an exercise with its solution."""

    title: str
    prose: list = field(
        default_factory=list
    )  # (text, the cell whose picture it describes, or None)
    cells: list = field(default_factory=list)  # what each prints: sets of (value, decimals)
    code: set = field(default_factory=set)
    page: dict = field(
        default_factory=dict
    )  # the same for all sections of a page: what it says, its code

    def numbers(self):
        """(sentence, cell or None, number) of every number in sentences without a citation."""
        for text, cell in self.prose:
            text = re.sub(FENCE, "\n", text, flags=re.S | re.M)
            for paragraph in re.split(r"\n\s*\n|\n(?=[|*])", text):
                for sentence in re.split(
                    r"(?<=[.?!:;*)])\s+(?=[A-Z*{$(\[])", " ".join(paragraph.split())
                ):
                    if "{cite" not in sentence:
                        told = functools.reduce(
                            lambda t, form: re.sub(form, " ", t), HIDDEN, sentence
                        )
                        for kind in (numbers, counts, fractions):
                            for number in kind(told):
                                yield sentence, cell, number

    @functools.cached_property
    def printed(self):
        return set().union(*self.cells)

    def knows(self, sentence, cell, number, labels):
        """Whether a number of one of its sentences, about the picture of a cell or in the prose, is found."""
        if number.among(self.printed if cell is None else self.cells[cell]):
            return True
        anywhere = number.digits == 1 or number.kind == "integer"
        code = self.page["code"] if anywhere else self.code
        if number.kind == "of":
            n = number.parts[1], 0
            if n[0] >= FROM and n in code and number.among(self.printed | {n}):
                return True
        elif any(number.value == value and number.decimals <= has for value, has in code):
            return True
        if self.title in WHOLE_PAGE and cell is None and number.among(self.page["says"], more=0):
            return True
        there = [labels[label] for label in re.findall(LINK, sentence) if label in labels]
        return any(
            number.among(one.printed if one.title else one.page["says"])
            for one in there
            if one is not self
        )


def printed(cell):
    found = set()
    for output in cell["outputs"]:
        texts = ["".join(output.get("text", ""))]
        texts += [
            "".join(value)
            for kind, value in output.get("data", {}).items()
            if kind.startswith("text/")
        ]
        for text in texts:
            loose = re.sub(r"(?<=[\w.])(?<!\de)(?=[-+±(\[])|(?<=\d)(?=x\d)", " ", text)
            loose = re.sub(r"(?<=\d)\.(?!\d)", ".0", loose)
            for n in numbers(re.sub(r"(?<=[a-zA-Z_=(\[{±^/])(?=\d)", " ", loose)):
                found.add((n.value, n.decimals))
                if n.percent:
                    found.add((n.value / 100, n.decimals + 2))
            pairs = re.findall(r"(?<![\w.])(\d+) ?(?:/|of|out of) ?(\d+)(?![\w.])", text)
            found |= {((int(k), int(n)), None) for k, n in pairs}
    return found


def sections(notebook):
    """The sections of a page, and label -> section."""
    page, exercises, labels, waiting = {}, {}, {}, []
    here, drawn = Section("", page=page), False
    every = [here]
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            for part in re.split(BEGINS, "".join(cell["source"]), flags=re.M):
                title, gate = re.match(r"## (.*)", part), re.match(GATE, part, re.S)
                if title:
                    here = Section(title.group(1), page=page)
                elif gate:
                    here = exercises.setdefault(gate.group(1), Section("Exercises", page=page))
                every += [] if any(here is one for one in every) else [here]
                labels |= {label: here for label in waiting}
                labels |= {x: here for found in LABEL.findall(part) for x in found if x}
                waiting = re.findall(
                    r"^\(([\w-]+)\)=\s*\Z", part, re.M
                )  # (label)= before a heading
                here.prose.append((part, None))
        elif cell["cell_type"] == "code":
            words = cell["metadata"].get("mystnb", {})
            figure = words.get("figure", {})
            here.prose += [
                (figure.get("caption", ""), None),
                (words.get("image", {}).get("alt", ""), len(here.cells)),
            ]
            here.cells.append(printed(cell))
            if drawn and "hide-cell" in cell["metadata"].get("tags", []):
                here.cells[-2] |= here.cells[-1]  # the numbers of the picture before it
            here.code |= {
                (n.value, n.decimals) for n in numbers(re.sub(r"#.*", "", "".join(cell["source"])))
            }
            labels[figure.get("name", "")] = here
        drawn = cell["cell_type"] == "code" and "figure" in cell["metadata"].get("mystnb", {})
    page["code"] = set().union(*(one.code for one in every))
    page["says"] = {
        (n.parts, None) if n.kind == "of" else (n.value, n.decimals)
        for one in every
        if one.title not in WHOLE_PAGE | {"Exercises"}
        for _, cell, n in one.numbers()
        if cell is None and n.telling and n.digits > 1
    }
    return every, labels


@functools.cache
def book():
    """Page -> its sections; label -> section, of all pages."""
    pages, labels = {}, {}
    for path in all_chapters():
        if (
            path.stem == "intro"
        ):  # it has no cells: tests/book/test_front.py looks for its numbers in the chapters
            continue
        pages[name(path)], found = sections(json.loads(path.read_text(encoding="utf-8")))
        labels |= found
    return pages, labels


def name(path):
    return path.relative_to(ROOT).with_suffix("").as_posix().removeprefix("chapters/")


def loose(page):
    """(title of the section, sentence, number) of every number of a page that must be found, and is not."""
    pages, labels = book()
    return [
        (section.title or "opening", sentence, number)
        for section in pages[page]
        for sentence, cell, number in section.numbers()
        if number.telling and not section.knows(sentence, cell, number, labels)
    ]


def loose_errata(data):
    """(id of the entry, sentence, number) of every number in the errata that no section prints to which it has a label.

    The labels are the one of the entry, those among its checks, and those its text links to; what the prose of their
    pages says, digit for digit, is found as well, and a parameter of one digit in their code.
    """
    _, labels = book()
    for entry in (entry for section in data["sections"] for entry in section["entries"]):
        fields = [str(entry[key]) for key in ("says", "why", "effect") if key in entry]
        fields += [
            text[6:] for text in [str(entry.get("correct", ""))] if text.startswith("words:")
        ]
        names = [
            entry.get("label"),
            *(entry.get("check", []) if isinstance(entry.get("check"), list) else []),
            *re.findall(LINK, " ".join(fields)),
        ]
        there = [labels[name] for name in names if name in labels]
        for sentence, _, number in Section("", [(text, None) for text in fields]).numbers():
            if (
                number.kind == "decimal"
                and number.telling
                and not any(
                    number.among(one.printed)
                    or number.among(one.page["says"], more=0)
                    or number.digits == 1
                    and number.among(one.page["code"], more=0)
                    for one in there
                )
            ):
                yield str(entry["id"]), sentence, number


def allowed():
    """(page, title of the section, number as written) -> why it may stand."""
    listed = yaml.safe_load(ALLOWED.read_text(encoding="utf-8"))
    return {
        (page, title, number): why
        for page, titles in listed.items()
        for title, numbers in titles.items()
        for number, why in numbers.items()
    }


def main(names):
    count, listed = 0, allowed()
    for page in [name(find(one)) for one in names] or book()[0]:
        found = [one for one in loose(page) if (page, one[0], one[2].written) not in listed]
        count += bool(found)
        print(f"{page}: {len(found)}")
        for title, sentence, number in found:
            at = sentence.find(number.written)
            print(
                f"  {number.written:>14}  {title}: ...{sentence[max(0, at - 60) : at + len(number.written) + 30]}..."
            )
    return count


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
