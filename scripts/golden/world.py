"""A folder with a home, scripted models and charters, and the binary run in it: for `scripts/golden-homes`."""

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]

# The binary writes down where a script, a charter and material lie, as whole paths, so that a run goes on from any folder.
# A home that is committed must go on in any folder too. So its runs begin with paths through this link, which is
# whatever folder the process stands in.
HERE = "/proc/self/cwd"

# `realpath` would resolve that link. While homes are written, the answer for what lies in the folder is the path through it.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *realpath(const char *restrict path, char *restrict resolved) {
    char *(*next)(const char *, char *) = (char *(*)(const char *, char *))dlsym(RTLD_NEXT, "realpath");
    char *real = next(path, resolved);
    const char *here = getenv("GOLDEN_HERE");
    size_t length = here ? strlen(here) : 0;
    if (!real || !length || strncmp(real, here, length) || real[length] != '/') return real;
    const char *rest = real + length;
    // What the home hands to other processes must not depend on where they stand.
    if (!strncmp(rest, "/home/", 6) || !strcmp(rest, "/home")) return real;
    char *named = resolved ? resolved : malloc(PATH_MAX);
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "/proc/self/cwd%s", rest);
    strcpy(named, whole);
    if (!resolved) free(real);
    return named;
}
"""

TOKEN = "sandbox-token"

# Exit codes of a run that came to an end, or waits for a person.
ENDED = (0, 3, 4)


class Failed(Exception):
    """Something went otherwise than it must."""


def reply(text, match=None, **more):
    """A line of a script that answers with a text, or with a value as JSON."""
    text = text if isinstance(text, str) else json.dumps(text)
    return {**({"match": match} if match else {}), "reply": text, **more}


def calls(*wanted, **more):
    """A line that has tools called."""
    return {"tool_calls": [{"name": name, "arguments": arguments} for name, arguments in wanted], **more}


def refused(status=401, **more):
    """A line that fails. 401 is an outage: someone must mend it, and the run waits."""
    return {"error": {"status": status, "message": "who are you?"}, **more}


# What would never come in time: whoever waits for it is stopped.
LATE = {"delay_ms": 600_000}


class Binary:
    """The binary, and how it is kept away from this machine's settings."""

    def __init__(self, path, shim=None):
        self.path = str(Path(path).resolve())
        self.shim = shim
        self.scratch = tempfile.mkdtemp(prefix="fathom-golden-")

    def environment(self, folder, more=None):
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "HOME", "TMPDIR") if key in os.environ}
        kept.update(
            FATHOM_HOME="home",
            FATHOM_MODELS=f"{self.scratch}/no-weights",
            FATHOM_INTERPRETER="monty",
            FATHOM_PLATFORM_TOKEN=TOKEN,
            XDG_CACHE_HOME=f"{self.scratch}/cache",
        )
        if self.shim:
            kept.update(LD_PRELOAD=self.shim, GOLDEN_HERE=str(folder.resolve()))
        kept.update(more or {})
        return kept

    def start(self, folder, arguments, stdin=subprocess.DEVNULL, more=None):
        return subprocess.Popen(
            [self.path, *arguments],
            cwd=folder,
            env=self.environment(folder, more),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, folder, arguments, stdin=None, more=None):
        """Runs a command with `--json`: its exit code, its object and what it said."""
        pipe = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        child = self.start(folder, [*arguments, "--json"], pipe, more)
        out, said = child.communicate(stdin, timeout=120)
        try:
            return child.returncode, json.loads(out), said
        except ValueError:
            raise Failed(f"{' '.join(arguments)}: exit {child.returncode}\n{out}\n{said}") from None

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)


def preload(folder):
    """Builds the shim."""
    source = Path(folder) / "shim.c"
    source.write_text(SHIM)
    library = Path(folder) / "shim.so"
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return str(library)


