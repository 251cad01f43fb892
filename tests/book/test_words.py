"""Words of the book: Chinese terms and punctuation, names of colours, letters; and what a net is not."""

import json
import re

import letters
import pytest
from kinds import ROOT, chapters, contents

CHAPTERS = chapters()
GLOSSARY = (
    (ROOT / "conventions.md")
    .read_text(encoding="utf-8")
    .split(":::{glossary}\n")[1]
    .split("\n:::")[0]
)
NOT = re.findall(r"\bNot: ([\u4e00-\u9fff、]+)\.", GLOSSARY)


def page(name):
    """The text of a page, of a notebook its text cells and captions."""
    path = ROOT / f"{name}.md"
    if path.exists():
        return path.read_text(encoding="utf-8")
    cells = json.loads((ROOT / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return "\n\n".join(texts + [about for cell in cells for about in said(cell)])


def said(cell):
    """Caption and alternative text of a figure."""
    shown = cell["metadata"].get("mystnb", {})
    return [
        words
        for words in (shown.get("figure", {}).get("caption"), shown.get("image", {}).get("alt"))
        if words
    ]


PAGES = {name: page(name) for _, names in contents() for name in names}


# --- Chinese ---------------------------------------------------------------------------------------------------------


def test_a_chinese_term_has_one_rendering():
    refused = [word for words in NOT for word in words.split("、")]
    assert len(refused) >= 12 and len(refused) == len(set(refused))
    renderings = re.findall(r"^([^\n]*[\u4e00-\u9fff][^\n]*)$(?=\n  )", GLOSSARY, re.M)
    assert not [word for word in refused for rendering in renderings if word in rendering]
    pages = {name: text for name, text in PAGES.items() if name != "conventions"}
    assert not [(name, word) for name, text in pages.items() for word in refused if word in text]


def test_every_term_is_in_the_glossary():
    terms = set(re.findall(r"^(\S[^\n]*)$(?=\n(?:\S[^\n]*\n)?  \S)", GLOSSARY, re.M))
    role = r"\{term\}`([^`<]*?)(?:\s*<([^`>]*)>)?`"
    linked = [
        (name, " ".join((inside or outside).lower().split()))
        for name, text in PAGES.items()
        for outside, inside in re.findall(role, text)
    ]
    assert len(linked) > 200
    assert not [
        (name, term) for name, term in linked if term not in {term.lower() for term in terms}
    ]


def chinese(name):
    """The Chinese of a page without formulas, links and numbers with an error."""
    text = PAGES[name].partition("本章小结\n:class: chinese\n")[2].partition("\n:::")[0]
    text = re.sub(r"\$[^$]+\$|\{[\w:]+\}`([^`<]*)[^`]*`|`[^`]+`|\]\([^)]*\)", r" x\1 ", text)
    return re.sub(r"\d\(\d+\)", "1", text)


@pytest.mark.parametrize("name", CHAPTERS)
def test_chinese_has_chinese_punctuation(name):
    text = chinese(f"chapters/{name}")
    assert len(re.findall(r"[\u4e00-\u9fff]", text)) > 80
    assert not re.findall(
        r".{0,8}(?:[,;:?!](?=\s|$|[\u4e00-\u9fff])|[()]|[\u4e00-\u9fff]\s*\.).{0,8}", text
    )


# --- colours ---------------------------------------------------------------------------------------------------------

MEANING = {
    "black": "exact",
    "blue": "theory",
    "vermilion": "wrong",
    "green": "message",
    "pink": "simulation",
    "orange": "training",
    "sky blue": "sample",
    "grey": "reference",
}
OTHER = r"\b(purple|violet|magenta|gray|(?:light|dark|pale)[ -]blue|scarlet|turquoise)\b"
MAP = r"cmap|RdBu|weight_map|LinearSegmentedColormap"  # signed numbers: red is positive, blue negative


def notebook(name):
    return json.loads((ROOT / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


def test_the_table_of_colours_has_their_names():
    text = PAGES["conventions"]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([a-z ]+) \|", text, re.M))
    assert rows == {key: name for name, key in MEANING.items()}


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_colour_has_one_name(name):
    text = PAGES[f"chapters/{name}"]
    assert not re.findall(OTHER, text, re.I)
    code = "\n".join(
        "".join(cell["source"]) for cell in notebook(name) if cell["cell_type"] == "code"
    )
    for words in filter(None, map(said, notebook(name))):
        about = " ".join(words).lower()
        signed = re.search(MAP, code) and "blue" in about  # from blue through white to red
        assert signed or not re.search(r"\bred\b", about), words
        for colour, key in MEANING.items():
            if re.search(rf"(?<!sky )\b{colour}\b", about) and not (signed and colour == "blue"):
                assert re.search(rf"[\"']{key}[\"']", code), (colour, words[0][:60])


# --- letters ---------------------------------------------------------------------------------------------------------


def test_letters_are_read_from_a_formula_without_indices_words_and_signs():
    tex = r"\frac{\mathrm dq_{ij}}{\hat m^{p-1}}\le\mathcal N\Bigl(\mathbf w_\alpha, \operatorname{tr}\Lambda\Bigr)"
    assert letters.letters(tex) == {"q", "m", r"\mathcal N", "w", r"\Lambda"}


def test_a_letter_has_one_row_in_a_part():
    rows = letters.table()
    assert len(rows) > 60 and not letters.collisions()
    assert {part for _, parts, _ in rows for part in parts} == set(letters.PARTS.values())


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_letter_of_a_numbered_formula_is_explained(name):
    assert letters.numbered(name), "a chapter has numbered formulas"
    assert not letters.missing(name)


# --- people and machines ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_net_is_never_a_reader(name):
    """A reader is a person; a trained net or an estimator is called by its name, also in code."""
    cells = json.loads((ROOT / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert not re.findall(r"\breaders?_?\w*\b", code)
    about = (
        r"(?:trained|softmax|attention|net\w*|layer|optimal|Bayes\w*|best|any|linear)\s+readers?\b"
    )
    assert not re.findall(rf".{{0,30}}\b{about}.{{0,30}}", PAGES[f"chapters/{name}"])
