"""Golden homes of the programs that only think: what each holds."""

import json
import signal

from world import HERE, LATE, refused, reply

PLAIN = 'protocol = "1.0.0"\nname = "{name}"\nversion = "1.0.0"\n'

ANSWER = reply("forty-two", times=9)
JUDGE = "judge an answer"


def ask(world):
    """`direct` and its reviewer."""
    asks = world.asks
    asks([ANSWER], "ask", "What is it?")
    world.write("notes/a.md", "alpha\n")
    asks([ANSWER], "ask", "What is in it?", "--context", "notes", "--system", "Be brief.", "--no-stream")
    reviewed = ["ask", "What is it?", "--review", "be kind"]
    asks([reply("PASS it is kind", JUDGE), ANSWER], *reviewed)
    mended = [reply("FAIL it is rude", JUDGE), reply("PASS it is kind", JUDGE), reply("kind", "A reviewer found"), reply("rude")]
    asks(mended, *reviewed, exits=None)
    for verdict in ("FAIL it is rude", "Well, who knows.", ""):
        asks([reply(verdict, JUDGE, times=9), ANSWER], *reviewed, exits=3)
    for status in (400, 403):
        asks([refused(status, match=JUDGE, times=9), ANSWER], *reviewed, exits=3)
    # Failures of the model itself.
    asks([refused(429) | {"error": {"status": 429, "retry_after_s": 0.1}}, refused(503), ANSWER], "ask", "What is it?")
    asks([refused(413)], "ask", "What is it?", exits=None)
    asks([reply("", times=9)], "ask", "What is it?", exits=4)
    asks([reply("a long answer " * 60, times=9)], "ask", "What is it?", "--max-output", "16", exits=None)
    asks([reply("short", usage={"input_tokens": 9_000, "output_tokens": 9_000})], "ask", "What is it?", exits=None)
    # Budgets.
    for budget in ("tokens=20", "calls=0", "time=1s"):
        slow = [reply("late", delay_ms=3_000, times=9)]
        asks(slow if "time" in budget else [ANSWER], "ask", "What is it?", "--budget", budget, exits=None)
    for budget in ("tokens=1200", "tokens=3000", "calls=1", "calls=2", "episodes=1"):
        asks([reply("PASS", JUDGE), ANSWER], *reviewed, "--budget", budget, exits=None)
    # What a reviewer needs, refused in each way.
    for name, recursion in [
        ("deep", "max_depth = 0"),
        ("alone", "max_children = 0"),
        ("listed", 'allowed_child_types = ["task"]'),
        ("forbidden", 'forbidden_child_types = ["critique"]'),
        ("classes", 'allowed_classes = ["work"]'),
        ("episodes", "max_total_episodes = 1"),
    ]:
        world.write(f"{name}/charter.toml", PLAIN.format(name=name) + f"\n[recursion]\n{recursion}\n")
        asks([reply("PASS", JUDGE), ANSWER], *reviewed, "--charter", f"{HERE}/{name}", exits=None)
        world.drop(name)
    # The kill switch, the end by a person's word, and a fork.
    world.fathom("kill", "--why", "a drill")
    asks([ANSWER], "ask", "Still there?", exits=None)
    world.fathom("kill", "--lift")
    gone = world.stops([refused()], [ANSWER], "ask", "Nobody waits for this.", script="gone.jsonl", resumes=False)
    world.fathom("cancel", gone, exits=None)
    forked = asks([reply("one way"), reply("another way")], "ask", "Which way?", script="forked.jsonl")
    world.fathom("fork", forked["run"], "--at", "1", "--no-resume", exits=None)
    # What did not end: an outage, two kinds of an end of the process, and a reviewer that was at work.
    world.stops([refused()], [reply("first")], "ask", "The first?", script="first.jsonl")
    late = [reply("late", **LATE)]
    world.killed(late, [reply("second")], "ask", "The second?", script="second.jsonl", until="call_model")
    world.killed(late, [reply("third")], "ask", "The third?", script="third.jsonl", until="call_model", how=signal.SIGINT)
    world.killed(
        [reply("late", JUDGE, **LATE), reply("fourth")],
        [reply("FAIL it is rude", JUDGE), reply("PASS", JUDGE), reply("fourth anew", "A reviewer found")],
        "ask", "The fourth?", "--review", "be kind",
        script="fourth.jsonl", until=r"^0\.0:.*call_model",
    )


