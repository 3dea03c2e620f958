RECORD_LINES_SURE = 3       # Of a table, in which nothing can have been swallowed.
RECORD_LINES_MAX = 5000     # Of a table; one that takes more has a quote that nothing closes.

DELIMITERS = " \t\"'[](){}<>,;|"
QUOTED = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
# A space may stand behind a colon only: behind `=` it ends a value that is empty.
VALUE = r"(?:=(" + QUOTED + r"|[^\s,;|\])}]*)|:[ ]{1,2}(" + QUOTED + r"|[^\s,;|\])}]+))"
# What stands in quotes by itself holds no names.
PAIR = re.compile(r"(?<![^\s=:(\[{,])" + QUOTED + r"|(?<![\w.-])([A-Za-z_][\w.-]{0,40})" + VALUE)
BRACKET = re.compile(r"\[([^\]\n]{1,60})\]")
PAIR_CELL = re.compile(r"\s*[A-Za-z_][\w.-]{0,40}(?:=|: )")
JSON_START = re.compile(r"\ufeff?\s*(\[?)\s*(?=\{)")
JSON_SPACE = re.compile(r"[\s,]*")

csv.field_size_limit(1 << 30)


# Records: rows of tables, and objects.

def _rows(lines, mark, held=None):
    """The records of a table; `held` has the lines of the last one. A quote that nothing closes is a letter like others."""
    quoting = csv.QUOTE_NONE if mark == "\t" else csv.QUOTE_MINIMAL
    lines, again, width = iter(lines), collections.deque(), 0
    held = [] if held is None else held

    def taken():
        while again:
            held.append(again.popleft())
            yield held[-1]
        for line in lines:
            held.append(line)
            yield line
            if len(held) >= RECORD_LINES_MAX:
                return

    while True:
        try:
            for row in csv.reader(taken(), delimiter=mark, quoting=quoting, strict=True):
                if len(held) > 1:
                    if len(held) > RECORD_LINES_SURE and _swallowed(held, mark, width):
                        break
                    row = next(csv.reader([line + "\n" for line in held], delimiter=mark))
                if row:
                    yield row
                    width = width or len(row)
                held.clear()
        except csv.Error:
            pass
        if not held:
            return
        again.extendleft(reversed(held[1:]))
        del held[1:]
        yield _unquoted(held[0].rstrip("\r"), mark, width)
        held.clear()


def _swallowed(lines, mark, width):
    """Whether the lines inside of a record are records themselves, and so many that it is no chance."""
    alike = sum(line.count(mark) == width - 1 for line in lines[1:-1])
    return alike * (width - 1) > 10 and alike * 10 >= (len(lines) - 2) * 9


def _unquoted(line, mark, width):
    try:
        row = next(csv.reader([line], delimiter=mark))
    except (csv.Error, StopIteration):
        row = []
    return row if len(row) == width else line.split(mark)


def _is_header(rows):
    """Whether the first of these rows holds names. The first of them may be missing, and some may be numbers in a row, like years."""
    head = rows[0]
    for place, cell in enumerate(head):
        if len(cell) > 40 or cell[-1:] in (".", "!", "?") or not cell and place:
            return False
    numbers = [cell for cell in head if cell[:1].isdigit()]
    return len(set(head)) == len(head) and (not numbers or _is_series(numbers) and not _is_series(
        [cell for cell in map(str.strip, rows[1] if len(rows) > 1 else head) if cell[:1].isdigit()]))


def _is_series(cells):
    """Whether these are years, or numbers from the beginning, one after another."""
    if not all(re.fullmatch(r"\d{1,4}", cell) for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    steps = {after - before for before, after in zip(numbers, numbers[1:])}
    if len(steps) != 1 or 0 in steps:
        return False
    are_years = all(1900 <= number <= 2100 for number in numbers)
    return are_years or len(numbers) > 2 and numbers[0] in (0, 1) and steps == {1}


def _decoded(text):
    """The objects of a text that is an array of them, or one after another."""
    decode, start = json.JSONDecoder().raw_decode, JSON_START.match(text)
    at = start.end()
    while at < len(text) and text[at] != "]":
        entry, at = decode(text, at)
        yield entry
        at = JSON_SPACE.match(text, at).end()
    if start.group(1) and at == len(text):
        raise ValueError("it ends in the middle")


def _object(line):
    if isinstance(line, str) and line.lstrip()[:1] == "{":
        try:
            line = json.loads(line)
        except (ValueError, RecursionError):
            return None
    return line if isinstance(line, dict) else None


def _flat(entry):
    for key, part in entry.items():
        if isinstance(part, dict):
            yield from ("%s.%s" % (key, inner) for inner in part)
        else:
            yield str(key)


def _at(entry, key):
    if not isinstance(entry, dict):
        return None
    if key in entry:
        return entry[key]
    outer, _, inner = key.partition(".")
    part = entry.get(outer)
    return part.get(inner) if isinstance(part, dict) else None


def _key(name):
    return " ".join(re.findall(r"[^\W_]+", str(name).casefold()))


def _cell(value):
    """A value without what stands around it."""
    if value is None:
        return None
    if isinstance(value, (dict, list)):
        return _written(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).strip(DELIMITERS)
