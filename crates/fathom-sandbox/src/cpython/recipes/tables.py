SAMPLE_RECORDS = 400
JSON_CHARS_MAX = 64 << 20   # Of one object over several lines.
FIELDS_MAX = 40             # That are known by name.


class _Table:
    """What can be counted in a source: its fields, each with a way to read all of its values."""

    def __init__(self, source):
        self.source = source
        self.format = "none"
        self.fields = {}
        self.entries = lambda: _lines(source)  # Each as it is written.
        self.sniff()

    def sample(self):
        """Entries from the beginning, and from all over."""
        if isinstance(self.source, str):
            parts = [self.source[:1 << 16]]
            if len(self.source) > 1 << 20:
                starts = [len(self.source) * n // 5 for n in range(1, 5)]
                parts += [self.source[start:start + (1 << 15)] for start in starts]
            lines = []
            for number, part in enumerate(parts):
                rows = part.split("\n")
                cut = len(part) < len(self.source)
                lines += rows[number > 0:len(rows) - cut][:SAMPLE_RECORDS // len(parts)]
            return [line for line in lines if line.strip()]
        step = max(1, len(self.source) // SAMPLE_RECORDS)
        return [entry for entry in self.source[::step] if entry not in (None, "")]

    def sniff(self):
        sample = self.sample()
        if not isinstance(self.source, str) and sum(isinstance(entry, dict) for entry in sample) * 2 > len(sample):
            self.format = "records"
            self.read_keys(sample, lambda: self.source)
            return
        sample = [_written(entry) for entry in sample]
        objects = [entry for entry in map(_object, sample) if entry is not None]
        if len(objects) < 2 and self.read_json():
            self.format = "JSON"
        elif not sample:
            return
        elif len(objects) * 5 >= len(sample) * 4:
            self.format = "JSON Lines"
            self.read_keys(objects, lambda: map(_object, filter(str.strip, _lines(self.source))))
        elif not self.read_csv(sample):
            self.format = "lines"
            self.read_lines(sample)

    def read_keys(self, sample, entries):
        keys = collections.Counter(key for entry in sample if isinstance(entry, dict) for key in _flat(entry))
        for key, count in keys.most_common(FIELDS_MAX):
            self.fields[key] = lambda key=key: (_at(entry, key) for entry in entries())

    def read_json(self):
        """Whether the text is an array of objects, or objects over several lines; then what is in them is known."""
        start = isinstance(self.source, str) and JSON_START.match(self.source)
        if not start or not start.group(1) and len(self.source) > JSON_CHARS_MAX:
            return False
        try:
            sample = list(itertools.islice(_decoded(self.source), SAMPLE_RECORDS))
        except (ValueError, RecursionError, MemoryError):
            return False
        if not all(isinstance(entry, dict) for entry in sample):
            return False
        entries = lambda: self.decoded()
        if len(sample) == 1:
            # The list in an object is what it is for.
            lists = [part for part in sample[0].values() if isinstance(part, list) and len(part) > 1]
            lists = [part for part in lists if all(isinstance(entry, dict) for entry in part)]
            if lists:
                sample = max(lists, key=len)
                entries = lambda: sample
        self.entries = lambda: map(_written, entries())
        self.read_keys(sample[:SAMPLE_RECORDS], entries)
        return True

    def decoded(self):
        try:
            yield from _decoded(self.source)
        except (ValueError, RecursionError) as error:
            raise LookupError("this is no JSON: %s" % error) from None

    def read_csv(self, sample):
        for mark in ",;\t|":
            rows = list(_rows(sample, mark))
            width = len(rows[0]) if rows else 0
            # A cell may hold several lines.
            fitting = len(sample) - sum(1 + "".join(row).count("\n") for row in rows if len(row) != width)
            if width < 2 or fitting * 10 < len(sample) * 9:
                continue
            if sum(bool(PAIR_CELL.match(cell)) for row in rows[:9] for cell in row) * 2 > width * len(rows[:9]):
                continue
            is_prose = width == 2 and rows[0][1][:1] == " "
            rows[0] = head = [cell.lstrip("\ufeff").strip() for cell in rows[0]]
            named = _is_header(rows)
            if width == 2 and (is_prose or not named):
                continue
            self.format = "CSV"
            for number in range(width):
                name = named and head[number] or "column %d" % (number + 1)
                self.fields[name] = lambda number=number: self.cells(mark, number, named)
            if isinstance(self.source, str):
                self.entries = lambda: self.records(mark, named)
            return True
        return False

    def rows(self, mark, named, held=None):
        return itertools.islice(_rows(_lines(self.source), mark, held), int(named), None)

    def cells(self, mark, number, named):
        for row in self.rows(mark, named):
            yield row[number] if number < len(row) else None

    def records(self, mark, named):
        held = []
        for _ in self.rows(mark, named, held):
            yield "\n".join(held)

    def read_lines(self, sample):
        size = len(sample)
        pairs = collections.Counter(key for line in sample for key in {pair[0] for pair in PAIR.findall(line)} if key)
        for key, count in pairs.most_common(20):
            if count * 2 >= size:
                # The name first: it is looked for fast.
                name = re.escape(key)
                found = re.compile(name + r"(?<![\w.-]" + name + ")" + VALUE)
                self.fields[key] = lambda key=key, found=found: self.values(key, found)
        brackets = [len(BRACKET.findall(line)) for line in sample]
        for number in range(1, 5):
            if sum(count >= number for count in brackets) * 5 >= size * 4:
                found = re.compile(r"^[^\[\n]*" + r"\[[^\]\n]*\][^\[\n]*" * (number - 1) + r"\[([^\]\n]*)\]", re.M)
                self.fields["bracket %d" % number] = lambda found=found: self.matches(found)
        rows = [line.split() for line in sample]
        for number in range(min(8, max(map(len, rows), default=0))):
            there = [row[number] for row in rows if len(row) > number]
            if len(there) * 10 >= size * 9 and len(set(there)) * 2 <= len(there) and not any("=" in cell for cell in there[:20]):
                self.fields["column %d" % (number + 1)] = lambda number=number: self.columns(number)

    def matches(self, found):
        for part in itertools.zip_longest(*[iter(_lines(self.source))] * 20000):
            for line in filter(None, part):
                match = found.search(line)
                yield match and match.group(1)

    def values(self, key, found):
        for part in itertools.zip_longest(*[iter(_lines(self.source))] * 20000):
            for line in filter(None, part):
                match = found.search(line)
                if match and (line.count('"', 0, match.start()) % 2 or "\\" in line):
                    # It may stand in quotes.
                    yield next((pair[2] or pair[3] or "" for pair in PAIR.finditer(line) if pair[1] == key), None)
                else:
                    yield match and (match[1] or match[2] or "")

    def columns(self, number):
        for line in _lines(self.source):
            if line:
                row = line.split(None, number + 1)
                yield row[number] if len(row) > number else None

    def field(self, name):
        """The field that is meant, however it is written."""
        wanted = _key(name)
        for ready in (lambda key: key == wanted, lambda key: key.rstrip("s") == wanted.rstrip("s"),
                      lambda key: key.rsplit(" ", 1)[-1] == wanted):
            for key in self.fields:
                if ready(_key(key)):
                    return key
        return None


def _tables(data, field):
    """The tables that have a field, with what it is called there."""
    tables = [_Table(source) for _, source in _sources(data)]
    found = [(table, table.field(field)) for table in tables]
    found = [(table, name) for table, name in found if name is not None]
    if not found:
        known = sorted({name for table in tables for name in table.fields})
        raise LookupError("there is no field %r; there are: %s" % (field, ", ".join(known[:20]) or "none"))
    return found
