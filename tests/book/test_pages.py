"""What is done to the pages between their source and the reader: boxes, languages, the index of the search, the PDF."""

import importlib.util
import json
import pathlib
import re
import types

import kinds
import pytest
from docutils import nodes

ROOT = pathlib.Path(__file__).parents[2]


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


book_repository, book_meta, book_rails, book_text, book_icons, book_pages = (
    load(ROOT / "_ext" / f"book_{name}.py")
    for name in ("repository", "meta", "rails", "text", "icons", "pages")
)
book_setup, make_pdf = load(ROOT / "_ext" / "book_setup.py"), load(ROOT / "tools" / "make_pdf.py")


def paragraph(text):
    return nodes.paragraph("", "", nodes.Text(text))


def box(title, *classes, text="words"):
    head, body = nodes.title("", "", nodes.Text(title)), paragraph(text)
    return nodes.admonition("", head, body, classes=list(classes))


def test_all_predict_boxes_look_alike_and_others_stay():
    boxes = [
        box("Predict"),
        box("Predict", "tip"),
        box("Predict", "predict"),
        box("Question", "tip"),
        box("Predict", "predict", "answer-2"),
    ]
    book_setup.know_boxes(None, nodes.section("", *boxes))
    assert [b["classes"] for b in boxes[:4]] == [["predict"], ["predict"], ["predict"], ["tip"]]
    assert boxes[4]["classes"] == ["predict", "answer-2"]


