"""The explorer: an embedding as an interactive map, in one page.

`_contents` collects what the page shows, `_columns` the user's columns and names of groups,
`_links` edges and likely links, also for what a large page asks; `_page` puts it into HTML,
`server` serves it on this machine, `notebook` shows it in place.
The sources of the page are in the folder web/. It may import `_util`, `files`, `graph`, `walks`,
`skipgram`, `embedding`, `models`, `evaluation`, `datasets` and `plotting`.
"""

from .exploring import Page, explore, make_page, serve_page, write_page
from .notebook import MapView
from .server import PageServer

__all__ = [
    "MapView",
    "Page",
    "PageServer",
    "explore",
    "make_page",
    "serve_page",
    "write_page",
]
