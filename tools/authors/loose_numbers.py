"""List the numbers in a chapter's prose that no cell of the chapter prints or contains.

python tools/authors/loose_numbers.py [CHAPTER...]     default: every chapter, and the front page

A number with two or more decimals (or with a power of ten) must be, rounded, in a stored output or in the code of its
chapter, as it stands, as a percentage, or without its sign; in a paragraph that cites its source it may be anything.
Display formulas, code and links are not read. What is listed is either computed nowhere, or computed by the reader
(a half of something, a difference): the author decides. The exit status is the number of chapters with such a number.
"""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from run_notebooks import ROOT, all_chapters, find

POWER = r"(?:\s*(?:\\times|\\cdot|×)\s*10\^\{?(-?\d+)\}?|[eE](-?\d+))?"
NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)" + POWER + r"(?![\w]|\.\d)")
SKIPPED = [r"^(`{3,}|~{3,}).*?^\1\s*$",           # fenced code and gated directives
           r"\$\$.*?\$\$(?: \([\w-]+\))?",        # display formulas and their labels
           r"\{[\w:]+\}`[^`]*`", r"`[^`]*`",      # roles and code
           r"\]\([^)]*\)", r"https?://\S+", r"\barXiv:\S+"]


def numbers(text):
    """(value, half a unit of the last digit, as written) of every number in a text."""
    for match in NUMBER.finditer(text):
        digits, power = match.group(1), int(match.group(2) or match.group(3) or 0)
        decimals = len(digits.partition(".")[2])
        yield float(digits) * 10.0**power, 0.5 * 10.0 ** (power - decimals), match.group(0)


def known(notebook):
    """Every number that a cell prints or contains."""
    found = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            texts = ["".join(cell["source"])]
            for output in cell["outputs"]:
                texts.append("".join(output.get("text", "")))
                texts += ["".join(value) for kind, value in output.get("data", {}).items() if kind.startswith("text/")]
            for text in texts:
                loose = re.sub(r"(?<=\d)_(?=\d)", "", text)                      # 10_000
                found += [float(n) for n in re.findall(r"\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+", loose)]
                found += [value for value, _, _ in numbers(loose)]
    return sorted({scale * value for value in found for scale in (1, 100)})


def loose(path):
    """(paragraph, number as written) of every number that stands in prose only."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    values, found = known(notebook), []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        text = "".join(cell["source"])
        for form in SKIPPED[:2]:
            text = re.sub(form, "\n", text, flags=re.S | re.M)
        for paragraph in re.split(r"\n\s*\n", text):
            if "{cite" in paragraph:
                continue
            plain = paragraph
            for form in SKIPPED[2:]:
                plain = re.sub(form, " ", plain)
            for value, half, written in numbers(plain):
                telling = re.match(r"\d+\.\d\d", written) or re.search(r"10\^|[eE]", written)
                if telling and not any(abs(value - one) <= half * (1 + 1e-9) for one in values):
                    found.append((" ".join(paragraph.split()), written))
    return found


def main(names):
    chapters = 0
    for path in [find(name) for name in names] or all_chapters():
        found = loose(path)
        chapters += bool(found)
        print(f"{path.relative_to(ROOT)}: {len(found)}")
        for paragraph, written in found:
            at = paragraph.find(written)
            print(f"  {written:>14}  ...{paragraph[max(0, at - 50):at + len(written) + 30]}...")
    return chapters


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
