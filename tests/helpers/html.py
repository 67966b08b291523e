"""What stands in the tables that notebooks show."""

from __future__ import annotations

from html.parser import HTMLParser


class Table(HTMLParser):
    """The text of a page's table, cell by cell."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.in_cell = [], False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.in_cell = tag in ("td", "th")
        if tag == "tr":
            self.rows.append([])
        if self.in_cell:
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.in_cell:
            self.rows[-1][-1] += data


def facts(thing):
    return dict(Table(thing._repr_html_()).rows)
