# What a session is: the loop that runs cells, and what code in a cell finds. It runs in the worker beside that code, so
# nothing here is a boundary: the kernel's limits and the host's checks are.
SOCKET = 3
FRAME_BYTES_MAX = 8 << 20
ERROR_CHARS_MAX = 6000
THREADS_MAX = 128
CLOCK_START = 1767225600.0  # 2026-01-01: a replay sees the time that was.
CLOCK_STEP = 0.001
RESERVE_BYTES = 2 << 20
SHOW_SECONDS_MIN = 0.02

os_read, os_write, os_exit = os.read, os.write, os._exit
dump = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
load = json.JSONDecoder().decode
real_sleep = time.sleep
real_clock = time.monotonic
real_labour = time.thread_time
# Newer versions start threads under another name.
start_name = "_start_joinable_thread" if hasattr(threading, "_start_joinable_thread") else "_start_new_thread"
start_thread = getattr(threading, start_name)


# Frames: a length of four bytes, then JSON.

class State:
    cell = 0        # The cell that runs; 0 when none does.
    replayed = False
    submitted = False
    reading = False  # Whether some thread reads the socket for all.
    question = 0    # Numbers go on from cell to cell: a thread may still wait for an old one.
    clock = CLOCK_START
    out = None
    reserve = None  # Memory that is let go to tell of a want of memory.
    entropy = None
    draft = None    # What was told of `answer` last,
    told = 0.0      # and when.
    due = 0.0       # No draft is told before: the last one took long.
    shown = 0.0     # When output was sent last.


state = State()
arrived = {}
send_lock = threading.Lock()
changed = threading.Condition(threading.Lock())
inbox = bytearray()


def send(message):
    data = dump(message).encode("utf-8", "replace")
    if len(data) > FRAME_BYTES_MAX:
        raise FrameTooLarge(len(data))
    data = len(data).to_bytes(4, "big") + data
    with send_lock:
        sent = os_write(SOCKET, data)
        while sent < len(data):
            sent += os_write(SOCKET, memoryview(data)[sent:sent + (1 << 20)])


def fill(size):
    while len(inbox) < size:
        data = os_read(SOCKET, max(8192, min(size - len(inbox), 1 << 22)))
        if not data:
            os_exit(0)
        inbox.extend(data)


def read_frame():
    fill(4)
    end = 4 + int.from_bytes(inbox[:4], "big")
    fill(end)
    message = load(inbox[4:end].decode())
    del inbox[:end]
    return message


def wait(number, cell):
    """Waits for the answer to a question of a cell, or for a cell under 0. One of the waiting threads reads for all."""
    while True:
        with changed:
            while True:
                if number in arrived:
                    return arrived.pop(number)
                if cell != state.cell:
                    raise QueryError("the cell ended")
                if not state.reading:
                    state.reading = True
                    break
                changed.wait()
        try:
            message = read_frame()
        except BaseException:
            with changed:
                state.reading = False
                changed.notify_all()
            raise
        with changed:
            state.reading = False
            if "cell" in message:
                arrived[0] = message["cell"]
            else:
                arrived[message["answer"]["id"]] = message["answer"]["reply"]
            changed.notify_all()


# Questions.

class FrameTooLarge(Exception):
    pass


class QueryError(Exception):
    """No answer came; the subclasses say why."""
    partial = None
    each = ()  # All of a batch of which none was answered, on the first of them.


faults = {"QueryError": QueryError}
for fault_name in ("RateLimited", "BudgetExceeded", "TooLarge", "Refused", "Empty", "Truncated", "TimedOut", "Unavailable"):
    faults[fault_name] = type(fault_name, (QueryError,), {"__module__": "__main__", "__qualname__": fault_name})
QueryError.__module__ = "__main__"


def ask(call):
    with changed:
        if not state.cell:
            raise QueryError("no cell is running")
        state.question += 1
        number, cell = state.question, state.cell
    if state.out.is_new:
        state.out.tell()
    tell_draft()
    try:
        send({"ask": {"cell": cell, "id": number, "call": call}})
    except FrameTooLarge as error:
        raise faults["TooLarge"]("the question has %d bytes; at most %d can be asked at once" % (error.args[0], FRAME_BYTES_MAX)) from None
    return wait(number, cell)


class Chosen(str):
    """A reply that was chosen among a few; `margin` is how much likelier it was than the others, as a natural logarithm."""


def outcome(item):
    if "said" in item:
        return item["said"]
    if "chosen" in item:
        chosen = Chosen(item["chosen"]["text"])
        chosen.margin = item["chosen"]["margin"]
        return chosen
    fault = item["fault"]
    error = faults.get(fault["kind"], QueryError)(fault["message"])
    error.partial = fault.get("partial")
    return error


def ask_each(call):
    answers = [outcome(item) for item in ask(call)["each"]]
    if all(isinstance(answer, QueryError) for answer in answers):
        answers[0].each = answers
        raise answers[0]
    return answers


