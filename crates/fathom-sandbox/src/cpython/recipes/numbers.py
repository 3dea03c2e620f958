# What stands before a number ends in no point, unless it is that of a short word; three digits belong to each comma.
NUMBER = re.compile(r"([+-]?)(?:[^\d+.,-]{0,3}[^\W\d_]\.\s?|[^\d+.,-]{0,4})([+-]?)"
                    r"((?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)((?:[eE][+-]?\d+)?)\s*([^\d\s-]{0,8})")


# What a unit measures, and how much it is.
SECOND = 10 ** 9
UNITS = {
    "ns": ("time", 1), "us": ("time", 10 ** 3), "μs": ("time", 10 ** 3), "ms": ("time", 10 ** 6), "s": ("time", SECOND),
    "sec": ("time", SECOND), "secs": ("time", SECOND), "seconds": ("time", SECOND), "min": ("time", 60 * SECOND),
    "mins": ("time", 60 * SECOND), "minutes": ("time", 60 * SECOND), "h": ("time", 3600 * SECOND), "hours": ("time", 3600 * SECOND),
    "b": ("size", 1), "bytes": ("size", 1), "kb": ("size", 10 ** 3), "mb": ("size", 10 ** 6), "gb": ("size", 10 ** 9),
    "tb": ("size", 10 ** 12), "kib": ("size", 1 << 10), "mib": ("size", 1 << 20), "gib": ("size", 1 << 30), "tib": ("size", 1 << 40),
}


def _measured(value):
    """A number and its unit, None where it is not certain what number it is."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value, ""
    if not isinstance(value, str) or len(value) > 300:
        return None
    match = NUMBER.fullmatch(_cell(value).replace("\u2212", "-"))
    if not match or match[1] and match[2]:
        return None
    sign, inner, digits, power, unit = match.groups()
    unit = unit.strip(".,;:!?*~").casefold()
    text = digits.replace(",", "") + power
    number = int(text) if text.isdigit() else float(text)
    # In accounts what stands in brackets is less than nothing.
    in_brackets = "(" in value and unit not in UNITS and re.fullmatch(r"\W*\(.*\)\W*", value)
    if in_brackets and (sign or inner):
        return None
    return -number if in_brackets or "-" in (sign, inner) else number, unit


def _number(value):
    measured = _measured(value)
    return measured and measured[0]


def _in_one_unit(groups):
    """The numbers of each group in one unit, and what it is. What is in units that do not go with the most is left out."""
    kinds, units = collections.Counter(), set()
    for by_unit in groups.values():
        for unit, numbers in by_unit.items():
            kinds[UNITS.get(unit, (unit, 1))[0]] += len(numbers)
            units.add(unit)
    if len(units) < 2:
        return {key: numbers for key, by_unit in groups.items() for numbers in by_unit.values()}, ""
    kind, count = kinds.most_common(1)[0]
    if len(kinds) > 1:
        print("%d numbers in other units than the rest were left out" % (sum(kinds.values()) - count))
    sizes = {unit: UNITS.get(unit, (unit, 1))[1] for unit in units if UNITS.get(unit, (unit, 1))[0] == kind}
    least = min(sizes, key=sizes.get)
    made = {}
    for key, by_unit in groups.items():
        for unit in filter(sizes.get, by_unit):
            factor = sizes[unit] / sizes[least]
            factor = int(factor) if factor.is_integer() else factor
            made.setdefault(key, []).extend(number * factor for number in by_unit[unit])
    return made, least


def _sum(numbers):
    return sum(numbers) if all(isinstance(number, int) for number in numbers) else math.fsum(numbers)


OPERATIONS = {
    "sum": _sum, "total": _sum, "min": min, "max": max, "minimum": min, "maximum": max, "count": len,
    "median": statistics.median, "mean": lambda numbers: _sum(numbers) / len(numbers),
    "average": lambda numbers: _sum(numbers) / len(numbers), "distinct": lambda numbers: len(set(numbers)),
}


def aggregate(field, op, by=None, data=None):
    """`op` (sum, mean, median, min, max, count, distinct) over the numbers of a field, for each value of `by` if given.

    Of times and of sizes in several units it is in the smallest of them."""
    if op not in OPERATIONS:
        raise ValueError("there is no %r; use one of %s" % (op, ", ".join(OPERATIONS)))
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    empty, unread, such = 0, 0, ""
    for table, name in _tables(data, field):
        column = table.fields[name]()
        other = None if by is None else table.field(by)
        if by is not None and other is None:
            raise LookupError("there is no field %r beside %r" % (by, name))
        keys = itertools.repeat(None) if other is None else table.fields[other]()
        for cell, key in zip(column, keys):
            measured = _measured(cell) if op != "distinct" else cell if cell is None else (_cell(cell), "")
            if measured is None:
                if cell in (None, ""):
                    empty += 1
                else:
                    unread += 1
                    such = such or ", such as %r" % _shown(_written(cell), 40)
            else:
                groups[_cell(key)][measured[1] if op != "count" else ""].append(measured[0])
        print("%s of `%s` over %s" % (op, name, table.format))
    if empty:
        print("%d entries without a number were left out" % empty)
    if unread:
        print("left out are %d values of which it is not certain what number they are%s" % (unread, such))
    numbers, unit = _in_one_unit(groups)
    if unit:
        print("in " + unit)
    made = {key: OPERATIONS[op](each) for key, each in numbers.items()}
    if by is not None:
        return made
    if not made:
        raise LookupError("there is no number in %r%s" % (field, " that is certain; it holds values" + such.lstrip(",") if unread else ""))
    return made[None]
