# The base process: it loads the standard library, locks itself in, and from then on only forks.
#
# Descriptor 0 is its control socket, whose messages come from the host and are trusted. Material is data. Code of a
# model runs only in `session.py`, after `enter_session`.
import sys
sys.path[:] = [folder for folder in sys.path if folder]

sys.modules["_hashlib"] = None  # Python's own hashes do; those of OpenSSL would take two megabytes.
import __future__, builtins, gc, json, mmap, os, resource, signal, socket, types
import abc, array, ast, base64, binascii, bisect, calendar, cmath, codecs, collections, collections.abc, colorsys
import concurrent.futures, concurrent.futures.thread, contextlib, contextvars, copy, csv, ctypes, dataclasses, datetime
import decimal, difflib, enum, fractions, functools, hashlib, heapq, html, html.entities, html.parser, inspect, io
import itertools, keyword, linecache, locale, logging, math, numbers, operator, pprint, queue, random, re, reprlib
import secrets, statistics, string, struct, textwrap, threading, time, token, tokenize, traceback, typing, unicodedata
import timeit, urllib.parse, uuid, warnings, weakref, zlib, _strptime

import fcntl, importlib, importlib.machinery, marshal, pkgutil, select, _posixsubprocess
# What other modules load late, and what a cell may name in `str.encode`.
for name in ("graphlib", "shlex", "fnmatch", "ipaddress",
             "xml.etree.ElementTree", "types", "sched", "glob", "pathlib",
             "stringprep"):
    try:
        importlib.import_module(name)
    except Exception:
        pass
for name in ("ascii", "latin_1", "utf_8", "utf_8_sig", "utf_16", "utf_16_le", "utf_16_be", "utf_32", "cp1252", "cp437",
             "idna", "punycode", "unicode_escape", "raw_unicode_escape", "hex_codec", "base64_codec", "rot_13",
             "iso8859_1", "iso8859_15", "mac_roman", "charmap"):
    try:
        codecs.lookup(name)
    except Exception:
        pass
for name in ("md5", "sha1", "sha256", "sha512", "blake2b"):
    hashlib.new(name, b"x").hexdigest()
datetime.datetime.strptime("2024-01-01", "%Y-%m-%d")
re.compile(r"(?i)\bx+\b")

shelf = {}  # Modules that few cells want: their code, and whether they are packages.


def keep(name, path=None):
    """Keeps a module and what it holds. It is made where a cell imports it, which is when no file can be read any more."""
    found = importlib.machinery.PathFinder.find_spec(name, path)
    if found is None or not isinstance(found.loader, importlib.machinery.SourceFileLoader):
        return
    folders = found.submodule_search_locations
    shelf[name] = marshal.dumps(found.loader.get_code(name)), folders is not None
    for inner in pkgutil.iter_modules(folders or ()):
        keep(name + "." + inner.name, folders)


for name in ("argparse", "asyncio", "configparser", "email", "gettext", "gzip", "pickle", "quopri", "selectors", "subprocess", "tomllib", "uu",
             "_compat_pickle", "_compression"):
    keep(name)

MESSAGE_BYTES_MAX = 1 << 20
THREAD_STACK_BYTES = 1 << 20
NOBODY = 65534
DESCRIPTORS_MAX = 256
FORK_TRIES = 40
ROOM_BYTES_MIN = 1 << 28
ROOM_TIMES = 24
MAP_POPULATE = 0x8000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
LANDLOCK_CREATE, LANDLOCK_RESTRICT = 444, 446

nap = time.sleep  # Sessions get another.
libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """A step of the lockdown that the system does not grant."""


def check(result, what):
    if result < 0:
        raise Refused("%s: %s" % (what, os.strerror(ctypes.get_errno())))
    return result


def long(*values):
    return [ctypes.c_long(value) for value in values]


def prctl(option, value, what):
    check(libc.prctl(ctypes.c_int(option), *long(value, 0, 0, 0)), what)