def test_the_answers_of_a_predict_box_are_two_or_three_and_come_last():
    """predict.js makes buttons of them; in Jupyter and in print the list stands. A class names the answer."""
    boxes = {}
    for path in sorted((ROOT / "chapters").rglob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            text = "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
            for words in re.findall(r"^:::+\{admonition\} Predict\n(.*?)^:::", text, re.M | re.S):
                boxes.setdefault(path.stem, []).append(words)
    with_answers = [w for words in boxes.values() for w in words if re.search(r"^\* ", w, re.M)]
    assert len(with_answers) >= 30
    for words in with_answers:
        question, *answers = re.split(r"^\* ", words.strip(), flags=re.M)
        assert 2 <= len(answers) <= 3 and question.endswith("\n\n"), words
        assert len({a.strip() for a in answers}) == len(answers), words
        assert all(len(a) < 60 for a in answers), words
        assert set(re.findall(r":class: (.*)", question)[0].split()) - {"predict"} <= {
            f"answer-{k}" for k in range(1, 9)
        }, words


def inline(*parts):
    """A paragraph of text, formulas (in dollars) and links to formulas (in brackets)."""
    made = nodes.paragraph()
    for part in parts:
        if part.startswith("$"):
            made += nodes.math("", part.strip("$"))
        elif re.fullmatch(r"\(\d+\.\d+\)", part):
            made += nodes.reference("", part, refuri="#")
        else:
            made += nodes.Text(part)
    return made


@pytest.mark.parametrize(
    "parts, said",
    [
        (("as before (", "(18.1)", "), we"), "as before (18.1), we"),
        (("as (", "(18.1)", ", ", "(2.3)", ")."), "as (18.1), (2.3)."),
        (("as (", "(18.1)", " and ", "(2.3)", ")."), "as (18.1) and (2.3)."),
        (("(by ", "(18.1)", ")"), "(by (18.1))"),
        (("(", "(18.1)", ", whose proof is short)"), "((18.1), whose proof is short)"),
        (("f(", "$x$", ") is ", "(18.1)", "."), "f(x) is (18.1)."),
    ],
)
def test_the_number_of_a_formula_has_one_pair_of_brackets(parts, said):
    line = inline(*parts)
    book_text.one_pair_of_brackets(None, nodes.section("", line))
    assert line.astext() == said


def test_signs_that_touch_a_formula_stay_on_its_line():
    line = inline(
        "Let (", "$a$", "), ", "$p$", "-spin, a non-", "$n$", " and ", "$q$", "th; ", "$r$"
    )
    before = line.astext()
    for _ in range(2):  # a second time changes nothing
        book_text.keep_together(None, nodes.section("", line))
    assert line.astext() == before
    glued = [part.astext() for part in line if isinstance(part, nodes.inline)]
    assert glued == ["(a),", "p-", "qth;"]


def test_the_line_under_a_title_is_known_by_its_words():
    lines = [paragraph("Needs nothing. Takes 9 min to read"), paragraph("Needs must. Takes two.")]
    other = paragraph("Nobody needs it. It Takes time.")
    book_setup.know_boxes(None, nodes.section("", other, *lines))
    assert [line["classes"] for line in (other, *lines)] == [[], ["needs"], []]


def test_the_rails_lead_through_all_stations_of_the_short_book():
    """From the first station by its bar to the last, and back; each is a chapter of the spine, in reading order."""
    stations = kinds.short_book()
    walked = [stations[0]]
    while len(links := [part for part in book_rails.bar(stations, walked[-1]) if part[0] == ""]):
        onward = [label for _, label in links if label not in walked]
        if not onward:
            break
        walked += onward
    assert walked == stations and len(stations) == 14
    assert [label for label in kinds.spine() if label in stations] == stations


def test_chinese_says_that_it_is_chinese():
    summary = box("本章小结", "chinese", text="复本方法 (replica) 与空腔方法")
    plain = paragraph("A spin glass, 自旋玻璃, freezes.")
    term = nodes.term("", "", nodes.Text("自旋玻璃"))
    book_setup.know_boxes(None, nodes.section("", summary, plain, term))
    assert "language-zh" in summary["classes"] and not list(summary.findall(nodes.inline))
    assert "language-zh" in term["classes"]
    parts = [(type(part).__name__, part.astext()) for part in plain]
    assert parts == [("Text", "A spin glass, "), ("inline", "自旋玻璃"), ("Text", ", freezes.")]


def test_a_long_text_of_two_languages_is_parted_at_once():
    """The build once hung on such a text: two ways to match a sign are 2^k ways to match k of them."""
    text = "自旋玻璃，平均场；" * 50 + "spin glass"
    assert book_setup.CHINESE.fullmatch(text) is None
    assert [part.astext() for part in book_setup.in_languages(text)] == [
        "自旋玻璃，平均场；" * 50,
        "spin glass",
    ]


def test_parts_are_numbered_in_their_order():
    """Part 2 was read before part 1, and a set has no order; the further chapters come last, as in the contents."""
    env = types.SimpleNamespace(
        config=types.SimpleNamespace(root_doc="intro"),
        toctree_includes={"intro": ["part_1", "part_2", "further"]},
        tocs={"part_2": 2, "further": 3, "part_1": 1},
        numbered_toctrees={"further", "part_1", "part_2"},
    )
    book_setup.order_parts(None, env)
    assert list(env.tocs.items()) == [("part_1", 1), ("part_2", 2), ("further", 3)]
    assert list(env.numbered_toctrees) == ["part_1", "part_2", "further"]
    book_setup.unorder_parts(None, env)
    assert env.numbered_toctrees == {"further", "part_1", "part_2"}


@pytest.mark.parametrize("address", ["", "https://example.org/a/book"])
def test_a_downloaded_notebook_says_how_to_run_it_once(tmp_path, monkeypatch, address):
    monkeypatch.setenv("REPOSITORY_COMMIT", "abc123")
    (tmp_path / "_sources").mkdir()
    copy = tmp_path / "_sources" / "x.ipynb"
    copy.write_text(
        json.dumps(
            {"cells": [{"id": "a", "cell_type": "markdown", "metadata": {}, "source": "# T"}]}
        )
    )
    options = {"repository_url": address}
    app = types.SimpleNamespace(
        builder=types.SimpleNamespace(format="html"),
        outdir=tmp_path,
        config=types.SimpleNamespace(html_theme_options=options),
    )
    for _ in range(2):
        book_setup.say_how_to_run(app, None)
    first, *installs, last = json.loads(copy.read_text())["cells"]
    assert "spinlib" in first["source"] and address in first["source"] and last["id"] == "a"
    assert [cell["cell_type"] for cell in installs] == ["code"] * bool(address)
    for cell in installs:
        assert f'"spinlib[all] @ git+{address}@abc123"' in cell["source"]
        plain = cell["source"].replace("%pip", "pass  #")
        compile(plain, "cell", "exec")


def test_there_is_one_instruction_for_a_downloaded_notebook():
    """In the README, in the cell that the download begins with, and in the first code cell of every chapter."""
    assert f"`{book_setup.INSTALL}`" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"`{book_setup.INSTALL}`" in book_setup.HOW_TO_RUN
    said = []
    for path in sorted((ROOT / "chapters").rglob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        first = next("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        said.append(f"# needs spinlib: in a clone of the book, {book_setup.INSTALL}\n" in first)
    assert all(said) and len(said) > 40


def theme_options(monkeypatch, address):
    monkeypatch.setenv("REPOSITORY_URL", address)
    config = types.SimpleNamespace(html_theme_options={"repository_branch": "main"})
    book_repository.buttons(None, config)
    return config.html_theme_options


def test_colab_and_binder_have_buttons_once_there_is_an_address(monkeypatch):
    assert theme_options(monkeypatch, "")["launch_buttons"] == {}
    assert {"binderhub_url", "colab_url"} <= set(
        theme_options(monkeypatch, "https://github.com/a/b")["launch_buttons"]
    )
    assert (ROOT / ".binder" / "postBuild").stat().st_mode & 0o111  # Binder runs it


def test_colab_opens_the_branch_whose_notebooks_bring_the_package(monkeypatch):
    options = theme_options(monkeypatch, "https://github.com/a/b")
    app = types.SimpleNamespace(config=types.SimpleNamespace(html_theme_options=options))
    colab = {
        "text": "Colab",
        "url": "https://colab.research.google.com/github/a/b/blob/main/x.ipynb",
    }
    binder = {
        "text": "Binder",
        "url": "https://mybinder.org/v2/gh/a/b/main?urlpath=lab/tree/x.ipynb",
    }
    context = {"header_buttons": [{"buttons": [binder, colab]}, {"type": "link"}]}
    book_repository.to_the_branch(app, "x", "page.html", context, None)
    assert colab["url"].endswith("/a/b/blob/notebooks/x.ipynb") and "/main?" in binder["url"]
    publish = (ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8")
    assert f"--initial-branch {book_repository.NOTEBOOKS}" in publish


def test_binder_has_what_the_pages_need():
    """The names of the extra "all" of pyproject.toml, pinned by constraints.txt."""
    asked = (ROOT / ".binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    names = {line for line in asked if re.fullmatch(r"[a-z-]+", line)}
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lines = re.findall(r"^(?:dependencies|plot|torch|sympy|all) = .*", project, re.M)
    needed = set(re.findall(r'"([a-z-]+)>=', " ".join(lines)))
    assert len(needed) > 6 and needed <= names
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pinned = {re.sub("_", "-", name) for name in re.findall(r"^([A-Za-z0-9_-]+)==", pins, re.M)}
    assert names <= {name.lower() for name in pinned} and "-c ../constraints.txt" in asked


def test_previews_have_figures_and_the_first_words_of_sections(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.html").write_text(
        '<span id="ch-one"></span><h1>1. One<a class="headerlink" href="#">#</a></h1>\n'
        '<p class="needs">Needs nothing.</p>\n<p>First <a href="#x">words</a>.</p><p>More.</p>'
        '<figure class="align-default" id="fig-f">\n<img alt="A dot." src="../_images/f.png" />'
        "<figcaption><p>Caption.</p></figcaption></figure>"
        '<a class="reference internal" href="#fig-f">Fig. 1</a>'
    )
    (tmp_path / "two.html").write_text(
        '<a class="reference internal" href="a/one.html#ch-one">One</a>'
    )
    found = load(ROOT / "_ext" / "book_previews.py").previews(tmp_path)
    assert found["a/one.html#ch-one"] == "<p><b>1. One</b></p>  <p>First words.</p>"
    assert 'src="{root}_images/f.png"' in found["a/one.html#fig-f"]
    assert "Caption." in found["a/one.html#fig-f"] and len(found) == 2


def test_the_search_index_has_sections_terms_and_exercises_with_all_their_names(tmp_path):
    """And no code, no TeX and no answer."""
    (tmp_path / "chapters" / "reference").mkdir(parents=True)
    one = r"""<section id="one"><span id="ch-one"></span><h1>1. One</h1>
        <p>At <span class="math">\(T\le\frac12\beta\)</span>.</p><div class="math">\[x\]</div>
        <div class="highlight"><pre>code</pre></div>
        <section id="two"><span id="sec-two"></span><h2>1.1. Two<a class="headerlink">#</a></h2><p>Spins.</p>
        <div class="exercise" id="ex-a"><p class="admonition-title"><span class="caption-number">Exercise 1.1</span>
        (Ask (★, 9 min))</p><p>Show it.</p></div><div class="solution"><p>Shown.</p></div></section></section>"""
    terms = """<section id="terms"><h1>Terms</h1><dl class="glossary"><dt id="term-spin">spin</dt>
        <dt id="term-1">自旋</dt><dd><p>An arrow. Also called: moment.</p></dd></dl></section>"""
    subjects = """<li><a href="../../terms.html#term-spin">spin</a> (自旋): <strong><a
        href="../../one.html#sec-two">1.1</a></strong></li>
        <li><strong>arrow</strong>: see <a href="../../terms.html#term-spin">spin</a></li>"""
    bar = """<nav class="bd-links"><a href="#">Book</a><a href="one.html">1. One: aging</a>
        <a href="terms.html">Terms</a></nav><section id="book"><h1>Book</h1></section>"""
    bodies = {"intro": bar, "one": one, "terms": terms, "chapters/reference/index": subjects}
    for name, body in bodies.items():
        text = f'<article class="bd-article">{body}</article>'
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
    found = load(ROOT / "_ext" / "book_search.py").index(tmp_path)
    assert found["pages"][1] == ("one.html", "1. One: aging")
    assert found["entries"] == [
        [0, "book", "Book", [], ""],
        [1, "ch-one", "1. One: aging", ["One", "aging"], "At T≤1/2β."],
        [1, "sec-two", "1.1. Two", ["spin", "自旋", "arrow"], "Spins."],
        [1, "ex-a", "Exercise: Ask", ["Exercise", "Ask"], "Show it."],
        [2, "terms", "Terms", [], ""],
        [2, "term-spin", "spin", ["自旋", "arrow", "moment"], "An arrow. Also called: moment."],
    ]


def test_the_excerpt_of_an_icon_sheet_has_what_the_pages_use():
    sheet = (
        ':host,:root{--fa:"x"}.fa,.fa-solid{font-weight:900}.fa-beat{animation-name:a}'
        "@keyframes a{0%{top:0}to{top:1px}}@font-face{font-family:F;src:url(a)}"
        '.fa-sun:before{content:"\\f185"}.fa-moon:before{content:"\\f186"}'
    )
    kept = book_icons.used_rules(sheet, {"fa-solid", "fa-sun"})
    assert ":root" in kept and "900" in kept and "f185" in kept
    assert not re.search("f186|animation|@", kept)
    assert book_icons.signs(kept + '.x{--icon: "\uf303"}.y::after{content: "\\3f"}') == {
        0xF185,
        0xF303,
        0x3F,
    }


def test_a_page_is_mended_and_says_which_rows_did_it():
    used = set()
    text = (
        "<title>A book &#8212; A book</title>"
        '<script src="_static/vendor/fontawesome/6.5.2/js/all.min.js?digest=a"></script>'
        '<link href="../_static/vendor/fontawesome/6.5.2/css/all.min.css?digest=a" rel="stylesheet" />'
        '<meta name="viewport" content="width=device-width, initial-scale=1.0" />'
        '<meta name="viewport" content="width=device-width, initial-scale=1" />'
    )
    better = book_pages.mended(text, used)
    assert better == (
        "<title>A book</title>"
        '<link href="../_static/icons.css" rel="stylesheet" />'
        '<meta name="viewport" content="width=device-width, initial-scale=1.0" />'
    )
    assert len(used) == 4 and book_pages.mended(better, used) == better
    chapter = "<title>1. A glass &#8212; A book</title>"
    assert book_pages.mended(chapter, used) == chapter
    assert (
        book_pages.CHATTER.sub("void 0", "console.log(\n `a ${b}`);console.log(c)")
        == "void 0;console.log(c)"
    )


def built(tmp_path, address):
    """What stands beside two pages of a book without and with an address."""
    app = types.SimpleNamespace(
        builder=types.SimpleNamespace(format="html"),
        outdir=tmp_path,
        env=types.SimpleNamespace(found_docs={"intro", "a/b"}),
        config=types.SimpleNamespace(html_baseurl=address, root_doc="intro"),
    )
    (tmp_path / "intro.html").write_text("<title>The book</title>")
    (tmp_path / "404.html").write_text("<head><title>None</title></head>")
    for _ in range(2):
        book_meta.beside_the_pages(app, None)
    return {path.name: path.read_text() for path in tmp_path.iterdir()}


def test_the_root_of_the_site_is_the_front_page_and_robots_find_the_others(tmp_path):
    found = built(tmp_path, "")
    assert found["index.html"] == found["intro.html"] and "sitemap.xml" not in found
    assert "Sitemap" not in found["robots.txt"] and "<base" not in found["404.html"]
    found = built(tmp_path, "https://example.org/book/")
    places = re.findall("<loc>(.*?)</loc>", found["sitemap.xml"])
    assert places == ["https://example.org/book/a/b.html", "https://example.org/book/"]
    assert "Sitemap: https://example.org/book/sitemap.xml" in found["robots.txt"]
    assert found["404.html"].count('<base href="https://example.org/book/">') == 1


def test_the_pdf_has_every_page_in_the_order_of_the_contents():
    names = [name for _, part in make_pdf.contents() for name in part]
    files = re.findall(r"^root: (\S+)|- file: (\S+)", (ROOT / "_toc.yml").read_text(), re.M)
    assert names == [root or file for root, file in files]


def test_links_inside_the_pdf_stay_inside(tmp_path):
    (tmp_path / "a.html").write_text(
        '<article class="bd-article"><h1 id="t">T<a class="headerlink" href="#t">#</a></h1>'
        '<a href="b.html#u">b</a><a href="#t">t</a><a href="_modules/x.html">code</a>'
        '<a href="https://doi.org/1">doi</a>'
        '<details><p>in</p></details><details class="hide">draws</details></article>'
    )
    page = make_pdf.article(tmp_path, "a", {"a", "b"})
    assert [link.get("href") for link in page.select("a")] == [
        "#b-u",
        "#a-t",
        None,
        "https://doi.org/1",
    ]
    assert page.details.has_attr("open") and page.h1["id"] == "a-t"
    assert "draws" not in page.text and "Solutions" not in page.text


def test_in_the_pdf_solutions_follow_the_chapter_and_say_whose_they_are(tmp_path):
    exercise = (
        '<div class="exercise"><p class="admonition-title"><span class="caption-number">Exercise {0} </span>'
        "</p></div>"
    )
    solution = '<div class="solution" id="s{0}"><p class="admonition-title">Solution</p></div>'
    (tmp_path / "a.html").write_text(
        '<article class="bd-article"><h1>T</h1>'
        + "".join((exercise + solution).format(k) for k in (1, 2))
        + "<p>end</p></article>"
    )
    page = make_pdf.article(tmp_path, "a", {"a"})
    assert page.get_text(" ", strip=True).split("end")[1].split() == (
        "Solutions Solution of Exercise 1 Solution of Exercise 2".split()
    )
    assert [node["id"] for node in page.select(".solution")] == ["a-s1", "a-s2"]


def test_a_pdf_of_a_part_has_its_opening_and_its_chapters():
    [(caption, names)] = make_pdf.chosen("part_3", ROOT)
    assert (
        caption == ""
        and names[0] == "chapters/part_3"
        and "chapters/mapping/message_passing" in names
    )
    assert make_pdf.chosen("", ROOT) == make_pdf.contents()
    with pytest.raises(SystemExit, match="no part three; take one of part_1, part_2"):
        make_pdf.chosen("three", ROOT)


def test_the_pdf_of_the_short_book_has_its_stations_and_what_they_lead_to(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "short_book.html").write_text(
        '<article><p><a class="internal" href="part_1.html">no</a></p><ol>'
        '<li><a class="internal" href="pspin/b.html#ch-b">B</a></li>'
        '<li><a class="internal" href="mapping/a.html#ch-a">A</a></li></ol></article>'
    )
    assert make_pdf.chosen("short_book", tmp_path) == [
        (
            "",
            [
                "chapters/short_book",
                "chapters/pspin/b",
                "chapters/mapping/a",
                "conventions",
                "chapters/reference/bibliography",
            ],
        )
    ]


def test_a_link_of_the_pdf_to_another_chapter_has_its_page():
    text = (
        '<article><h2><a href="#b-h">h</a></h2><p><a href="#b-u">b</a>, <a href="#a-t">here</a>, '
        '<a href="#conventions-term-overlap">word</a>, <a href="#c-x">unknown</a></p></article>'
    )
    for pages, wanted in ({}, 2), ({"b-u": 12, "b-h": 3, "a-t": 1}, 1):
        body = make_pdf.BeautifulSoup(text, "html.parser").article
        make_pdf.tell_pages(body, "a", pages)
        assert len(body.select(".at")) == wanted
    assert body.p.get_text() == "b (p. 12), here, word, unknown"


def test_the_contents_of_the_pdf_name_what_is_of_the_chapter_and_its_page(tmp_path):
    (tmp_path / "intro.html").write_text(
        "<head></head><article class='bd-article'><h1>Title</h1></article>"
    )
    (tmp_path / "a.html").write_text(
        '<article class="bd-article"><section id="t"><h1>T</h1>'
        + "".join(
            f'<section id="s{k}"><h2>1.{k}. {name}<a class="headerlink" href="#">#</a></h2></section>'
            for k, name in enumerate(
                (
                    "Why",
                    "Exercises",
                    "What is checked, and how well",
                    "Summary",
                    "Further reading",
                    "Next",
                )
            )
        )
    )
    text = make_pdf.combine(tmp_path, [("Caption", ["a"]), ("", ["intro"])], {"a-s1": 17})
    lines = make_pdf.BeautifulSoup(text, "html.parser").select(".contents p")
    assert [line.get_text() for line in lines] == [
        "Caption",
        "T",
        "1.0. Why",
        "1.1. Exercises17",
        "Title",
    ]
    assert [line.a and line.a["href"] for line in lines] == [
        None,
        "#a-t",
        "#a-s0",
        "#a-s1",
        "#intro",
    ]


def test_without_a_browser_or_a_book_the_pdf_is_refused_in_words(tmp_path, monkeypatch):
    monkeypatch.setenv("CHROMIUM", "no-such-browser")
    with pytest.raises(SystemExit, match="no no-such-browser here to print with"):
        make_pdf.main("", tmp_path)
    monkeypatch.setenv("CHROMIUM", "true")  # something that exists
    with pytest.raises(SystemExit, match="run `make book` first"):
        make_pdf.main("", tmp_path)


@pytest.mark.parametrize(
    "address, said", [("https://example.org/book", "example.org/book"), ("", "")]
)
def test_the_front_page_says_the_address_once_there_is_one(address, said):
    config = types.SimpleNamespace(html_theme_options={"repository_url": address})
    place = nodes.container(classes=["book-address"])
    book_repository.say_address(types.SimpleNamespace(config=config), nodes.section("", place))
    assert said in place.astext() and bool(address) == bool(place.children)
    assert [link["refuri"] for link in place.findall(nodes.reference)] == [address] * bool(address)


# --- the general index -----------------------------------------------------------------------------------------------


def test_the_index_finds_the_section_that_says_most():
    import subjects

    parts = [
        ("a/one", "sec-one", "Overlaps", "An overlap."),
        ("a/one", "sec-two", "Else", "overlap overlap"),
        ("b/two", "ch-two", "", "One overlap."),
    ]
    assert subjects.places(r"\boverlap", parts) == ["sec-one"]  # in a heading; once is not much
    assert subjects.places("else", parts) == ["sec-two"] and subjects.places("nothing", parts) == []


@pytest.mark.slow
def test_the_index_has_terms_subjects_people_and_other_names():
    import subjects

    known, text = subjects.entries(), subjects.index()
    assert not [
        name for name, about in known.items() if "see" in about and about["see"] not in known
    ]
    lines = re.findall(r"^\* (?:\{term\}`|\*\*)(.+?)(?:`|\*\*)", text, re.M)
    assert lines == sorted(lines, key=subjects.key) and len(lines) == len(set(lines)) > 150
    assert {"1RSB", "GAMP", "Gardner transition", "beta", "Onsager, Lars"} <= set(lines)
    assert set(subjects.glossary()) <= set(lines)
    targets = re.findall(r"numref\}`%s <(.+?)>`", text)
    labels = {label for _, label, _, _ in subjects.sections()}
    assert len(targets) > 300 and set(targets) <= labels
    assert text.count(": in the glossary") < 0.15 * len(subjects.glossary())
    assert all(
        re.search(rf"^## {letter}\n\n\* ", text, re.M)
        for letter in re.findall(r"^## (\S+)$", text, re.M)
    )


@pytest.mark.slow
def test_an_entry_of_the_index_begins_with_the_section_that_defines_it():
    import subjects

    known, parts, said = subjects.entries(), subjects.sections(), {}
    for _, label, _, words in parts:
        said[label] = said.get(label, "") + words
    for name, about in known.items():
        if "see" in about or not (found := subjects.places(about["words"], parts)):
            continue
        line = subjects.line(name, about, parts, known)
        if "defined" in about:
            assert (
                re.findall(r"numref\}`%s <(.+?)>`", line)[0] == about["defined"]
                and "**{numref}" in line
            )
            told = re.search(about["words"], said[about["defined"]], re.I)
            assert told, f"{name}: {about['defined']} does not say it"
        else:
            assert name in subjects.declared()["people"], (
                f"{name}: which section defines it, of {found}?"
            )


def meta(address, *children, here="a"):
    config = types.SimpleNamespace(html_title="The Book", html_baseurl=address, root_doc="intro")
    context = {
        "title": "A <em>glass</em> &amp; more",
        "metatags": "",
        "pageurl": address + "a.html",
    }
    book_meta.add(
        types.SimpleNamespace(config=config),
        here,
        "page.html",
        context,
        nodes.section("", *children),
    )
    return dict(re.findall(r'(?:name|property)="([^"]*)" content="([^"]*)"', context["metatags"]))


def test_a_page_says_what_it_teaches_to_who_links_to_it():
    long = "You will be able to " + "solve glasses, " * 20
    found = meta(
        "https://example.org/",
        paragraph("too short"),
        paragraph("Needs something or other. Takes 40 min to read, 2 h with the exercises."),
        paragraph(long),
        paragraph("later " * 9),
    )
    assert found["description"] == found["og:description"]
    assert found["description"].startswith("You will be able to solve")
    assert found["description"].endswith("solve glasses.")
    assert len(found["description"]) <= book_meta.LENGTH + 1
    assert (
        found["og:title"] == "A glass &amp; more"
        and found["og:url"] == "https://example.org/a.html"
    )
    assert (ROOT / found["og:image"].removeprefix("https://example.org/")).is_file() and found[
        "twitter:card"
    ]


def test_without_a_box_the_first_paragraph_and_without_an_address_none_is_claimed():
    found = meta(
        "", paragraph("short"), paragraph('A "page" of forty signs, and a few more of them.')
    )
    assert found["description"] == "A &quot;page&quot; of forty signs, and a few more of them."
    assert "og:url" not in found
    assert "description" not in meta("")
    claim = meta("", paragraph("A subtitle that has more than forty signs in it."), here="intro")
    assert "energy of a spin glass" in claim["description"] and len(claim["description"]) <= 200