def packets(world):
    """Parts of packets that are too long: they are shortened by the roles, or there is no way to."""
    roles = '[packet]\nmtu = 4096\n[roles.lite]\nmodel = "script/lite.jsonl"\n[roles.prime]\nmodel = "script/prime.jsonl"\n'

    def charter(name, lite, prime, persona="x" * 900):
        world.write(f"{name}/charter.toml", PLAIN.format(name=name) + roles)
        world.write(f"{name}/persona.toml", f'style_notes = "{persona}"\n')
        world.script(f"{name}/lite.jsonl", lite)
        world.script(f"{name}/prime.jsonl", prime)
        return ["--charter", f"{HERE}/{name}"]

    still = reply("still much too long " * 20, times=9)
    question = ["ask", "Is it so?"]
    world.asks([reply("yes")], *question, *charter("short", [reply("Be kind.")], []))
    world.asks([reply("yes")], *question, *charter("second", [still], [reply("Be kind.")]))
    world.asks([reply("yes")], *question, *charter("never", [still], [still]), exits=4)
    world.asks([reply("yes")], *question, *charter("broken", [refused(400)], [refused(400)]), exits=4)
    world.write("long.txt", "many words " * 2000)
    world.asks([reply("yes")], *question, "--context", "long.txt", *charter("large", [], [], "Be kind."), exits=4)
    for name in ("short", "second", "never", "broken", "large", "long.txt"):
        world.drop(name)
    # Lite cannot be had: who stands between is waited for, or Prime is asked.
    world.stops([refused()], [reply("first")], *question, *charter("first", [reply("Be kind.")], []), script="first.jsonl")
    world.killed(
        [reply("late")], [reply("second")], *question, *charter("held", [reply("Be kind.", **LATE)], []),
        script="second.jsonl", until="call_model",
    )
    world.script("held/lite.jsonl", [reply("Be kind.")])


ASKED = (
    "Should we move the customer database to the new cluster this quarter, considering cost, latency and the auth migration?"
)


SEATS = """
protocol = "1.0.0"
name = "{name}"
version = "1.0.0"

[budget]
tokens = 600_000
calls = 512
time = "10m"
episodes = 32

[recursion]
max_depth = 2
max_children = 8
max_total_episodes = 32
allowed_child_types = ["chief", "sub_chief"]
allowed_classes = ["work"]

[recursion.stop_conditions]
no_delta_children_max = 32
same_error_max = 32

[council]
depth = 1
passage_tokens = 300
instructions = "You sit on a council that decides a question by vote."
{more}

[council.detector]
score_min = 1
factors_min = 1
factor_openers = ["considering"]
factors = ["cost", "latency"]

[council.detector.domains]
security = ["auth"]
data = ["database"]

[[council.chief]]
id = "IT"
focus = "You look at whether it is sound to build."

[[council.chief.sub_chief]]
id = "security"
focus = "You look at who could gain access."
lexicon = ["auth", "security", "breach"]

[[council.chief.sub_chief]]
id = "network"
focus = "You look at the ways between systems."
lexicon = ["latency", "network"]

[[council.chief]]
id = "Data"
focus = "You look at whether data stays right."

[[council.chief.sub_chief]]
id = "schema"
focus = "You look at the shape of data."
lexicon = ["database", "migration"]

[[council.chief]]
id = "Ops"
focus = "You look at whether it can be paid."

[[council.chief.sub_chief]]
id = "cost"
focus = "You look at money."
lexicon = ["cost"]
"""

MEASURED = 'confidence = { samples = 3, temperature = 0.8 }\nsynthesis = "model"'


def vote(seat, word, confidence, why, **more):
    said = {"reasoning": why, "source": 1, "vote": word, "confidence": confidence}
    return reply(said, f"Your seat: {seat}", **more)


def asked_of_council(world):
    """A small council of the same form as the built-in one, which keeps the home small, and what it is asked."""
    garden = "".join(f"Row {n} of the garden was covered with straw.\n\n" for n in range(9))
    for number in range(5):
        weak = "Auth is weak: nine teams share one key, a breach of our own security rules.\n" if number == 3 else ""
        world.write(f"notes/{number}.md", garden + weak)
    world.write("small/charter.toml", SEATS.format(name="small", more=""))
    world.write("measured/charter.toml", SEATS.format(name="measured", more=MEASURED))
    return ["council", ASKED, "--context", "notes", "--charter", f"{HERE}/small"]


SPLIT = [vote("IT/security", "REJECT", 80, "one key", times=9), vote("", "APPROVE", 70, "it holds", times=99)]


