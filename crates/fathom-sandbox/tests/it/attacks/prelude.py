# What every attack may use. It runs in the attacked session, as its first cell.
# `BREACH` is the word that must never be printed.
import os, sys

FILE = "@FILE@"        # a file with a secret
FOLDER = "@FOLDER@"    # the folder that it is in
UNIX = "@UNIX@"        # a socket that someone listens on
TCP = int("@TCP@")     # ports that someone listens on
UDP = int("@UDP@")
VICTIM = int("@VICTIM@")  # a process of the same user
HOST = int("@HOST@")   # the process that owns this sandbox
ARM = "@ARCH@" == "aarch64"


def attempt(what, act):
    """Does what must not be possible."""
    try:
        got = act()
    except OSError as error:
        # The kernel's word must be no: that there is nothing of the kind may be luck. Descriptors are closed, and numbers
        # below zero are words of the C library, which could not ask.
        refused = error.errno in (None, 1, 9, 13, 38) or error.errno < 0
        print("refused" if refused else "BREACH", what, error)
    except BaseException as error:
        print("refused", what, type(error).__name__)
    else:
        print("BREACH", what, repr(got)[:200])


def dig():
    """Puts modules back that were taken out of sight. Whatever is still in memory counts as found."""
    import gc

    gc.unfreeze()
    module = type(sys)
    for thing in gc.get_objects():
        if type(thing) is module:
            sys.modules.setdefault(thing.__name__, thing)
    if "ctypes" not in sys.modules:
        for kind in object.__subclasses__():
            if kind.__module__ == "ctypes" and kind.__name__ == "CDLL":
                found = module("ctypes")
                vars(found).update(kind.__init__.__globals__)
                sys.modules["ctypes"] = found


dig()


def native():
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def raw(number, *arguments):
    """Asks the kernel itself; the answer, or the error as a negative number."""
    import ctypes

    passed = []
    for argument in arguments:
        if isinstance(argument, int):
            argument = ctypes.c_long(argument)
        passed.append(argument)
    got = native().syscall(ctypes.c_long(number), *passed)
    return got if got >= 0 else -ctypes.get_errno()


def call(what, intel, arm, *arguments):
    """A system call that the kernel must refuse, whatever its arguments: EPERM, EACCES or ENOSYS."""
    number = arm if ARM else intel
    if number is None:
        print("refused", what, "nothing of this name")
        return
    try:
        got = raw(number, *arguments)
    except BaseException as error:
        print("refused", what, type(error).__name__)
        return
    print("refused" if got in (-1, -13, -38) else "BREACH", what, got)


def frame(body):
    """A message as the host reads it."""
    import json

    if not isinstance(body, (bytes, bytearray)):
        body = json.dumps(body).encode()
    return len(body).to_bytes(4, "@ENDIAN@") + body


def flood(data, least=0, most=256):
    """Writes to whatever is open."""
    for number in range(least, most):
        try:
            os.set_blocking(number, True)
        except BaseException:
            pass
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(number, view):]
        except BaseException:
            pass
