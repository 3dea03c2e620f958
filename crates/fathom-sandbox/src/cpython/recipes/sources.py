PIECE_CHARS = 4 << 20       # Of a text that is looked at in one go.
OVERLAP_CHARS = 400         # Between pieces where no line ends.


# What there is to look at.

def _sources(data):
    """The texts and lists in the material, with their names."""
    if data is None:
        data = names.get("context")
    if isinstance(data, dict):
        if data and all(isinstance(part, (str, list, tuple)) for part in data.values()):
            return [(str(name), part) for name, part in data.items()]
        return [("", [{name: part} for name, part in data.items()])]
    if isinstance(data, (str, list, tuple)):
        return [("", data)]
    return [("", [] if data is None else [data])]


def _written(entry):
    if isinstance(entry, str):
        return entry
    try:
        return json.dumps(entry, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return object.__repr__(entry)


def _pieces(source):
    """Parts of a source that fit into memory, cut where lines end if lines end."""
    if isinstance(source, str):
        start, size = 0, len(source)
        while start < size:
            end = min(start + PIECE_CHARS, size)
            if end == size:
                yield source[start:]
                return
            cut = source.rfind("\n", start, end)
            if cut >= 0:
                yield source[start:cut]
                start = cut + 1
            else:
                yield source[start:end]
                start = end - OVERLAP_CHARS
        return
    batch, size = [], 0
    for entry in source:
        line = _written(entry).replace("\n", " ")
        batch.append(line)
        size += len(line)
        if size > PIECE_CHARS:
            yield "\n".join(batch)
            batch, size = [], 0
    if batch:
        yield "\n".join(batch)


def _lines(source):
    """Whole lines, however long."""
    if not isinstance(source, str):
        yield from map(_written, source)
        return
    start, size = 0, len(source)
    while start < size:
        cut = source.find("\n", min(start + PIECE_CHARS, size))
        end = size if cut < 0 else cut
        yield from source[start:end].split("\n")
        start = end + 1


def _lower(text):
    # The one letter whose small form is longer; places must not move.
    return text.lower() if text.isascii() else text.replace("\u0130", "I").lower()


def _kinds(low):
    """The kind of each line: what is left of it without digits and the letters of hexadecimal numbers."""
    return low.encode("utf-8", "replace").translate(None, b"0123456789abcdef").split(b"\n")
