"""The rows of `benches/rlm.rs` on those it is compared with, against the same model server.

Whoever cannot run here says so. What stands after `CODE:` in the question is what the scripted model replies as its
code. What may not end, needs a cap or is killed runs in a process of its own, against a model server of ours that
counts, fails and names prices.
"""

import argparse
import importlib
import json
import os
import signal
import statistics
import sys
import time

from rlm_aside import Aside, Listener, Model, run_aside

SHORT = "a short context"
KEY = "sk-bench-000000000000000000000000"
# How long a row that should stop is watched, in seconds.
LOOP_WATCHED = 10
CAP_WATCHED = 20
CHILDREN_WATCHED = 60
LARGE_WATCHED = 120
START_WATCHED = 120


def row(peer, what, seen):
    print(f"{f'{peer}: {what}':<52} {seen:>26}", flush=True)


class Peer:
    """One of those we are compared with."""

    def __init__(self, name):
        self.name = name
        self.module = importlib.import_module(f"peer_{name}")

    def row(self, what, seen):
        row(self.name, what, seen)

    def code(self, lines, answer):
        """A cell that does this and ends the run with that."""
        return f"{lines}\n{self.module.done(answer)}".replace("\n", ";;")

    def run(self, url, code, context=SHORT):
        return str(self.module.run(url, code, context, "none", {}))

    def timed(self, url, first, second):
        """How long the two took in their cell, in seconds: what starts and ends a run is in the first row."""
        now = "time.perf_counter()"
        lines = f"import time\nbegin = {now}\n{first}\nthen = {now}\n{second}\nend = {now}"
        took = self.run(url, self.code(lines, "[then - begin, end - then]"))
        return json.loads(took)

    def aside(self, model, code, watched, **asked):
        """The same in a process of its own, which is ended when it is not done in time."""
        asked = {"peer": self.name, "url": model.url, "code": code, **asked}
        return run_aside(asked, model, START_WATCHED, watched)


EACH = "for n in range(1000): llm_query(f'part {n}')"


def batch(count):
    return f"replies = llm_query_batched([f'part {{n}}' for n in range({count})])"


def speed(peer, given):
    one = peer.code("reply = llm_query('a')", "reply")
    peer.run(given.zero, one)
    warm = []
    for _ in range(3):
        begin = time.perf_counter()
        assert peer.run(given.zero, one) == "fine", "no answer"
        warm.append(time.perf_counter() - begin)
    peer.row("warm run with one sub-call", f"{statistics.median(warm):.3f} s")
    each, batched = peer.timed(given.zero, EACH, batch(1000))
    peer.row("per sub-call at 0 ms, one after the other, n=1000", f"{each:.3f} ms")
    peer.row("per sub-call at 0 ms, batched, n=1000", f"{batched:.3f} ms")
    hundred, thousand = peer.timed(given.fifty, batch(100), batch(1000))
    peer.row("100 batched at 50 ms", f"{hundred:.3f} s")
    peer.row("1000 batched at 50 ms", f"{thousand:.3f} s")


def size(peer, given):
    with Model() as model:
        ran = peer.aside(model, peer.code("", "len(context)"), LARGE_WATCHED, large=given.large)
    right = ran.answer == str(os.path.getsize(given.large))
    took = f"{ran.seconds:.3f} s" if right else ran.said()
    peer.row("100 MB run, one cell", took)
    peer.row("  PSS at most of all its processes with it", f"{ran.pss_mb:.0f} MB")


def children(peer, given):
    del given
    with Model() as model:
        ran = peer.aside(model, None, CHILDREN_WATCHED, children=100)
        begun = model.roots - 1
    if ran.answer is None:
        seen = f"{begun} begun, {ran.said()}"
    else:
        seen = f"{ran.answer} right, {100 - int(ran.answer)} failed, {ran.seconds:.1f} s"
    peer.row("100 parallel child RLMs", seen)


def caps(peer, given):
    del given
    for cap, most, what in [("tokens", 1000, "token cap of 1000"), ("money", 0.001, "money cap of $0.001")]:
        if cap not in peer.module.CAPS:
            peer.row(f"{what}, 100 batched", "none")
            continue
        with Model() as model:
            ran = peer.aside(model, peer.code(batch(100), "len(replies)"), CAP_WATCHED, caps={cap: most})
            spent = f"{model.tokens} spent" if cap == "tokens" else f"${model.dollars:.4f} spent"
        peer.row(f"{what}, 100 batched", f"{spent}, {ran.said()}")
    what = "time cap of 5 s, 1000 at 50 ms one after the other"
    if "time" not in peer.module.CAPS:
        peer.row(what, "none")
    else:
        with Model(latency=0.05) as model:
            ran = peer.aside(model, peer.code(EACH, "n"), CAP_WATCHED, caps={"time": 5})
        peer.row(what, ran.said())
    with Model() as model:
        ran = peer.aside(model, "while True: pass", LOOP_WATCHED)
    peer.row("`while True: pass` in a cell", ran.said())