def council(world):
    """`council`, `chief` and `sub_chief`."""
    council, split = asked_of_council(world), SPLIT
    world.asks(split, "council", ASKED, "--context", "notes")
    world.asks(split, *council)
    world.asks(split, *council)
    world.asks(split, *council, "--no-reuse", "--compare")
    world.asks(split, *council, "--max-depth", "0", "--no-reuse")
    world.asks(split, "council", "May we paint the door?", "--no-reuse", "--charter", f"{HERE}/small")
    world.asks(split, *council, "--budget", "calls=3", "--no-reuse", exits=3)
    world.asks(split, *council, "--budget", "tokens=9000", "--no-reuse", exits=None)
    world.drop("measured")
    # What did not end: while sub-chiefs spoke, and while chiefs did.
    late = vote("Data/", "APPROVE", 70, "late", times=99, **LATE)
    world.killed([late, *split], split, *council, "--no-reuse", script="first.jsonl", until="model_replied", times=2)
    world.killed([late, *split], split, *council, "--no-reuse", script="second.jsonl", until="model_replied", times=2, how=signal.SIGINT)
    late = vote("Data", "APPROVE", 70, "late", times=99, **LATE)
    world.killed([late, *split], split, *council, "--no-reuse", "--max-depth", "0", script="third.jsonl", until="model_replied")
    world.drop("notes")


def votes(world):
    """Councils whose votes are missing, cannot be read, tie, or are drawn more than once."""
    council, split = asked_of_council(world), SPLIT
    bad = [
        reply("I think so.", "Your seat: IT/security", times=9),
        reply({"vote": "MAYBE", "confidence": 50, "reasoning": "?"}, "Your seat: IT/network", times=9),
        refused(400, match="Your seat: Data/", times=99),
        reply("", "Your seat: Ops/cost", times=9),
        refused(503, match="Your seat: Ops/", times=99),
    ]
    world.asks([*bad, *split], *council, "--no-reuse", exits=None)
    world.asks([reply("No.", times=999)], *council, "--no-reuse", exits=None)
    tied = [vote("IT", "REJECT", 80, "no", times=99), vote("Data", "APPROVE", 80, "yes", times=99), vote("Ops", "ABSTAIN", 80, "?", times=99)]
    world.asks(tied, *council, "--max-depth", "0", "--no-reuse", exits=None)
    # Confidence that is measured, and reasons that a model puts together.
    drawn = [vote("IT/security", "REJECT", 60, "one key", times=2), *split]
    together = reply("Most of them hold that it is sound.", times=99)
    world.asks([*drawn, together], *council[:-1], f"{HERE}/measured", "--no-reuse", exits=None)
    # What did not end: while votes were drawn.
    late = [vote("IT/security", "REJECT", 60, "one key"), vote("", "APPROVE", 70, "late", times=99, **LATE)]
    measured = [*council[:-1], f"{HERE}/measured", "--no-reuse"]
    world.killed(late, [*split, together], *measured, script="first.jsonl", until="model_replied")
    world.drop("notes")


# What a child of a cell is asked.
CHILD = r"The question:\n(Which one|A|B)\?"


def cell(code, match=None, **more):
    return reply(f"```repl\n{code}\n```", match, **more)


LOG = "".join("web-3 FAILED disk is gone\n" if n == 77 else f"web-{n % 7} ok, {n} requests\n" for n in range(400))
ROWS = "".join(json.dumps({"n": n, "kind": "refund" if n % 3 else "login", "text": f"ticket {n}"}) + "\n" for n in range(60))


