# The answer of a cell, and what is told of it before its end. It is one source with `session.py`, after it.
VALUE_BYTES_MAX = 4 << 20
WRITTEN_BYTES_MAX = FRAME_BYTES_MAX - (1 << 20)
VALUE_NODES_MAX = 2000000
VALUE_DEPTH_MAX = 200
DRAFT_SECONDS_MIN = 0.005
DRAFT_LABOUR_MAX = 0.001


class Submitted(BaseException):
    """Ends a cell that gave its answer."""


LAZY = (types.GeneratorType, map, filter, zip)
# Values that are the same after they were looked at.
INERT = {type(None), bool, int, float, str, Chosen, list, tuple, set, frozenset, collections.deque, range, type({}.keys()), type({}.values()),
         dict, collections.Counter, collections.defaultdict, collections.OrderedDict}
INERT_KEYS = {type(None), bool, int, float, str}


def plain(item, left, inert=False, depth=0):
    """What JSON can say of a value; `left` counts down the size."""
    left[0] -= 1
    if left[0] < 0 or depth > VALUE_DEPTH_MAX:
        raise ValueError("the value is too large or too deep")
    if inert and type(item) not in INERT:
        raise TypeError("looking at a %s may change it" % type(item).__name__)
    if item is None or item is True or item is False:
        return item
    if isinstance(item, QueryError):
        raise item  # What was not answered is no part of an answer.
    if isinstance(item, str):
        left[0] -= len(item) // 8
        return str.__str__(item)
    if isinstance(item, (bytes, bytearray)):
        return plain(item.decode("utf-8", "replace"), left, inert, depth)
    if isinstance(item, int):
        return int(item)
    if isinstance(item, float):
        return float(item) if math.isfinite(item) else None
    if isinstance(item, dict):
        if inert and any(type(key) not in INERT_KEYS for key in item):
            raise TypeError("a key may say something else")
        return {key if isinstance(key, str) else key_text(key): plain(part, left, inert, depth + 1) for key, part in item.items()}
    if isinstance(item, (list, tuple, set, frozenset, collections.deque, range, type({}.keys()), type({}.values()), *LAZY)):
        return [plain(part, left, inert, depth + 1) for part in item]
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        fields = {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
        return plain(fields, left, inert, depth + 1)
    return plain(str(item), left, inert, depth)


def key_text(key):
    return dump(key) if key is None or isinstance(key, (bool, int, float)) else str(key)


def value(item, inert=False):
    if not isinstance(item, str):
        item = plain(item, [VALUE_NODES_MAX], inert)
    # What JSON has no word for, as a date, is told as what it prints.
    if isinstance(item, str):
        made = {"form": "text", "text": str.__str__(item)}
    else:
        made = {"form": "json", "text": dump(item)}
    size = len(made["text"])
    if size > VALUE_BYTES_MAX // 4 and not made["text"].isascii():
        size = len(made["text"].encode("utf-8", "replace"))
    if size > VALUE_BYTES_MAX:
        raise ValueError("the value has %d bytes; at most %d can be handed over" % (size, VALUE_BYTES_MAX))
    # A character that JSON has no letter for takes six bytes.
    written = len(dump(made["text"]).encode("utf-8", "replace")) if size > WRITTEN_BYTES_MAX // 6 else size
    if written > WRITTEN_BYTES_MAX:
        raise ValueError("the value has %d bytes as JSON; at most %d can be handed over" % (written, WRITTEN_BYTES_MAX))
    return made


def submit(item):
    made = value(item)
    with changed:
        first = not state.submitted and state.cell
        state.submitted = True
    if first:
        send({"submit": {"cell": state.cell, "value": made}})


def SUBMIT(*items, **named):
    """Gives the final answer and ends the cell."""
    if not items and not named:
        raise TypeError("SUBMIT needs the answer")
    if named:
        item = named if len(named) > 1 or items else next(iter(named.values()))
    else:
        item = items[0] if len(items) == 1 else list(items)
    submit(item.get("content") if isinstance(item, Answer) else item)
    raise Submitted()


def FINAL_VAR(name):
    """Gives a variable, or the variable of that name, as the final answer and ends the cell."""
    if isinstance(name, str):
        key = name.strip().strip("\"'")
        if key in names:
            SUBMIT(names[key])
        if key.isidentifier() and not any(held is name for held in names.values()):
            raise NameError("there is no variable %r" % key)
    SUBMIT(name)


class Answer(dict):
    """What the model has so far. Its content is told now and then, so that it outlives a cell that is ended."""

    def __setitem__(self, key, item):
        dict.__setitem__(self, key, item)
        if key == "content" and state.cell and real_clock() > state.told + DRAFT_SECONDS_MIN:
            tell_draft()


def tell_draft():
    """Tells what stands in `answer`, where that is new. It depends on the time, so the cell must not notice: a flaw is for its end to say."""
    now, begun = real_clock(), real_labour()
    if now < state.due:
        return
    try:
        held = names.get("answer")
        item = dict.get(held, "content") if issubclass(type(held), dict) else None
        if item is None or type(item) is str and not item:
            return
        made = value(item, inert=True)
        if made != state.draft:
            send({"draft": {"cell": state.cell, "value": made}})
            state.draft, state.told = made, now
    except Exception:
        pass
    took = real_labour() - begun
    if took > DRAFT_LABOUR_MAX:
        state.due = now + 10 * took


def draft(end):
    """The answer that stands in `answer`: submitted when it is called ready."""
    held = names.get("answer")
    if not isinstance(held, dict) or held.get("content") in (None, ""):
        return
    if isinstance(held["content"], LAZY):
        held["content"] = list(itertools.islice(held["content"], VALUE_NODES_MAX))
    if held.get("ready"):
        submit(held["content"])
    else:
        end["draft"] = value(held["content"])