# Python first, then what a cell in Pyodide could have of the JavaScript around it.
REACH = """
def passwd():
    try: return open('/etc/passwd').read()
    except Exception: return __import__('js').Deno.readTextFileSync('/etc/passwd')
def connect():
    try: __import__('socket').create_connection(('127.0.0.1', PORT), 5)
    except Exception: __import__('pyodide.ffi').ffi.run_sync(__import__('js').fetch('http://127.0.0.1:PORT/'))
def environment():
    try: return __import__('os').environ['OPENAI_API_KEY']
    except Exception: return __import__('js').Deno.env.get('OPENAI_API_KEY')
def memory():
    held = [list(o.values()) for o in __import__('gc').get_objects() if isinstance(o, dict)]
    return [v for vs in held for v in vs if isinstance(v, str) and v[:9] == 'sk-' + 'bench-' and len(v) == LENGTH]
def tried(attempt):
    try: return str(attempt())
    except Exception as error: return type(error).__name__
got = [tried(attempt) for attempt in [passwd, connect, environment, memory]]
"""


def reach(peer, given):
    """What a cell gets at that is none of its business."""
    del given
    with Model() as model, Listener() as listener:
        lines = REACH.strip().replace("PORT", str(listener.port)).replace("LENGTH", str(len(KEY)))
        ran = peer.aside(model, peer.code(lines, "__import__('json').dumps(got)"), CAP_WATCHED, key=KEY)
        called = listener.called()
    passwd, _, environment, memory = json.loads(ran.answer) if ran.answer else [ran.said()] * 4
    seen = {
        "reads /etc/passwd": "root:" in passwd,
        "opens a socket": called,
        "sees the API key in its environment": KEY in environment,
        "sees the API key in memory": KEY in memory,
    }
    for what, reached in seen.items():
        peer.row(what, ("yes" if reached else "no") if ran.answer else ran.said())


FAILS = """
def tried(ask):
    try: return 'text: ' + ask()
    except Exception as error: return 'exception: ' + type(error).__name__
got = [tried(lambda: llm_query('a')), tried(lambda: llm_query_batched(['a'])[0])]
"""


def failures(peer, given):
    """What the code in a cell gets when the model's server is out of order."""
    del given
    with Model(fails=True) as model:
        ran = peer.aside(model, peer.code(FAILS.strip(), "__import__('json').dumps(got)"), CAP_WATCHED)
    one, batched = json.loads(ran.answer) if ran.answer else [ran.said()] * 2
    peer.row("a failed sub-call", one[:50])
    peer.row("  the same in a batch", batched[:50])


def crash(peer, given):
    """Killed in the middle of a batch, and asked the same again, since it takes nothing that says where it was."""
    del given
    code = peer.code(batch(1000), "len(replies)")
    with Model(latency=0.05) as model:
        peer.aside(model, code, CAP_WATCHED, until=100)
        before = set(model.prompts)
    with Model() as model:
        peer.aside(model, code, CAP_WATCHED)
        again = before & set(model.prompts)
    peer.row("kill -9 in a batch, then run again", f"{len(again)} of {len(before)} calls repeated")


def main():
    # A process of its own, which gets what it does on its input.
    if sys.argv[1:] == ["aside"]:
        asked = json.load(sys.stdin)
        Aside(importlib.import_module(f"peer_{asked['peer']}"), asked, SHORT).print()
        return
    arguments = argparse.ArgumentParser()
    arguments.add_argument("peer", choices=["rlms", "dspy"])
    arguments.add_argument("--zero", required=True)
    arguments.add_argument("--fifty", required=True)
    arguments.add_argument("--large", required=True)
    given = arguments.parse_args()
    try:
        peer = Peer(given.peer)
    except ImportError as error:
        sys.exit(f"{given.peer} is not installed: {error}")
    # Whoever ends this one ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    peer.module.ready()
    for rows in [speed, size, children, caps, reach, failures, crash]:
        rows(peer, given)


if __name__ == "__main__":
    main()
