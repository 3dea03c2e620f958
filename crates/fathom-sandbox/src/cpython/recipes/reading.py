ITEMS_MAX = 300             # That are read one by one; above it a sample is.
SAMPLE_ITEMS = 200
PARTS_MAX = 8
PART_CHARS = 1200


# Reading entry by entry.

def _entries(data):
    """The entries of the material one after another, each as it is written."""
    for _, source in _sources(data):
        yield from filter(str.strip, _Table(source).entries())


def _body(entry):
    """What of an entry is to be read: the longest text of an object."""
    fields = _object(entry)
    texts = [part for part in fields.values() if isinstance(part, str)] if fields else []
    return _shown(max(texts, key=len) if texts else entry)


def classify_each(label, data=None):
    """How many entries fit a label by what they mean: read one by one, or a sample of them, and then an estimate."""
    # Twice from the beginning: all entries at once may not fit into memory.
    entries = list(itertools.islice(_entries(data), ITEMS_MAX + 1))
    if not entries:
        raise LookupError("there are no entries")
    count = len(entries)
    if count > ITEMS_MAX:
        count = sum(1 for _ in _entries(data))
        chosen = set(random.Random(0).sample(range(count), SAMPLE_ITEMS))
        entries = [entry for index, entry in enumerate(_entries(data)) if index in chosen]
    # Short, and without examples: a small model lets itself be led by them more than by the text.
    prompts = ['Text: "%s"\nIs this text about %s? Reply yes or no.' % (_body(entry), label) for entry in entries]
    leanings = _leanings(prompts)
    parting = _parting(leanings)
    fits = [entry for entry, leaning in zip(entries, leanings) if leaning is not None and leaning > parting]
    read = sum(leaning is not None for leaning in leanings)
    if not read:
        raise LookupError("no entry could be judged")
    share = len(fits) / read
    made = {"label": label, "read": read, "entries": count, "fits": len(fits), "is_estimate": read < count}
    if made["is_estimate"]:
        made["estimate"] = round(share * count)
        made["give_or_take"] = round(1.96 * math.sqrt(max(share * (1 - share), 1 / (4 * read)) / read) * count)
    if read > 4 and len(fits) in (0, read):
        made["doubt"] = "every entry was judged the same"
    made["examples"] = [_shown(entry, 80) for entry in fits[:5]]
    return made


def _distinct(source):
    """The lines of a source without those of a kind that is seen again and again."""
    seen, kept = collections.Counter(), []
    for line in _lines(source):
        if line.strip():
            kind = _kinds(_lower(line[:2000]))[0]
            if len(seen) <= TEMPLATES_MAX:
                seen[kind] += 1
            if seen[kind] <= 1:
                kept.append(line[:2000])
    return kept


def map_reduce_summary(bullets=5, data=None):
    """What the material says, in a few points; each of them has support in it."""
    bullets = max(1, min(int(bullets), 12))
    lines = [line for _, source in _sources(data) for line in _distinct(source)]
    whole = "\n".join(lines)
    if not whole.strip():
        raise LookupError("there is nothing to summarise")
    step = max(1, math.ceil(len(whole) / PART_CHARS / PARTS_MAX)) * PART_CHARS
    parts = [whole[start:start + PART_CHARS] for start in range(0, len(whole), step)]
    asked = "%s%s\n\nNote the one or two most important facts of this, short, with names and numbers."
    notes = [note for note in _ask([asked % (DATA, part) for part in parts], 70) if note]
    asked = "%sNotes:\n%s\n\nSum them up in %d points, each on a line that begins with \"- \". Say nothing that is not in the notes."
    reply = _ask([asked % (DATA, "\n".join(_shown(note, 300) for note in notes), bullets)], 60 * bullets,
                 pattern="- [^\\n]{10,200}(\\n- [^\\n]{10,200}){0,%d}" % (bullets - 1))[0] or ""
    points = [line[1:].strip() for line in reply.split("\n") if line.startswith("-")]
    kept = [point for point in points if any(_supported(point, part) for part in parts)]
    if len(kept) < len(points):
        print("%d points without support in the material were left out" % (len(points) - len(kept)))
    if len(parts) * PART_CHARS < len(whole):
        print("%d of %d characters were read" % (sum(map(len, parts)), len(whole)))
    return kept or None
