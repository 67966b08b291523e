"""What browser tests do with the explorer's page: read it, search, look at its pixels."""

from __future__ import annotations

import io

import numpy as np
from matplotlib.image import imread

HOSTILE = [
    *('<img src=x onerror="document.title=1">', 'O\'Brien & "Söhne", 𝔘', "</script><b>,"),
    *('=HYPERLINK("x")', "@x", "-x", "-5"),
]
DESKTOP = {"width": 1000, "height": 640}
PHONE = {"width": 390, "height": 844}
BESIDE = {"x": 250, "y": 80, "width": 750, "height": 560}  # of DESKTOP, beside legend and bar


def texts(page, selector):
    return page.locator(selector).all_text_contents()


def listed(page, kind):
    """The ids and numbers in a list of the panel."""
    rows = page.locator(f"#panel section.{kind} li")
    ids, numbers = (rows.locator(name).all_text_contents() for name in (".id", ".number"))
    return list(zip(ids, numbers, strict=True))


def colours_on(page, clip=BESIDE):
    """How many pixels of the map have which colour."""
    image = imread(io.BytesIO(page.screenshot(clip=clip)))
    pixels = np.rint(image[..., :3] * 255).astype(int).reshape(-1, 3)
    colours, counts = np.unique(pixels, axis=0, return_counts=True)
    return {tuple(colour): count for colour, count in zip(colours.tolist(), counts, strict=True)}


def wait_for_colours(page, suits):
    """Look at the colours of the map until they suit, for some seconds at most."""
    for _ in range(100):
        if suits(colours_on(page)):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"the map has {colours_on(page)}")


def search(page, text):
    page.locator("#search").fill(text)
    page.keyboard.press("Enter")
