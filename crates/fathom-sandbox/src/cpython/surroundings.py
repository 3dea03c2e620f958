# What stands around a cell: where its output goes, and a clock and chance that are the same in every replay. It is one source with
# `session.py`, after it.

# Output.

class Out(io.TextIOBase):
    """Keeps the beginning and the end of what is printed, and counts it all."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, size):
        self.half = max(size // 2, 1)
        self.head, self.head_bytes = [], 0
        self.tail, self.tail_bytes = [], 0
        self.bytes = 0
        self.pending, self.pending_chars = [], 0
        self.is_new = False  # Whether there is more than was told.
        self.lock = threading.Lock()

    def writable(self):
        return True

    def isatty(self):
        return False

    @property
    def buffer(self):
        return Raw(self)

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not %s" % type(text).__name__)
        self.pending.append(text)
        self.pending_chars += len(text)
        self.is_new = True
        if real_clock() > state.shown + SHOW_SECONDS_MIN and state.cell:
            self.tell()
        elif self.pending_chars > 65536 or len(self.pending) > 1024:
            self.settle()
        return len(text)

    def tell(self):
        self.is_new, state.shown = False, real_clock()
        send({"printed": {"cell": state.cell, "output": self.made()}})

    def settle(self):
        """Looks at what was written since the last time. Only the last piece of it can be large."""
        with self.lock:
            pending, self.pending, self.pending_chars = self.pending, [], 0
            if not pending:
                return
            last = pending.pop()
            self.keep("".join(pending).encode("utf-8", "replace"))
            if last.isascii() and len(last) > 4 * self.half:
                # All that can be kept of it, without a copy of the rest.
                self.bytes += len(last) - 4 * self.half
                self.keep(last[:2 * self.half].encode())
                self.keep(last[-2 * self.half:].encode())
            else:
                self.keep(last.encode("utf-8", "replace"))

    def keep(self, data):
        self.bytes += len(data)
        room = self.half - self.head_bytes
        if room > 0:
            self.head.append(data[:room])
            self.head_bytes += min(room, len(data))
            data = data[room:]
        if data:
            self.tail.append(data)
            self.tail_bytes += len(data)
            if self.tail_bytes > 4 * self.half or len(self.tail) > 4096:
                self.tail = [b"".join(self.tail)[-self.half:]]
                self.tail_bytes = len(self.tail[0])

    def made(self):
        self.settle()
        with self.lock:
            head, tail = b"".join(self.head), b"".join(self.tail)
        if self.bytes <= 2 * self.half:
            return {"head": (head + tail).decode("utf-8", "replace"), "bytes": self.bytes}
        # Half a character at a cut is left out.
        return {"head": head.decode("utf-8", "ignore"), "tail": tail[-self.half:].decode("utf-8", "ignore"), "bytes": self.bytes}


class Raw(io.RawIOBase):
    def __init__(self, out):
        self.out = out

    def writable(self):
        return True

    def write(self, data):
        self.out.write(bytes(data).decode("utf-8", "replace"))
        return len(data)


# Time and chance are the same in every replay.

def tick(seconds=CLOCK_STEP):
    with changed:
        state.clock += seconds
        return state.clock


def sleep(seconds):
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    tick(seconds)
    # Who waits for what another thread does waits for it in a replay too.
    if not state.replayed or len(sys._current_frames()) > 1:
        real_sleep(seconds)


def entropy(size):
    return state.entropy.getrandbits(8 * size).to_bytes(size, "little") if size else b""


def fix_time_and_chance():
    real = datetime.datetime
    real_date = datetime.date
    gmtime, localtime, strftime, ctime, asctime = time.gmtime, time.localtime, time.strftime, time.ctime, time.asctime
    time.time = tick
    time.time_ns = lambda: int(tick() * 1000) * 1000000
    for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
        setattr(time, name, lambda: tick() - CLOCK_START)
        setattr(time, name + "_ns", lambda: int((tick() - CLOCK_START) * 1000) * 1000000)
    time.clock_gettime = lambda clock: tick()
    time.clock_gettime_ns = lambda clock: time.time_ns()
    timeit.default_timer = time.perf_counter
    time.sleep = sleep
    time.gmtime = lambda at=None: gmtime(tick() if at is None else at)
    time.localtime = lambda at=None: localtime(tick() if at is None else at)
    time.ctime = lambda at=None: ctime(tick() if at is None else at)
    time.strftime = lambda form, at=None: strftime(form, gmtime(tick()) if at is None else at)
    time.asctime = lambda at=None: asctime(gmtime(tick()) if at is None else at)

    class Kind(type):
        """What was made before is of these kinds, too; what a cell derives from them is its own."""

        def __instancecheck__(cls, item):
            return isinstance(item, cls.__bases__[0]) if cls in fixed else type.__instancecheck__(cls, item)

        def __subclasscheck__(cls, other):
            return issubclass(other, cls.__bases__[0]) if cls in fixed else type.__subclasscheck__(cls, other)

    class FixedDatetime(real, metaclass=Kind):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(tick(), tz if tz is not None else datetime.timezone.utc) if tz is not None else cls.utcnow()

        @classmethod
        def utcnow(cls):
            return cls.fromtimestamp(tick(), datetime.timezone.utc).replace(tzinfo=None)

        @classmethod
        def today(cls):
            return cls.utcnow()

        def date(self):
            return FixedDate(self.year, self.month, self.day)

        def __repr__(self):
            return "datetime." + real.__repr__(self)

    class FixedDate(real_date, metaclass=Kind):
        @classmethod
        def today(cls):
            now = FixedDatetime.utcnow()
            return cls(now.year, now.month, now.day)

        def __repr__(self):
            return "datetime." + real_date.__repr__(self)

    fixed = (FixedDatetime, FixedDate)
    FixedDate.min, FixedDate.max = FixedDate(1, 1, 1), FixedDate(9999, 12, 31)
    FixedDatetime.min, FixedDatetime.max = FixedDatetime(1, 1, 1), FixedDatetime(9999, 12, 31, 23, 59, 59, 999999)
    for kind, name in zip(fixed, ("datetime", "date")):
        kind.__name__ = kind.__qualname__ = name
        kind.__module__ = "datetime"
        setattr(datetime, name, kind)

    os.times = lambda: os.times_result((time.process_time(), 0.0, 0.0, 0.0, time.monotonic()))
    uuid._generate_time_safe = None
    state.entropy = random.Random(0)
    seed = random.Random.seed
    random.Random.seed = lambda self, a=None, version=2: seed(self, 0 if a is None else a, version)
    os.urandom = random._urandom = entropy
    random.seed = random._inst.seed
