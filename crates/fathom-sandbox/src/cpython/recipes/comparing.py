PAIRED_MAX = 200000         # Entries of which pairs are sought.
PAIRS_MAX = 300             # That are read.
PAIRS_LOOKED_AT = 2000000   # Before some are chosen.
LOOK_AHEAD = 10             # Units that one may have been replaced by.
ALIKE = 0.5                 # Of their words, what two such units share.


# Two things side by side.

def _named(part):
    """A text, or the piece of the material of that name."""
    context = names.get("context")
    if isinstance(part, str) and isinstance(context, dict) and part in context:
        part = context[part]
    return part


def _units(part):
    for _, source in _sources(part):
        for line in _lines(source):
            for unit in [line] if len(line) <= 400 else re.split(r"(?<=[.;!?])\s+", line):
                if unit.strip():
                    yield " ".join(unit.split())


def _between(units, anchors):
    """The units that stand between anchors, by the anchor before them."""
    between = {None: []}
    held = between[None]
    for unit in units:
        if unit in anchors:
            held = between[unit] = []
        else:
            held.append(unit)
    return between


def _differences(first, second):
    """What one side has more often than the other. A unit that both have once is an anchor; between the same anchors a unit is
    set beside the one it was replaced by."""
    had, has = collections.Counter(first), collections.Counter(second)
    gone, new = had - has, has - had
    anchors = {unit for unit, count in had.items() if count == 1 == has[unit]}
    before, after = _between(first, anchors), _between(second, anchors)
    for anchor, was in before.items():
        now = after[anchor]
        if was or now:
            yield from _replaced(_surplus(was, now, gone), _surplus(now, was, new))


def _surplus(units, others, left):
    """Units that others do not have as often, as long as there are such left."""
    over, chosen = collections.Counter(units) - collections.Counter(others), []
    for unit in reversed(units):
        if over[unit] > 0 and left[unit] > 0:
            over[unit] -= 1
            left[unit] -= 1
            chosen.append(unit)
    return chosen[::-1]


def _replaced(gone, new):
    """Pairs of units that were replaced: those that share most words first, and what stands between such pairs in its order."""
    words = [frozenset(re.findall(r"\w+", unit)) for unit in new]
    pairs, place = [], 0
    for index, unit in enumerate(gone):
        own = frozenset(re.findall(r"\w+", unit))
        likeness = [2 * len(own & other) / (len(own) + len(other) or 1) for other in words[place:place + LOOK_AHEAD]]
        best = max(likeness, default=0)
        if best >= ALIKE:
            place += likeness.index(best) + 1
            pairs.append((index, place - 1))
    one = other = 0
    for index, place in pairs + [(len(gone), len(new))]:
        for old, now in itertools.zip_longest(gone[one:index], new[other:place]):
            yield {"a": old, "b": now}
        if index < len(gone):
            yield {"a": gone[index], "b": new[place]}
        one, other = index + 1, place + 1


def compare(a, b, question="", data=None):
    """How two texts (or two pieces of the material, by name) differ: by code what differs, by a model what that means."""
    if data is not None and isinstance(data, dict):
        a, b = data.get(a, a), data.get(b, b)
    first, second = list(_units(_named(a))), list(_units(_named(b)))
    differences = list(_differences(first, second))
    made = {"count": len(differences), "differences": [
        {side: unit and _shown(unit, 300) for side, unit in pair.items()} for pair in differences[:50]]}
    words = [_stem(word) for word in re.findall(r"[^\W_]{3,}", _lower(question))
             if word not in STOP_WORDS and not re.match("differ|compar|chang|contract|version", word)]
    if not words or not differences:
        return made
    shared = lambda pair: sum(word in _lower("%s %s" % (pair["a"], pair["b"])) for word in words)
    best = sorted(differences, key=shared, reverse=True)[:3]
    listed = "\n".join("a: %s\nb: %s" % (_shown(pair["a"] or "(nothing)"), _shown(pair["b"] or "(nothing)")) for pair in best)
    prompt = "%s%s\n\nQuestion: %s\nAnswer in one sentence from these lines of a and b." % (DATA, listed, question)
    reply = _ask([prompt], 80)[0]
    if reply and _supported(reply, listed + " " + question):
        made["answer"] = reply
    return made


def _likely_pairs(items):
    """The pairs that share the rarest words, at most so many as can be read. Not all pairs are looked at: they may be millions."""
    holders = collections.defaultdict(list)
    for index, item in enumerate(items):
        for word in set(re.findall(r"[^\W_]{3,}", _lower(item))) - STOP_WORDS:
            holders[word].append(index)
    shared, left = collections.Counter(), PAIRS_LOOKED_AT
    for held in sorted(filter(lambda held: len(held) > 1, holders.values()), key=len):
        left -= len(held) ** 2
        if left < 0:
            break
        for pair in itertools.combinations(held, 2):
            shared[pair] += 1 / len(held)
    return sorted(pair for pair, _ in shared.most_common(PAIRS_MAX))


def pairwise(question, items=None, data=None):
    """The pairs of entries of which a model says that the question, asked of entries that belong together, means them."""
    if items is None:
        items = list(itertools.islice(_entries(data), PAIRED_MAX + 1))
        if len(items) > PAIRED_MAX:
            items.pop()
            print("only the first %d entries were looked at" % PAIRED_MAX)
    else:
        items = [_written(item) for item in items]
    if math.comb(len(items), 2) <= PAIRS_MAX:
        pairs = list(itertools.combinations(range(len(items)), 2))
    else:
        pairs = _likely_pairs(items)
        print("only the %d likeliest pairs were read" % len(pairs))
    prompts = ["%s1: %s\n2: %s\n\nQuestion: %s\nIs the answer yes for 1 and 2 together, or are they such a pair? Reply yes or no." % (
        DATA, _body(items[one]), _body(items[two]), question) for one, two in pairs]
    agreed = _agreed(prompts) if prompts else []
    if prompts and all(is_pair is None for is_pair in agreed):
        raise LookupError("no pair could be judged")
    return [(items[one], items[two]) for (one, two), is_pair in zip(pairs, agreed) if is_pair]
