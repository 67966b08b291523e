"""What stands on the small pages that notebooks show."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree


class Table(HTMLParser):
    """The text of a page's table, cell by cell, without its pictures' labels."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.open = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        while self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if {"td", "th"} & set(self.open) and "title" not in self.open:
            self.rows[-1][-1] += data


def facts(thing):
    return {name: text.strip() for name, text in Table(thing._repr_html_()).rows}


def picture(page):
    """The first picture of a page, as XML."""
    found = re.search(r"<svg.*?</svg>", page, re.DOTALL)
    assert found is not None
    return ElementTree.fromstring(found.group())
