LINE_CHARS_MAX = 200        # Of a line that a model is shown.
LINES_SHOWN = 8
PLACES_MAX = 40             # Of words in a line.


# What of the material a model is shown.

def _shown(line, most=LINE_CHARS_MAX, wanted=None):
    """A line, or so much of it; what is cut is what stands far from the words that are wanted."""
    line = " ".join(line.split())
    return _cut(line, _start(line, most, wanted or {}), most)


def _cut(text, start, most):
    start = max(0, min(start, len(text) - most))
    end = start + most
    if start:
        text, end = "…" + text[start + 1:], most
    return text if len(text) <= end else text[:end - 1] + "…"


def _start(line, most, wanted):
    """Where to begin so that the words that weigh most are in the middle of what is shown."""
    if len(line) <= most or not wanted:
        return 0
    low = _lower(line)
    places = sorted((place.start(), term) for term in wanted for place in re.finditer(re.escape(term), low))
    best, start = 0, 0
    for first, (begin, _) in enumerate(places[:PLACES_MAX]):
        near = [(at, term) for at, term in places[first:first + PLACES_MAX] if at + len(term) <= begin + most * 3 // 4]
        weight = sum(wanted[term] for term in {term for _, term in near})
        if weight > best:
            best, start = weight, (begin + near[-1][0] + len(near[-1][1]) - most) // 2
    return start


def _side_by_side(lines, wanted):
    """Lines as they are shown together: long ones take the room that others leave, the likeliest first."""
    room, shown = LINES_SHOWN * LINE_CHARS_MAX - sum(min(len(line), LINE_CHARS_MAX) for line in lines), []
    for line in lines:
        shown.append(_shown(line, LINE_CHARS_MAX + room, wanted))
        room -= max(0, len(shown[-1]) - LINE_CHARS_MAX)
    return shown


def _passage(before, line, after, wanted):
    """A line with so much of what stands around it as there is room for; the line comes first."""
    most = 2 * LINE_CHARS_MAX
    text, line = " ".join((before + line + after).split()), " ".join(line.split())
    start = len(" ".join(before.split()))
    # What stands between them may be a space or not.
    room = most - len(line) - 4
    return _cut(text, start + (_start(line, most, wanted) if room < 0 else -room // 2), most)
