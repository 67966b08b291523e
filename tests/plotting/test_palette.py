"""Groups can be told apart by all readers, on a light and on a dark background."""

from __future__ import annotations

from itertools import combinations

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

from reinforce2vec.plotting.palette import LOOKS, OTHERS, SCALE, SHAPES

PAPER = {"light": "#fbfbfa", "dark": "#15181b"}  # as in web/src/explorer.css

# Machado, Oliveira and Fernandes (2009), on linear light: what is left of colours.
EYES = {
    "normal": np.eye(3),
    "protanopia": np.array([
        *([0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216]),
        [-0.003882, -0.048116, 1.051998],
    ]),
    "deuteranopia": np.array([
        *([0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413]),
        [-0.011820, 0.042940, 0.968881],
    ]),
    "tritanopia": np.array([
        *([1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602]),
        [0.004733, 0.691367, 0.303900],
    ]),
}  # fmt: skip
# The smallest distances in Oklab: (all 20 colours, the first 8, those of one shape).
LEAST = {
    "normal": (0.090, 0.100, 0.095),
    "protanopia": (0.060, 0.084, 0.060),
    "deuteranopia": (0.060, 0.063, 0.060),
    "tritanopia": (0.050, 0.060, 0.050),
}


def linear(colour):
    light = np.array(to_rgb(colour))
    return np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)


def contrast(colour, paper):
    """The contrast ratio of WCAG."""
    bright = [linear(one) @ [0.2126, 0.7152, 0.0722] + 0.05 for one in (colour, paper)]
    return max(bright) / min(bright)


def as_seen(colour, eyes):
    """A colour in Oklab (Ottosson, 2020), where distances are those that people see."""
    light = np.clip(EYES[eyes] @ linear(colour), 0, 1)
    cones = np.cbrt(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
        @ light
    )
    return [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ] @ cones


def closest(colours, eyes):
    seen = [as_seen(colour, eyes) for colour in colours]
    return min(np.linalg.norm(a - b) for a, b in combinations(seen, 2))


def test_forty_groups_have_forty_looks():
    assert len(LOOKS) >= 40
    for mode in PAPER:
        assert len({(getattr(look, mode), look.shape) for look in LOOKS}) == len(LOOKS)
        assert len({getattr(look, mode) for look in LOOKS}) >= 20
    assert {look.shape for look in LOOKS} == set(SHAPES)
    assert {look.shape for look in LOOKS[:8]} == {SHAPES[0]}


@pytest.mark.parametrize("mode", PAPER)
def test_no_group_fades_into_the_background(mode):
    for look in (*LOOKS, OTHERS):
        assert contrast(getattr(look, mode), PAPER[mode]) >= 3


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("mode", PAPER)
def test_colours_are_told_apart_by_colour_blind_readers(eyes, mode):
    colours = list(dict.fromkeys(getattr(look, mode) for look in LOOKS))
    least, least_of_first, least_of_shape = LEAST[eyes]
    assert closest(colours, eyes) >= least
    assert closest(colours[:8], eyes) >= least_of_first
    for shape in SHAPES:
        together = [getattr(look, mode) for look in LOOKS if look.shape == shape]
        assert closest(together, eyes) >= least_of_shape


def test_the_scale_of_numbers_is_viridis():
    viridis = matplotlib.colormaps["viridis"](np.linspace(0, 1, len(SCALE)))
    assert [to_hex(colour) for colour in viridis] == list(SCALE)