def rlm(world):
    """`rlm` with cells, leaf calls and children, and the plain call."""
    log = LOG
    rlm = ["rlm", "Which host failed?", "--context", "-", "--repl"]

    def on(lines, *more, stdin=log, exits=0, **rest):
        return world.asks(lines, *rlm, *more, stdin=stdin, exits=exits, **rest)

    leaf = reply("web-3", "user: only this", times=99)
    on([cell("hits = [l for l in context.split('\\n') if 'FAILED' in l]\nprint(hits)"), cell("SUBMIT(hits[0].split()[0])")])
    batch = "r = llm_query_batched(['only this ' + str(n) for n in range(4)])\nprint(r)\nSUBMIT(llm_query('only this'))"
    on([leaf, cell(batch)])
    failing = "for one in llm_query_batched(['bad', 'only this', '']):\n    print(type(one).__name__, one)\nllm_query('bad')"
    on([leaf, refused(400, match="user: bad", times=9), cell(failing), cell("SUBMIT(1)")], exits=None)
    child = "print(rlm_query('Which one?', context=context[:2000]))\nr = rlm_query_batched(['A?', 'B?'], contexts=['aaa', 'bbb'])\nSUBMIT(str(r))"
    on([cell("SUBMIT('part')", CHILD, times=9), cell(child)], exits=None)
    on([cell(child)] * 9, "--max-depth", "0", "--turns", "3", exits=None)
    on([reply("I would look first."), reply(""), cell("1 / 0"), cell("print(1)"), cell("print(1)"), cell("print(" + "'x' * 90_000)"), cell("SUBMIT('web-3')")], exits=None)
    on([cell("while True: pass"), cell("SUBMIT('web-3')")], "--cell-time", "0.5", exits=None)
    on([cell("answer['content'] = 'perhaps web-3'"), cell("print(1)"), reply("I would look further.", times=9)], "--turns", "3", exits=3)
    on([reply("I would look further.", times=9)], "--turns", "2", exits=None)
    on([cell("print(2)", times=9)], "--budget", "calls=3", exits=None)
    on([cell("FINAL('web-3')")], exits=None)
    world.write("schema.json", '{"type": "object", "properties": {"host": {"type": "string"}}, "required": ["host"]}')
    on([cell("SUBMIT('web-3')"), cell("SUBMIT({'host': 'web-3'})")], "--schema", "schema.json")
    on([cell("SUBMIT('web-3')", times=9)], "--schema", "schema.json", "--turns", "3", exits=None)
    plain = ["rlm", "Which?", "--context", "-", "--schema", "schema.json"]
    world.asks([reply("It is web-3."), reply({"host": "web-3"})], *plain, stdin="web-3 failed")
    world.asks([reply("It is web-3.", times=9)], *plain, stdin="web-3 failed", exits=None)
    world.drop("schema.json")
    # What did not end: an outage between two cells, and the end of the process among leaf calls.
    first = cell("kept = [l for l in context.split('\\n') if 'FAILED' in l]\nprint(kept, llm_query('only this'))")
    later = cell("SUBMIT(kept[0].split()[0])", "FAILED disk")
    world.stops([leaf, first, refused()], [leaf, later], *rlm, stdin=log, script="first.jsonl")
    half = "r = llm_query_batched(['only this', 'held back'])\nSUBMIT(', '.join(r))"
    world.killed(
        [leaf, reply("late", "user: held back", **LATE), cell(half)], [leaf, reply("web-4", "user: held back")], *rlm,
        stdin=log, script="second.jsonl", until="call_model", times=3,
    )
    world.killed(
        [cell("SUBMIT('late')", CHILD, **LATE), cell("SUBMIT(rlm_query('Which one?', context='web-5'))")],
        [cell("SUBMIT(context)", CHILD)], *rlm, stdin=log, script="third.jsonl", until=r"^0\.\d.*call_model", how=signal.SIGINT,
    )


def recipes(world):
    """`rlm` with ready-made cells."""
    # Ready-made cells run where there is a Python.
    python = {"FATHOM_INTERPRETER": "cpython"}
    label = reply("yes", "label|Label|complaint", times=99)
    for question, stdin, lines in [
        ("How many tickets are there of each kind?", ROWS, [reply({"recipe": "count_by_field", "field": "kind"}, times=9)]),
        ("What is the mean of n?", ROWS, [reply({"recipe": "aggregate", "field": "n", "op": "mean"}, times=9)]),
        ("Which host failed?", LOG, [reply({"recipe": "find", "keywords": ["FAILED"]}), reply("web-3", times=99)]),
        ("Why was the bridge late?", LOG, [reply({"recipe": "filter_then_read", "keywords": ["bridge"]}), reply({"keywords": ["span"]}), reply("NONE", times=99)]),
        ("How many are complaints?", ROWS, [reply({"recipe": "classify_each", "label": "complaint"}), label, reply("no", times=99)]),
        ("Sum it up in three points.", LOG, [reply({"recipe": "map_reduce_summary", "bullets": 3}), reply("- one\n- two\n- three", times=99)]),
        ("What?", LOG, [reply("no choice at all", times=99)]),
    ]:
        chosen = ["rlm", question, "--context", "-", "--repl", "--recipes", "chosen", "--turns", "6"]
        world.asks(lines, *chosen, stdin=stdin, exits=None, more=python)
    offered = ["rlm", "Which host failed?", "--context", "-", "--repl", "--recipes", "offered"]
    world.asks([cell("print(recipes.find('Which host failed?', ['FAILED']))\nSUBMIT('web-3')"), reply("web-3", times=99)], *offered, stdin=LOG, exits=None, more=python)


