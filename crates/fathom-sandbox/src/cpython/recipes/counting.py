FIELDS_LOOKED_INTO = 12
FIELDS_WITH_VALUES = 6      # At least, before names are left out.
INSPECTED_CHARS = 3500
VALUES_MAX = 1000           # Different values that a count lists.


def count_by_field(field, value=None, data=None):
    """How often each value of a field occurs, most frequent first, or one value of it, in small letters or capitals. Exact."""
    counts, entries = collections.Counter(), 0
    for table, name in _tables(data, field):
        raw = collections.Counter(cell if isinstance(cell, (str, type(None))) else _cell(cell) for cell in table.fields[name]())
        for cell, count in raw.items():
            entries += count
            if cell is not None:
                counts[_cell(cell)] += count
        print("counted `%s` in %d %s" % (name, sum(raw.values()), table.format if table.format != "none" else "entries"))
    if value is not None:
        wanted = _cell(value).casefold()
        return sum(count for cell, count in counts.items() if cell.casefold() == wanted)
    listed = dict(counts.most_common(VALUES_MAX))
    if len(counts) > VALUES_MAX:
        listed["(%d other values)" % (len(counts) - VALUES_MAX)] = sum(counts.values()) - sum(listed.values())
    return listed


def sample_inspect(data=None):
    """What the material looks like: sizes, formats, fields and some of their values."""
    told = []
    for name, source in _sources(data)[:3]:
        table = _Table(source)
        is_text = isinstance(source, str)
        fields = []
        for place, (key, column) in enumerate(itertools.islice(table.fields.items(), FIELDS_MAX)):
            is_first = place < FIELDS_LOOKED_INTO
            cells = [cell for cell in map(_cell, itertools.islice(column(), 2000 if is_first else 200)) if cell]
            common = collections.Counter(cells).most_common(9)[:8 if is_first else 3]
            fields.append({
                "name": key[:40],
                "is_number": bool(cells) and sum(_number(cell) is not None for cell in cells) * 10 >= len(cells) * 9,
                # Values that repeat are what a question may name.
                "values": [cell[:30] for cell, count in common if count > 1 and len(cell) <= 30],
            })
        head = next((_shown(_written(entry), 80) for entry in table.sample()), "")
        told.append({"name": name[:40], "kind": "text" if is_text else "list", "size": len(source), "format": table.format,
                     "fields": fields, "head": head})
    while len(json.dumps(told)) > INSPECTED_CHARS and any(source["fields"] for source in told):
        fields = max(told, key=lambda source: len(json.dumps(source)))["fields"]
        valued = [field for field in fields[FIELDS_WITH_VALUES:] if field["values"]]
        if valued:
            valued[-1]["values"] = []
        else:
            fields.pop()
    return {"sources": told}
