"""Local Sphinx extension: what a cell prints beside a figure is one fold below the figure.

A number stands once in view. A figure shows its numbers; those that its cell prints, which prove them and the text
(strict nbval compares them), are opened by whoever wants them.
"""

from docutils import nodes


class Numbers(nodes.General, nodes.Element):
    """A fold around what a cell prints."""


def fold(app, doctree):
    for cell in list(doctree.findall(nodes.container)):
        if "cell" not in cell["classes"] or not list(cell.findall(nodes.figure)):
            continue
        for printed in list(cell.findall(nodes.literal_block)):
            if "stream" in printed["classes"]:
                printed.replace_self(Numbers("", printed.deepcopy()))


def visit(self, node):
    self.body.append('<details class="numbers"><summary>The numbers of this figure</summary>')


def depart(self, node):
    self.body.append("</details>")


def nothing(self, node):
    pass


def setup(app):
    other = (nothing, nothing)
    app.add_node(Numbers, html=(visit, depart), latex=other, text=other)
    app.connect("doctree-read", fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
