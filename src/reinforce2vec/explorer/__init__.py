"""The explorer: an embedding as an interactive map, in one page.

`_data` collects what the page shows, `_columns` the user's columns, `_typical` names of groups,
`_cost` says how long it takes, `_details` answers what a large page asks; `_packing` and `_page`
put it into HTML, `server` serves it on this machine, `notebook` shows it in place.
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
