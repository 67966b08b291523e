"""The explorer: an embedding as an interactive map, in one self-contained page.

`_data` collects what the page shows, `_page` puts it into HTML, `server` serves it on this machine.
The sources of the page are in the folder web/. It may import `_util`, `files`, `graph`, `walks`,
`skipgram`, `embedding`, `models`, `evaluation`, `datasets` and `plotting`.
"""

from .exploring import Page, explore, make_page, write_page
from .server import PageServer

__all__ = [
    "Page",
    "PageServer",
    "explore",
    "make_page",
    "write_page",
]
