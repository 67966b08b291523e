"""What a page of the explorer holds."""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct

import numpy as np

from reinforce2vec.explorer import make_page


def unpack(content):
    """Read what `pack` wrote, as `web/src/data.js` does; arrays are flat."""
    begin = 4 + struct.unpack_from("<I", content)[0]
    header = json.loads(content[4:begin])
    planes = header.pop("planes")
    arrays = {}
    for name, kind, count in header.pop("arrays"):
        begin += -begin % 8
        dtype = np.dtype("<" + kind)
        stored = np.frombuffer(content, np.uint8, count * dtype.itemsize, begin)
        joined = stored.reshape(dtype.itemsize, count).T if planes else stored
        arrays[name] = np.ascontiguousarray(joined).ravel().view(dtype)
        begin += stored.size
    return header, arrays


def contents(*given, **options):
    """The header and the arrays of a page, placed by PCA unless told otherwise.

    Columns are in both by their names, too.
    """
    html = make_page(*given, **({"method": "pca"} | options)).html
    text = re.search(rb'id="data"[^>]*>([^<]*)</script>', html)[1]
    header, arrays = unpack(gzip.decompress(base64.b64decode(text)))
    for number, column in enumerate(header["columns"]):
        if f"column{number}" in arrays:
            arrays[column["name"]] = arrays[f"column{number}"]
        header[column["name"]] = column
    return header, arrays
