"""What must be right about a page for people who cannot see it, see little, or have no mouse; by `html.parser`."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "img", "br", "link", "input", "hr"}
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
#: What may stand directly inside.
CHILDREN = {"ul": {"li"}, "ol": {"li"}, "dl": {"dt", "dd"}, "tr": {"th", "td"}, "tbody": {"tr"}, "thead": {"tr"}}
#: All that a report is made of.
TAGS = {
    "a", "article", "b", "body", "caption", "circle", "code", "dd", "desc", "details", "div", "dl", "dt", "figcaption",
    "figure", "footer", "h1", "h2", "h3", "head", "header", "html", "li", "line", "main", "meta", "nav", "ol", "p",
    "polygon", "polyline", "rect", "span", "style", "summary", "svg", "table", "tbody", "td", "text", "th", "thead",
    "title", "tr", "ul",
}  # fmt: skip
#: What makes a browser fetch something.
FETCHING = {"src", "href", "srcset", "action", "data", "poster", "background"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    parent: Element | None = field(repr=False)
    children: list[Element] = field(default_factory=list, repr=False)
    words: str = ""

    @property
    def text(self) -> str:
        return " ".join([self.words, *(child.text for child in self.children)]).strip()

    def all(self, *tags: str) -> list[Element]:
        mine = [self] if self.tag in tags else []
        return [*mine, *(inner for child in self.children for inner in child.all(*tags))]

    def within(self, tag: str) -> bool:
        return self.parent is not None and (self.parent.tag == tag or self.parent.within(tag))


class Tree(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__()
        self.root = self.here = Element("", {}, None)
        self.feed(markup)
        self.close()
        assert self.here is self.root, f"<{self.here.tag}> is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"<{tag}> has an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.children.append(element)
        if tag not in VOID:
            self.here = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.here.tag == tag, f"</{tag}> closes <{self.here.tag}>"
        assert self.here.parent is not None
        self.here = self.here.parent

    def handle_data(self, data: str) -> None:
        self.here.words += data


def check_page(markup: str) -> Element:
    """Check a whole page; return its tree."""
    root = Tree(markup).root
    (page,) = root.all("html")
    assert page.attributes.get("lang")
    assert page.all("title")[0].text
    assert len(page.all("main")) == 1
    zoom = next(m.attributes["content"] for m in page.all("meta") if m.attributes.get("name") == "viewport")
    assert "maximum-scale" not in zoom
    assert "user-scalable" not in zoom
    loose = [e.tag for e in page.all("h1", "p", "table", "svg") if not e.within("main")]
    assert not loose, f"outside of every landmark: {loose}"
    levels = [int(e.tag[1]) for e in page.all(*HEADINGS)]
    assert levels[:1] == [1]
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels
    check_parts(page)
    check_self_contained(page)
    return page


def check_self_contained(page: Element) -> None:
    """Check that a page fetches nothing, and leads only to files that lie beside it."""
    for e in walk(page):
        assert e.tag in TAGS, e.tag
        links = dict(e.attributes)
        if e.tag == "a":
            assert re.fullmatch(r"\./[^/]+\.(csv|json|svg|geojson|html)", links.pop("href")), e
        assert not FETCHING & links.keys(), e
        assert "url(" not in "".join(links.values()), e
        assert all("://" not in value or name == "xmlns" for name, value in links.items()), e
        if e.tag == "style":
            assert not re.search(r"url\(|@import|expression", e.words)


def check_parts(page: Element) -> None:
    """Check the headings, lists, tables and pictures of a page, or of a piece of one."""
    everything = [e for e in walk(page) if e.tag]
    ids = [e.attributes["id"] for e in everything if "id" in e.attributes]
    assert len(set(ids)) == len(ids), "two elements have one id"
    for e in everything:
        assert int(e.attributes.get("tabindex", "0")) == 0, e
        assert not any(name.startswith("on") for name in e.attributes), e
        for name in e.attributes.get("aria-labelledby", "").split():
            assert name in ids, f"nothing has the id {name}"
        odd = {child.tag for child in e.children} - CHILDREN.get(e.tag, {child.tag for child in e.children})
        assert not odd, f"{odd} directly in <{e.tag}>"
        if e.tag in (*HEADINGS, "summary", "caption", "dt", "th", "figcaption"):
            assert e.text, f"an empty <{e.tag}>"
        if e.tag == "dl":
            assert e.children[0].tag == "dt"
        if e.tag == "details":
            assert [child.tag == "summary" for child in e.children] == [True] + [False] * (len(e.children) - 1)
    regions = [e for e in everything if e.attributes.get("role") == "region"]
    named = [e.attributes.get("aria-labelledby") or e.attributes.get("aria-label") for e in regions]
    assert all(named), "a region has no name"
    assert len(set(named)) == len(named), "two regions have one name"
    for table in page.all("table"):
        assert table.children[0].tag == "caption"
        assert table.parent in regions
        assert table.parent.attributes.get("tabindex") == "0", "it does not scroll by keyboard"
        assert all(cell.attributes.get("scope") in ("col", "row") for cell in table.all("th"))
        widths = {len(row.children) for row in table.all("tr")}
        assert len(widths) == 1, f"rows of {widths} cells"
    for picture in page.all("svg"):
        assert picture.attributes.get("role") == "img"
        assert picture.all("title")[0].text


def walk(element: Element) -> list[Element]:
    return [element, *(inner for child in element.children for inner in walk(child))]


def luminance(colour: str) -> float:
    """Return how bright a colour is, as the Web Content Accessibility Guidelines define it.

    >>> luminance("#ffffff"), luminance("black")
    (1.0, 0.0)
    """
    digits = {"white": "ffffff", "black": "000000"}.get(colour, colour.removeprefix("#"))
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def rules(sheet: str) -> list[tuple[str, str, dict[str, str]]]:
    """Return the rules of a style sheet: the media that they are for ("" for all), what they are about, and what."""
    listed, media, at = [], "", 0
    for rule in re.finditer(r"@media([^{]+)\{|([^{}]+)\{([^{}]*)\}|\}", sheet):
        at = rule.end()
        if rule[1] is not None:
            media = rule[1].strip()
        elif rule[2] is None:
            media = ""
        else:
            pairs = (pair.split(":", 1) for pair in rule[3].split(";") if ":" in pair)
            listed.append((media, rule[2].strip(), {key.strip(): value.strip() for key, value in pairs}))
    assert at, "no rule"
    return listed


def check_asks_nobody(page: str) -> None:
    """Check that a page is one file: it loads nothing, and its policy names the digests of its script and its style."""
    assert re.findall(r"https?://", page.replace("http://www.w3.org/2000/svg", "")) == []
    assert re.search(r'(src|href)="(?!#)', page) is None
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    for name in ("script", "style"):
        (part,) = re.findall(rf"<{name}>(.*?)</{name}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy[1]
    assert "default-src 'none'" in policy[1]
