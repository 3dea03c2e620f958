"""The rows of `benches/rlm.rs` on those it is compared with, against the same model server.

Whoever cannot run here says so. What stands after `CODE:` in the question is what the scripted model replies as its
code. What may not end, needs a cap or is killed runs in a process of its own, against a model server of ours that
counts, fails and names prices.
"""

import argparse
import importlib
import importlib.metadata
import json
import os
import pathlib
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


# The same tries as on ours.
REACH = pathlib.Path(__file__).with_name("reach.py").read_text()
FAILS = pathlib.Path(__file__).with_name("fails.py").read_text()


def lines_of(code):
    """Without what is said about it."""
    return "\n".join(line for line in code.splitlines() if not line.startswith("#"))


class Peer:
    """One of those we are compared with."""

    def __init__(self, name):
        self.name = name
        self.module = importlib.import_module(f"peer_{name}")
        self.title = f"{self.module.TITLE} {importlib.metadata.version(name)}"

    def row(self, what, seen):
        print(json.dumps({"peer": self.title, "what": what, "seen": seen}), flush=True)

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
    peer.row("  PSS of all its processes with it", f"{ran.pss_mb:.0f} MB")


def children(peer, given):
    del given
    with Model() as model:
        ran = peer.aside(model, None, CHILDREN_WATCHED, children=100)
        begun = model.roots - 1
    if ran.answer is None:
        seen = f"{begun} of 100 begun, {ran.said()}"
    else:
        seen = f"{ran.answer} of 100 right, {ran.seconds:.1f} s"
    peer.row("parallel child RLMs", seen)


def caps(peer, given):
    del given
    for cap, most, count, what in [
        ("tokens", 1000, 100, "token cap of 1000, 100 batched"),
        ("money", 0.001, 1000, "money cap of $0.001, 1000 batched"),
    ]:
        if cap not in peer.module.CAPS:
            peer.row(what, "none")
            continue
        with Model() as model:
            ran = peer.aside(model, peer.code(batch(count), "len(replies)"), CAP_WATCHED, caps={cap: most})
            spent = f"{model.tokens} spent" if cap == "tokens" else f"${model.dollars:.6f} spent"
        peer.row(what, f"{spent}, {ran.said()}")
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


def reach(peer, given):
    """What a cell gets at that is none of its business."""
    del given
    with Model() as model, Listener() as listener:
        lines = lines_of(REACH).replace("PORT", str(listener.port)).replace("LENGTH", str(len(KEY)))
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


def failures(peer, given):
    """What the code in a cell gets when the model's server is out of order."""
    del given
    with Model(fails=True) as model:
        ran = peer.aside(model, peer.code(lines_of(FAILS), "__import__('json').dumps(got)"), CAP_WATCHED)
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
    peer.row("kill -9 in a batch, then on from there", f"starts over, {len(again)} of {len(before)} calls repeated")


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