def text(value, what):
    if not isinstance(value, str):
        raise TypeError("%s must be a str, not %s" % (what, type(value).__name__))
    return str.__str__(value)


def texts(values, what):
    if isinstance(values, (str, bytes, dict)):
        raise TypeError("%ss must be a list of str, not %s" % (what, type(values).__name__))
    return [text(value, "every " + what) for value in values]


def query(prompts, pattern, max_tokens):
    call = {"prompts": prompts}
    if pattern is not None:
        call["pattern"] = text(getattr(pattern, "pattern", pattern), "pattern")
    if max_tokens is not None:
        if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or not 0 < max_tokens < 1 << 32:
            raise ValueError("max_tokens must be a positive int")
        call["tokens_max"] = int(max_tokens)
    return ask_each({"query": call})


def with_context(prompt, context):
    """A prompt, and below it the part that it is about."""
    return prompt if context is None else "%s\n\n%s" % (prompt, value(context)["text"])


def each_context(prompts, contexts):
    """What goes with each prompt; one part may go with all of them."""
    contexts = [contexts] * len(prompts) if contexts is None or isinstance(contexts, (str, dict)) else list(contexts)
    if len(contexts) != len(prompts):
        raise ValueError("%d prompts with %d contexts" % (len(prompts), len(contexts)))
    return zip(prompts, contexts)


def llm_query(prompt, context=None, *, pattern=None, max_tokens=None):
    """The sub-model's reply to one prompt, which may have a part of the material below it."""
    return query([with_context(text(prompt, "prompt"), context)], pattern, max_tokens)[0]


def llm_query_batched(prompts, contexts=None, *, pattern=None, max_tokens=None):
    """The sub-model's replies to many prompts at once. A failed one stands in the list as its exception."""
    prompts = [with_context(*pair) for pair in each_context(texts(prompts, "prompt"), contexts)]
    return query(prompts, pattern, max_tokens) if prompts else []


def task(goal, context):
    part = {"goal": goal}
    if context is not None:
        part["context"] = value(context)
    return part


def rlm_query(question, context=None):
    """The answer of a child that works on the question in a session of its own."""
    return ask_each({"recurse": {"tasks": [task(text(question, "question"), context)]}})[0]


def rlm_query_batched(questions, contexts=None):
    """The answers of many children at once. A failed one stands in the list as its exception."""
    tasks = [task(*pair) for pair in each_context(texts(questions, "question"), contexts)]
    return ask_each({"recurse": {"tasks": tasks}}) if tasks else []


def budget():
    """What is left: calls, tokens, cost_usd, seconds and episodes; None where there is no limit."""
    return ask("budget")["budget"]


def begin_thread(*arguments, **named):
    if len(sys._current_frames()) >= THREADS_MAX:
        raise RuntimeError("can't start new thread: at most %d may run" % THREADS_MAX)
    return start_thread(*arguments, **named)


# Cells.

def cell_name(number):
    return "<cell %d>" % number


def own_frames(report, seen=0):
    """Leaves the frames of cells in a traceback, and cuts a chain of causes that is too long."""
    report.stack = traceback.StackSummary.from_list([frame for frame in report.stack if frame.filename.startswith("<cell ")][-16:])
    for name in ("__cause__", "__context__"):
        cause = getattr(report, name)
        if cause is not None:
            if seen < 3:
                own_frames(cause, seen + 1)
            else:
                setattr(report, name, None)


def describe(error):
    try:
        report = traceback.TracebackException(type(error), error, error.__traceback__, limit=-64)
        own_frames(report)
        told = "".join(report.format()).rstrip("\n")
    except BaseException:
        told = type(error).__name__
    if isinstance(error, ModuleNotFoundError):
        told += " (here is what of the standard library needs no files, network or processes)"
    if len(told) > ERROR_CHARS_MAX:
        told = told[:ERROR_CHARS_MAX // 2] + "\n…\n" + told[-ERROR_CHARS_MAX // 2:]
    return told


def carry_out(body, last):
    """Runs compiled code, and gives what its last expression is."""
    if (body.co_flags | (last.co_flags if last else 0)) & inspect.CO_COROUTINE:
        import asyncio
        return asyncio.run(await_all(body, last))
    exec(body, names)
    return eval(last, names) if last else None


async def await_all(body, last):
    """The same for code that awaits outside of a function: what it begins goes on until the end of the cell."""
    made = None
    for code in (body, last):
        made = eval(code, names) if code else None
        if code and code.co_flags & inspect.CO_COROUTINE:
            made = await made
    return made


def submit_values(tree):
    """`FINAL_VAR` is given the name of a variable; what stands there as a variable is the answer, whatever it says."""
    left = [tree]  # Nothing here may rest upon what a cell can take away.
    while left:
        node = left.pop()
        left.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "FINAL_VAR":
            if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], (ast.Name, ast.Attribute, ast.Subscript)):
                node.func.id = "FINAL_VALUE"