NEXT = ["recurse_thought", "synthesize_symbols", "validate_symbols", "build_output", None]
PHASES = ["symbolize_input", *NEXT[:-1]]


def walk(commands=(), first=0):
    """What a model that does as it is told replies."""
    lines = []
    for at, (phase, then) in enumerate(zip(PHASES, NEXT)):
        emit = list(commands) if at == 0 else []
        said = {"phase_id": phase, "reply": f"thought {at}", "control_signature": {"emit": emit}, "next_phase": then}
        lines.append(reply(said, f"You are in phase `{phase}`"))
    return lines[first:]


def phases(world):
    """`phases` with symbols, tasks and feedback."""
    ask = ["phases", "Is it so?"]
    symbol = {"id": "SYM-900", "name": "Probe", "macro": "try it → see", "linked_patterns": ["SYM-001"]}
    commands = [
        {"action": "store_symbol", "symbol": symbol},
        {"action": "query_symbols", "ids": ["SYM-001", "SYM-000"]},
        {"action": "query_symbols", "text": "what shows a claim"},
        {"action": "recurse_graph", "symbol_id": "SYM-900", "depth": 1},
        {"action": "load_kit", "id": "decide"},
        {"action": "load_kit", "id": "nothing-like-it"},
        {"action": "invoke_agent", "id": "sceptic"},
        {"action": "update_symbol", "id": "SYM-900", "changes": {"failure_mode": "too small"}},
        {"action": "update_symbol", "id": "SYM-999", "changes": {"failure_mode": "none"}},
        {"action": "load_symbol"},
        {"action": "emit_feedback", "text": "the ledger lacks numbers"},
        {"action": "dispatch_task", "task": "count the pages"},
        {"action": "delete_symbol", "id": "SYM-900"},
        {"action": "dance"},
    ]
    task = reply("there are nine pages", "count the pages")
    world.asks([*walk(commands), task], *ask, "--session", "demo", exits=None)
    world.asks([reply("no JSON"), reply('{"reply": "cut'), *walk()], *ask, exits=None)
    world.asks([reply("no JSON", times=99)], *ask, exits=None)
    odd = [reply({"reply": "one", "next_phase": "dance"}, PHASES[0])]
    world.asks(odd, *ask, exits=None)
    inline = reply('⟐CMD {"action": "query_symbols", "text": "claim"}\n{"reply": "one", "⟐CMD": {"action": "dance"}, "next_phase": null}')
    world.asks([inline], *ask, exits=None)
    world.asks(walk(), *ask, "--budget", "calls=2", exits=None)
    world.asks([reply("", times=9)], *ask, exits=None)
    many = [{"action": "load_symbol", "id": f"SYM-{n:03}"} for n in range(20)]
    failed = refused(400, match="count the pages")
    world.asks([failed, *walk([commands[11], *many])], *ask, exits=None)


def sessions(world):
    """`phases` that belong to a session, and those that did not end."""
    ask = ["phases", "Is it so?"]
    world.asks(walk(), *ask, "--session", "demo")
    world.asks(walk(), "phases", "And then?", "--session", "demo")
    task = reply("there are nine pages", "count the pages")
    handed = {"action": "dispatch_task", "task": "count the pages"}
    # What did not end: an outage in the second phase, and the end of the process in the third and in a task.
    kept = [{"action": "store_symbol", "symbol": {"id": "SYM-901", "name": "Once"}}]
    world.stops([*walk(kept)[:1], refused()], walk(first=1), *ask, "--session", "first", script="first.jsonl")
    held = reply("late", f"You are in phase `{PHASES[2]}`", **LATE)
    world.killed([*walk()[:2], held], walk(first=2), *ask, "--session", "second", script="second.jsonl", until="call_model", times=3)
    world.killed(
        [reply("late", "count the pages", **LATE), *walk([handed])], [task, *walk(first=1)], *ask,
        script="third.jsonl", until=r"^0\.0:.*call_model", how=signal.SIGINT,
    )


HOMES = {"ask": ask, "packets": packets, "council": council, "votes": votes, "rlm": rlm, "recipes": recipes, "phases": phases, "sessions": sessions}
