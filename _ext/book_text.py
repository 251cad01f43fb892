"""Local Sphinx extension: how a line of text is set around formulas and their numbers.

A sign that touches an inline formula stays on its line: a browser may break a line before and after a formula, so that
a comma began the next one. And the number of a formula brings its own brackets: "as before (18.1)", not "((18.1))",
while in plain Jupyter the brackets of the text are the only ones.
"""

import re

from docutils import nodes

HAN = "\u3000-\u9fff\uff00-\uffef"  # lines of Chinese break anywhere, and browsers know where they may not
OPENING = re.compile(rf"[^\s–—/{HAN}-]{{1,12}}$")  # what touches a formula from the left
CLOSING = re.compile(
    rf"[^\s–—/{HAN}-]{{1,12}}[–—/-]?|[–—/-]"
)  # from the right, to where a line may be broken
BETWEEN = re.compile(r"\s*(,|;|and|to|or|,\s*and|–)?\s*")


def keep_together(app, doctree, docname=None):
    """An inline formula and the signs that touch it become one inline element of the class glued."""
    for formula in list(doctree.findall(nodes.math)):
        parent = formula.parent
        if isinstance(parent, nodes.inline) and "glued" in parent["classes"]:
            continue
        at = parent.index(formula)
        before = parent[at - 1] if at else None
        after = parent[at + 1] if at + 1 < len(parent) else None
        left = OPENING.search(before) if isinstance(before, nodes.Text) else None
        right = CLOSING.match(after) if isinstance(after, nodes.Text) else None
        if not (left or right):
            continue
        glued = nodes.inline("", classes=["glued"])
        if right:
            parent.replace(after, nodes.Text(after[right.end() :]))
        if left:
            parent.replace(before, nodes.Text(before[: left.start()]))
        parent.replace(formula, glued)
        glued += [nodes.Text(left[0])] if left else []
        glued += formula
        glued += [nodes.Text(right[0])] if right else []


def number(node) -> bool:
    """Whether a node is a link to a formula: "(18.1)", in brackets of its own."""
    words = node.astext() if isinstance(node, nodes.reference) else ""
    return bool(re.fullmatch(r"\(\d+(\.\d+)*\)", words))


def one_pair_of_brackets(app, doctree, docname=None):
    """Brackets of the text around numbers of formulas and nothing else go."""
    for first in list(doctree.findall(number)):
        parent = first.parent
        if parent is None:
            continue
        at = last = parent.index(first)
        opening = parent[at - 1] if at else ""
        if not (isinstance(opening, nodes.Text) and opening.endswith("(")):
            continue
        while last + 2 < len(parent) and BETWEEN.fullmatch(parent[last + 1].astext()):
            if not number(parent[last + 2]):
                break
            last += 2
        closing = parent[last + 1] if last + 1 < len(parent) else ""
        if isinstance(closing, nodes.Text) and closing.startswith(")"):
            parent.replace(closing, nodes.Text(closing[1:]))
            parent.replace(opening, nodes.Text(opening[:-1]))


def setup(app):
    app.connect("doctree-resolved", one_pair_of_brackets)
    app.connect("doctree-resolved", keep_together)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