def run_code(number, code):
    """Runs a cell; gives the kind of its error and the error, or nothing."""
    name = cell_name(number)
    linecache.cache[name] = (len(code), None, (code + "\n").splitlines(True), name)
    try:
        tree = ast.parse(code, name)
        if "FINAL_VAR" in code and names.get("FINAL_VAR") is FINAL_VAR:
            submit_values(tree)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        body = compile(tree, name, "exec", flags, dont_inherit=True)
        last = last and compile(ast.Expression(last.value), name, "eval", flags, dont_inherit=True)
    except Exception as error:
        error.__traceback__ = None
        return "syntax", error
    try:
        shown = carry_out(body, last)
        if shown is not None:
            names["_"] = shown
            state.out.write(repr(shown) + "\n")
    except Submitted:
        pass
    except SystemExit as error:
        if error.code not in (None, 0):
            return "raised", error
    except MemoryError as error:
        return "out_of_memory", error
    except BaseException as error:
        return "raised", error
    return None, None


def run_cell(message):
    state.out = sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = Out(message["output"])
    state.replayed = message["replayed"]
    state.submitted, state.draft, state.due = False, None, 0.0
    with changed:
        state.cell = message["cell"]
        arrived.clear()  # Answers that came too late.
    for name, item in given.items():
        names.setdefault(name, item)
    for name in ("SUBMIT", "FINAL", "FINAL_VAR"):
        if not hasattr(names[name], "__call__"):
            names[name] = given[name]
    end = {"cell": message["cell"]}
    kind, error = run_code(message["cell"], message["code"])
    if kind == "out_of_memory":
        error.__traceback__ = None
        state.reserve.close()
    sys.settrace(None)
    sys.setprofile(None)
    try:
        draft(end)
    except Submitted:
        pass
    except BaseException as broken:
        if kind is None:
            kind, error = "raised", broken
    if kind is not None:
        end["error"] = {"kind": kind, "message": describe(error)}
    del error
    end["output"] = state.out.made()
    with changed:
        state.cell = 0
        changed.notify_all()
    send({"end": end})


REHEARSAL = ("x = 1\nx + 1", "def f(x):\n    return [y for y in x if y]\nprint(f([0, 1]), end='')", "1 +", "1 / 0",
             "import re, json\nfor m in re.finditer(r'a+', 'baab'):\n    print(f'{m.start():>5}', json.dumps({'a': 1}))")


def prepare_session():
    """All that is the same in every session; made once, in the base process."""
    global names, given
    fix_time_and_chance()
    setattr(threading, start_name, begin_thread)
    sys.path[:] = []
    sys.meta_path[:] = [finder for finder in sys.meta_path if "Path" not in getattr(finder, "__name__", "")]
    sys.meta_path.append(Shelf)
    sys.argv[:] = [""]
    os.environ.clear()
    warnings.simplefilter("ignore")
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    names = vars(main)
    rehearse()
    names["__name__"] = "__main__"
    names["__builtins__"] = builtins
    builtins.exit = builtins.quit = sys.exit
    builtins.FINAL_VALUE = SUBMIT
    builtins.help = lambda item=None: print(inspect.getdoc(item))
    # What models write that have JSON in mind.
    builtins.true, builtins.false, builtins.null = True, False, None
    given = {
        "answer": Answer(content="", ready=False), "llm_query": llm_query,
        "llm_query_batched": llm_query_batched, "rlm_query": rlm_query, "rlm_query_batched": rlm_query_batched,
        "budget": budget, "SUBMIT": SUBMIT, "FINAL": SUBMIT, "FINAL_VAR": FINAL_VAR, **faults,
    }
    given["recipes"] = load_recipes()
    for name in ("ctypes", "_ctypes", "resource", "mmap", "fathom"):
        sys.modules.pop(name, None)
    names.update(given)


def load_recipes():
    """The module `recipes`, which reads `context` from the session and asks with these functions whatever a cell calls so."""
    module = types.ModuleType("recipes", "Ready-made programs for cells.")
    vars(module)["__builtins__"] = dict(vars(builtins))
    exec(compile(setup["recipes"], "<recipes>", "exec"), vars(module))
    module.names = collections.ChainMap({"llm_query_batched": llm_query_batched, **faults}, names)
    sys.modules["recipes"] = module
    return module


def rehearse():
    """Runs cells that nobody sees, so that what the interpreter makes at first use is made before the fork."""
    state.out = sys.stdout = Out(1 << 10)
    for _ in range(16):
        for code in REHEARSAL:
            _, error = run_code(0, code)
            if error is not None:
                describe(error)
            state.out.made()
            load(dump({"end": {"cell": 1, "text": code, "call": value([1, "x", {"y": 2.5}])}}))
            tick()
    names.clear()
    linecache.cache.clear()
    state.clock = CLOCK_START


def run_session(context):
    names["context"] = given["context"] = context
    random.seed(0)  # The fork has sown another seed.
    state.reserve = mmap.mmap(-1, RESERVE_BYTES)
    while True:
        run_cell(wait(0, 0))