def landlock():
    """Denies every right on files, on TCP ports, and on sockets and signals outside."""
    abi = libc.syscall(*long(LANDLOCK_CREATE, 0, 0, 1))
    check(abi, "landlock")
    files = 13 + (abi >= 2) + (abi >= 3) + (abi >= 5)
    rights = [(1 << files) - 1]
    if abi >= 4:
        rights.append(3)
    if abi >= 6:
        rights.append(3)
    rules = struct.pack("=%dQ" % len(rights), *rights)
    buffer = ctypes.create_string_buffer(rules, len(rules))
    ruleset = libc.syscall(ctypes.c_long(LANDLOCK_CREATE), buffer, ctypes.c_size_t(len(rules)), ctypes.c_long(0))
    check(ruleset, "landlock ruleset")
    check(libc.syscall(*long(LANDLOCK_RESTRICT, ruleset, 0)), "landlock restriction")
    os.close(ruleset)
    return abi


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


def seccomp(code):
    """Installs a filter that the host compiled."""
    buffer = ctypes.create_string_buffer(code, len(code))
    program = Program(len(code) // 8, ctypes.addressof(buffer))
    result = libc.prctl(ctypes.c_int(22), ctypes.c_long(2), ctypes.byref(program), *long(0, 0))
    check(result, "seccomp filter")


def limit(name, value):
    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def drop_root():
    """Root needs no rights here; as nobody it has none to lose, and its threads are counted."""
    if os.geteuid() != 0:
        return
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except OSError:
        pass  # A user namespace without that user: the filters hold all the same.


def drop_capabilities():
    head = struct.pack("=Ii", 0x20080522, 0)
    check(libc.capset(ctypes.c_char_p(head), ctypes.c_char_p(bytes(24))), "no capabilities")


def denied(what, attempt):
    try:
        attempt()
    except PermissionError:
        return
    except OSError as error:
        raise Refused("%s fails with %s instead of being denied" % (what, error.strerror))
    raise Refused("%s is not denied" % what)


def lock_in(setup):
    os.closerange(4, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    limit("RLIMIT_NOFILE", DESCRIPTORS_MAX)
    os.umask(0o777)
    # One arena: each further one reserves 64 MiB of the address space that is limited here.
    libc.mallopt(-8, 1)
    threading.stack_size(THREAD_STACK_BYTES)
    try:
        ctypes.CDLL("libgcc_s.so.1")  # The C library loads it when a thread ends early.
    except OSError:
        pass
    limit("RLIMIT_CORE", 0)
    limit("RLIMIT_FSIZE", 0)
    limit("RLIMIT_MEMLOCK", 0)
    limit("RLIMIT_NPROC", setup["threads_max"])
    drop_root()
    drop_capabilities()
    prctl(PR_SET_DUMPABLE, 0, "no dumps")
    prctl(PR_SET_NO_NEW_PRIVS, 1, "no new privileges")
    abi = landlock()
    for code in setup["base_filters"]:
        seccomp(bytes(code))
    denied("opening a file", lambda: os.open("/etc/passwd", os.O_RDONLY))
    denied("a socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
    denied("a process of another program", lambda: os.execv("/bin/true", ["true"]))
    return abi


# Control messages.

os.dup2(0, 3)
os.dup2(1, 0)
control = socket.socket(fileno=3)


def receive():
    data, descriptors, _, _ = socket.recv_fds(control, MESSAGE_BYTES_MAX, 4)
    if not data:
        os._exit(0)  # The host is gone, or needs this process no more.
    return json.loads(data), descriptors


def reply(message, descriptors=()):
    data = json.dumps(message).encode("utf-8", "replace")
    if descriptors:
        socket.send_fds(control, [data], descriptors)
    else:
        control.send(data)


# Material.

def read_json(text):
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=whole_number)


def whole_number(digits):
    """A number, or how it is written where it has more digits than Python reads."""
    try:
        return int(digits)
    except ValueError:
        return digits


def read_value(form, text):
    if form == "text":
        return text
    if form == "json":
        return read_json(text)
    values = []
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line.isspace():
            try:
                values.append(read_json(line))
            except ValueError as error:
                raise ValueError("line %d: %s" % (number, error)) from None
    return values


def read_material(material, descriptor):
    """Makes `context` of what lies in the given memory: one piece after the other, then what they are."""
    values, start = {}, 0
    lent = mmap.mmap(descriptor, material["bytes"] + material["index_bytes"], mmap.MAP_PRIVATE | MAP_POPULATE, mmap.PROT_READ)
    pieces = json.loads(lent[material["bytes"]:])
    view = memoryview(lent)
    for piece in pieces:
        try:
            with view[start:start + piece["bytes"]] as part:
                text = str(part, "utf-8")
            values[piece["name"]] = read_value(piece["form"], text)
        except Exception as error:
            raise ValueError("%s: %s" % (piece["name"], error)) from None
        start += piece["bytes"]
    view.release()
    lent.close()
    os.close(descriptor)
    if len(pieces) == 1:
        return next(iter(values.values()))
    return values


def with_room(size):
    """Limits what values may take that are made of so many bytes, or lifts the limit."""
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    room = most if size is None else base_bytes + ROOM_BYTES_MIN + size * ROOM_TIMES
    if most == resource.RLIM_INFINITY or room < most:
        resource.setrlimit(resource.RLIMIT_AS, (room, most))


def address_space(low, high):
    """Bytes of address space in use, found by asking for one page more: nothing of /proc can be read here."""
    page = mmap.PAGESIZE
    old = resource.getrlimit(resource.RLIMIT_AS)
    low, high = low // page, high // page
    while low < high:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_AS, (middle * page, old[1]))
        try:
            mmap.mmap(-1, page).close()
            high = middle
        except (OSError, MemoryError):
            low = middle + 1
    resource.setrlimit(resource.RLIMIT_AS, old)
    return low * page


# Forking.

def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def fork():
    """Forks, later where some session has begun too many threads: the host is about to end it."""
    for _ in range(FORK_TRIES):
        try:
            return fork_once()
        except BlockingIOError:
            nap(0.05)
    return fork_once()


def fork_once():
    """Forks with signals held back, so that no child is reaped before its descriptor is open."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    try:
        child = os.fork()
        descriptor = os.pidfd_open(child) if child else None
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    return child, descriptor


def become_template(message, descriptors):
    global control, context
    own, memory = descriptors
    control.close()
    control = socket.socket(fileno=own)
    try:
        with_room(message["material"]["bytes"])
        context = read_material(message["material"], memory)
        with_room(None)
    except BaseException as error:
        reply({"failed": str(error)[:2000] or type(error).__name__})
        os._exit(1)
    prepare()
    reply({"ready": True})


def prepare():
    """Makes all that a session needs and that is the same for every session of this process."""
    global base_bytes
    gc.collect()
    libc.malloc_trim(0)
    gc.freeze()
    base_bytes = address_space(base_bytes, 1 << 47)


def enter_session(message, descriptors):
    global context
    parent = os.getppid()
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL, "end with the parent")
    if os.getppid() != parent:
        os._exit(1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    used = base_bytes
    if message["material"] is not None:
        context = read_material(message["material"], descriptors[1])
        used = address_space(base_bytes, base_bytes + (1 << 30))
    control.close()
    os.dup2(descriptors[0], 3)
    os.closerange(4, DESCRIPTORS_MAX)
    limit("RLIMIT_NOFILE", 16)
    limit("RLIMIT_AS", used + message["memory"])
    # Whatever the threads of sessions take, there is room to begin another session.
    limit("RLIMIT_NPROC", setup["threads_max"] * 3 // 4)
    for code in session_filters:
        seccomp(bytes(code))
    run_session(context)


def serve():
    while True:
        message, descriptors = receive()
        try:
            child, process = fork()
        except OSError as error:
            reply({"failed": "fork: %s" % error.strerror})
            for descriptor in descriptors:
                os.close(descriptor)
            continue
        if not child:
            try:
                if message["kind"] == "session":
                    enter_session(message, descriptors)
                else:
                    become_template(message, descriptors)
                    continue
            finally:
                if message["kind"] == "session":
                    os._exit(1)
        reply({"process": child}, [process])
        for descriptor in descriptors + [process]:
            os.close(descriptor)


context = None
base_bytes = 0
setup = json.loads(control.recv(MESSAGE_BYTES_MAX))
try:
    if sys.version_info < (3, 9) or not hasattr(os, "pidfd_open"):
        raise Refused("Python %d.%d is too old, or was built on a system that is" % sys.version_info[:2])
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, name, io.StringIO())
    abi = lock_in(setup)
    session_filters = setup["session_filters"]
    signal.signal(signal.SIGCHLD, reap)
    exec(compile(setup["session"], "<fathom>", "exec"), globals())
    prepare_session()
    prepare()
except BaseException as error:
    reply({"refused": str(error)[:2000] or type(error).__name__})
    os._exit(1)
reply({"version": "%d.%d.%d" % sys.version_info[:3], "landlock": abi})
serve()