class World:
    """One home that is being written, with all that its unfinished runs need beside it."""

    def __init__(self, binary, folder):
        self.binary = binary
        self.folder = folder
        self.steps = []
        # Scripts that no unfinished run needs.
        self.passing = set()
        folder.mkdir(parents=True)

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def script(self, name, lines):
        self.write(name, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))

    def charter(self, name, built_in, replaced):
        """A copy of a built-in charter, with some of its words replaced."""
        shutil.copytree(TREE / "charters" / built_in, self.folder / name)
        texts = {file: file.read_text() for file in (self.folder / name).rglob("*") if file.is_file()}
        for old, new in replaced.items():
            if not any(old in text for text in texts.values()):
                raise Failed(f"`{old}` is nowhere in the charter {built_in}")
            texts = {file: text.replace(old, new) for file, text in texts.items()}
        for file, text in texts.items():
            file.write_text(text)

    def drop(self, name):
        """Takes away what no unfinished run needs."""
        path = self.folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    def fathom(self, *arguments, exits=0, stdin=None, more=None):
        code, said, told = self.binary.run(self.folder, list(arguments), stdin, more)
        if code not in (ENDED if exits is None else (exits,)):
            raise Failed(f"{self.folder.name}: {' '.join(arguments)}: exit {code}\n{said}\n{told}")
        return said

    def asks(self, lines, *arguments, exits=0, stdin=None, script="answers.jsonl", more=None):
        """Begins a run with a model that says these lines, and waits for its end. Gives its result."""
        self.script(script, lines)
        self.passing.add(script)
        model = ["--model", f"script/{script}", "--no-resume"]
        return self.fathom(*arguments, *model, exits=exits, stdin=stdin, more=more)

    def stops(self, lines, later, *arguments, script, stdin=None, resumes=True, more=None):
        """Begins a run that waits for somebody to mend its model; later the model says other lines."""
        said = self.asks(lines, *arguments, exits=5, stdin=stdin, script=script, more=more)
        return self.left(said["run"], later, script, resumes)

    def killed(self, lines, later, *arguments, script, until, times=1, how=signal.SIGKILL, stdin=None, more=None):
        """Begins a run and ends its process once a record of it was told so often."""
        self.script(script, lines)
        before = self.runs()
        model = ["--model", f"script/{script}", "--no-resume", "--json", "-v"]
        pipe = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        child = self.binary.start(self.folder, [*arguments, *model], pipe, more)
        if stdin is not None:
            with contextlib.closing(child.stdin) as file:
                file.write(stdin)
            child.stdin = None
        told = []
        for line in child.stderr:
            told.append(line)
            if sum(bool(re.search(until, one)) for one in told) >= times:
                break
        else:
            raise Failed(f"{' '.join(arguments)}: it ended before `{until}`:\n{''.join(told)}")
        child.send_signal(how)
        child.communicate(timeout=60)
        new = [run["run"] for run in self.runs() if run["run"] not in {one["run"] for one in before}]
        if len(new) != 1:
            raise Failed(f"{' '.join(arguments)}: {len(new)} runs are new")
        return self.left(new[0], later, script)

    def left(self, run, later, script, resumes=True):
        self.script(script, later)
        self.passing.discard(script)
        if resumes:
            self.steps.append({"word": "resume", "run": run})
        return run

    def waits(self, lines, *arguments, script, words):
        """Begins a run that waits for a person; later it gets these words, one after the other."""
        said = self.asks(lines, *arguments, exits=3, script=script)
        self.passing.discard(script)
        self.steps += [{"word": word, "run": said["run"]} for word in words]

    def runs(self):
        if not (self.folder / "home").exists():
            return []
        return self.fathom("runs", "--limit", "1000")["runs"]

    def settle(self, said, word="approve", *more):
        """Gives a person's word on what a run asks, while the home is written. Gives how it came back."""
        asked = [one["id"] for one in self.fathom("approvals")["approvals"] if one["run"] == said["run"]]
        if not asked:
            raise Failed(f"{self.folder.name}: {said['run']} asks for nothing: {said['status']} {said['stop_reason']}")
        return self.fathom(word, asked[0], *more, exits=None)["results"][0]

    def approve_all(self, said):
        """Says yes until nothing more is asked."""
        while said["stop_reason"] == "awaiting_approval":
            said = self.settle(said)
        return said

    def close(self):
        """Folds the logs of the databases into them, and takes away what can be made anew."""
        for script in self.passing:
            (self.folder / script).unlink(missing_ok=True)
        home = self.folder / "home"
        for made_anew in ("locks", "shell"):
            shutil.rmtree(home / made_anew, ignore_errors=True)
        for cache in home.glob("vectors.db*"):
            cache.unlink()
        for database in home.glob("*.db"):
            with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as opened:
                opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                opened.execute("VACUUM")
                opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            for rest in ("-wal", "-shm"):
                Path(f"{database}{rest}").unlink(missing_ok=True)
