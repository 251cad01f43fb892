"""Phrases that recurred in this book and are not English: what is gone stays gone.

Each pattern has beside it what to write instead. They are phrases, not words: a word like share or stand has its uses.
"""

import ast
import importlib
import inspect
import json
import re

import pytest
from kinds import ROOT

from faces import FACES

PHRASES = {
    r"\bwho(?:ever)? (?:has|have) not (?:read|seen)\b[^.]*\bmay\b": "if you have not read",
    r"(?:^|[.;:]\s+)Who (?:knows|wants|has|counts|reads|needs)\b[^?]*\.": "a reader who, if you",
    r"\bwhoever\b": "a reader who, anyone who, counting",
    r"\bderivatives? by (?:\$|the\b|[a-z]\b)": "derivative with respect to",
    r"\bnormal numbers?\b": "standard normal variables",
    r"\bfor whole \$?[a-zA-Z]\b": "for integer n",
    r"\b(?:held|hold|holds|holding) against\b": "compared with",
    r"\bcannot be held\b": "is unstable",
    r"\bcopies (?:of (?:it|an iteration) )?part\b": "two runs drift apart",
    r"\bis no (?:identity|theorem|proof|matter|accident|bound|law)\b": "is not an identity",
    r"\bin the place of\b": "instead of",
    r"\bfrom (?:how many \w+|\$[^$]+\$|[\d .,]+\w*(?: \w+)?) on(?=[,.;:)]| and | both | it | is )": "for N >= D",
    r"\bsome per cent\b": "a few per cent",
    r"\d\s*per cent\b": "% with figures",
    r"\bequally long as\b": "as long as",
    r"\bwhy so \w+ \w+\?": "why do the numbers differ so much",
    r"\b(?:the )?number of Euler\b": "Euler's number",
    r"\bby lot\b|\bover the lots\b": "at random; over the draws",
    r"\bthe (?:chapters?|pages?|sections?) before\b(?! (?:the|it|that|this|last|\{|\$))": "the preceding one",
    r"\bin the head\b": "in one's head",
    r"\bin the cold\b": "at low temperature",
    r"\bno matter of\b": "not a question of",
    r"\bshall (?:answer|learn|be|have|find|say|give)\b": "let two students answer",
    r"\bcould have done without\b": "could have managed without",
    r"\bas many uniform\b": "the same number of uniform",
    r"\bwhich says (?:the|how)\b": "which gives",
    r"\bcomes? to rest\b|\bcame to rest\b": "converges",
    r"\brows? of (?:the )?labels?\b|\blabel spins\b|\brow that reads the labels\b": "label row",
    r"\be_\{?\\?(?:mathrm|text|rm)?\s*\{?ground\b": "e_gs",
    r"\bknows? nothing of\b|\bknows? of the data\b": "depends on",
    r"\bhas no word (?:on|for)\b": "says nothing about",
    r"\bkept back\b|\bkeeps? back\b": "held out",
    r"\bfor ever\b": "always, permanently, at any length",
    r"\bas good as nothing\b": "almost nothing",
    r"\bthe half of\b": "half of",
    r"\bso to say\b": "so to speak",
    r"\bthat (?:much|many) (?:the )?more\b": "as many more",
}
# page, phrase as it is written, and why it may stand
ALLOWED = {
    "README.md": {"e_ground": "an attribute of PSpin"},
    "chapters/pspin/one_step_rsb.ipynb": {"e_ground": "as spinlib prints it"},
}


def strings(code):
    """What a cell prints, draws or says: its string constants of at least two words."""
    try:
        tree = ast.parse(re.sub(r"^[%!].*$", "", code, flags=re.M))
    except SyntaxError:
        return []
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
    ]


def prose(path):
    """What a reader reads of a page: text, captions, alternative texts, strings that cells print or draw."""
    if path.suffix != ".ipynb":
        return path.read_text(encoding="utf-8")
    texts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source, shown = "".join(cell["source"]), cell["metadata"].get("mystnb", {})
        texts += [source] if cell["cell_type"] == "markdown" else strings(source)
        texts += [shown.get("figure", {}).get("caption"), shown.get("image", {}).get("alt")]
    return "\n\n".join(filter(None, texts))


def found(text):
    """Phrases of the table in a text, each with what to write."""
    text = re.sub(r"[ \t]*\n(?!\n)", " ", text)
    return [
        (match[0][:80], better)
        for pattern, better in PHRASES.items()
        for match in re.finditer(pattern, text, re.I if pattern[0] == "\\" else 0)
    ]


PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in (".", "chapters", "course")
    for path in (ROOT / folder).glob("**/*" if folder != "." else "*")
    if path.suffix in {".md", ".ipynb"}
    and "_build" not in path.parts
    and path.name != "CHANGELOG.md"
    and ".venv" not in path.parts
)


def test_the_phrases_are_found():
    bad = "Who has not read it may go on. The derivative by $q$ is held against the law, from $N=D$ on."
    assert len(found(bad)) >= 3
    assert not found("The derivative with respect to $q$ agrees with the law for $N\\ge D$.")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_phrase_that_is_not_english(page):
    allowed = ALLOWED.get(page, {})
    assert not [hit for hit in found(prose(ROOT / page)) if hit[0] not in allowed]


def test_docstrings_have_none():
    texts = {
        f"{module}.{name}": inspect.getdoc(getattr(importlib.import_module(module), name)) or ""
        for module, names in FACES.items()
        for name in names.split()
    }
    assert len(texts) > 100 and sum(map(bool, texts.values())) > 100
    texts = {name: text.replace("e_ground", "") for name, text in texts.items()}  # an attribute
    assert not {name: hits for name, text in texts.items() if (hits := found(text))}
