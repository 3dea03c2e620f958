# The same for Monty, which has no modules to dig for and no way to the kernel.
try:
    import os, sys
except ImportError:
    pass

FILE = "@FILE@"
FOLDER = "@FOLDER@"
UNIX = "@UNIX@"
TCP = int("@TCP@")
UDP = int("@UDP@")
VICTIM = int("@VICTIM@")
HOST = int("@HOST@")
ARM = "@ARCH@" == "aarch64"


def attempt(what, act):
    try:
        got = act()
    except BaseException as error:
        print("refused", what, type(error).__name__)
    else:
        print("BREACH", what, repr(got)[:200])


def call(what, intel, arm, *arguments):
    print("refused", what, "no way to the kernel")
