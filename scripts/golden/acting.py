"""Golden homes of the programs that act: stages with commands, tools, the agency, and a signed identity."""

import json
import signal

from board import Board
from thinking import PLAIN
from world import HERE, LATE, TREE, calls, refused, reply

# Approvals of a home must be open for as long as the home is kept.
FOR_EVER = '@expires("36500d")'

DESK = PLAIN.format(name="desk") + """
[budget]
tokens = 400_000
calls = 60
tools = 20

[recursion]
max_depth = 1
allowed_child_types = ["motion"]
allowed_classes = ["critique"]

[stages]
retries = 0
"""


def shell(name, program, args, more=""):
    return f"""
[[tool]]
name = "{name}"
description = "Does {name} with these names."
kind = "shell"
platform = "house"
account = "desk"
action = "{name}"
schema = {{ type = "object", properties = {{ args = {{ type = "array", items = {{ type = "string", maxLength = 80 }}, maxItems = 4 }} }}, required = ["args"] }}
program = "{program}"
args = {json.dumps(args)}
{more}"""


SHELL = (
    shell("keep", "/usr/bin/touch", ["--", "{args}"], 'inverse = "drop"\n')
    + shell("drop", "/bin/rm", ["--", "{args}"])
    + shell("send", "/bin/echo", ["{args}"])
    + shell("look", "/bin/echo", ["{args}"], 'class = "read"\n')
    + shell("hide", "/bin/echo", ["{args}"])
)

RULES = f"""
@id("ask-first")
@approval("operator")
{FOR_EVER}
permit (principal, action == Action::"send", resource);
@id("house")
permit (principal, action, resource);
@id("never")
forbid (principal, action == Action::"hide", resource);
"""

ACTIONS = 'actions = ["keep", "drop", "send", "look", "hide"]\n'


def desk(world, name="desk", charter=DESK, rules=RULES):
    """A charter whose tools are programs of this machine."""
    world.write(f"{name}/charter.toml", charter.replace('"desk"', f'"{name}"', 1))
    world.write(f"{name}/instructions.toml", (TREE / "charters/gaia/instructions.toml").read_text())
    world.write(f"{name}/tools.toml", SHELL)
    world.write(f"{name}/gateway.toml", ACTIONS)
    world.write(f"{name}/policies/all.cedar", rules)
    return ["--charter", f"{HERE}/{name}"]


PLAN, JUDGE, ALONG, DO, CHECK = "Plan how to do", "Judge the plan", "You read along", "Do the task by the plan", "Look whether the task"
VOTED = "put to the vote"


def stages(act, observer="OK", verify="VERIFY: success, it answers", confidence="0.85"):
    """What each stage is told to say."""
    observer = [observer] if isinstance(observer, str) else observer
    act = [act] if isinstance(act, str) else act
    return [
        reply("PLAN:\n- look\n- answer", PLAN, times=9),
        reply(f"PLAN:\n- look twice\n- answer\nconfidence={confidence}", JUDGE, times=9),
        reply(verify, CHECK, times=9),
        *[reply({"reason": "fair", "vote": "yes", "confidence": 80}, VOTED) for _ in range(3)],
        *[reply(said, ALONG) for said in observer[:-1]],
        reply(observer[-1], ALONG, times=99),
        *[reply(said, DO) for said in act[:-1]],
        reply(act[-1], DO, times=9),
    ]


def think(world):
    """`stages` and `motion`, with deliveries and ideas for later."""
    ask = ["think", "Whom do I ask?"]
    said = "RESPONSE: Write to ann@example.org.\nTHOUGHT_SEED: ask Ann about May"
    world.asks(stages(said), *ask)
    stop = "INTERRUPT: it names a person"
    acts = ["RESPONSE: Ann.", "RESPONSE: Ann!", "RESPONSE: Ann?", "RESPONSE: The desk."]
    world.asks(stages(acts, [stop, stop, stop, "OK"]), *ask)
    world.asks(stages("RESPONSE: 5", verify="VERIFY: fail, it is 4"), *ask, exits=3)
    world.asks(stages("RESPONSE: 5", verify="Hm."), *ask, exits=None)
    world.asks(stages("RESPONSE: 5", observer="Hm."), *ask, exits=None)
    world.asks(stages("RESPONSE: 5", confidence="0.1"), *ask, exits=None)
    world.asks([reply("No plan.", PLAN, times=9), *stages("RESPONSE: 5")], *ask, exits=None)
    ballots = [
        [{"reason": "no", "vote": "no", "confidence": 80}, {"reason": "yes", "vote": "yes", "confidence": 20}, {"reason": "?", "vote": "abstain", "confidence": 50}],
        ["I cannot say.", {"vote": "no"}, ""],
    ]
    for said in ballots:
        lines = [reply(one, VOTED) for one in said]
        world.asks([*lines, *stages("RESPONSE: 5", confidence="0.1")], *ask, exits=None)
    world.asks([refused(400, match=VOTED, times=9), *stages("RESPONSE: 5", confidence="0.1")], *ask, exits=None)
    world.asks(stages("RESPONSE: 5"), *ask, "--budget", "calls=3", exits=None)
    world.asks(stages("RESPONSE: Done."), "think", "--idle", exits=None)
    # What did not end: outages while it acts and verifies, and the end of the process.
    held = [refused(match=DO), *stages("RESPONSE: 5")]
    world.stops(held, stages("RESPONSE: 6"), *ask, script="first.jsonl")
    held = [refused(match=CHECK), *stages("RESPONSE: 5")]
    world.stops(held, stages("RESPONSE: 6"), *ask, script="second.jsonl")
    held = [reply("late", VOTED, **LATE), *stages("RESPONSE: 5", confidence="0.1")]
    world.killed(held, stages("RESPONSE: 6"), *ask, script="third.jsonl", until=r"^0\.0:.*call_model", times=2)


def commands(world):
    """`stages` whose acting model writes commands, each after a person's yes."""
    house = desk(world, "house", rules='@id("house")\npermit (principal, action, resource);\n')
    do = ["think", "Keep the two files."]
    world.approve_all(world.asks(stages("EXECUTE:\nkeep 'a b' c\nRESPONSE: Kept."), *do, *house, exits=3))
    stopped = [reply("RESPONSE: I did nothing.", "were stopped", times=9)]
    said = world.asks([*stopped, *stages("EXECUTE: keep a\nRESPONSE: Kept.")], *do, *house, exits=3)
    world.approve_all(world.settle(said, "deny", "--why", "not today"))
    for line in ("rm -rf /", "keep $(id)", "keep a; drop b", "keep 'a\nb'", "keep", "send -e x"):
        world.approve_all(world.asks([*stopped, *stages(f"EXECUTE:\n{line}")], *do, *house, exits=None))
    said = world.asks([*stopped, *stages("EXECUTE: drop nothing-like-it\nRESPONSE: Done.")], *do, *house, exits=3)
    world.approve_all(said)
    undone = stages("EXECUTE:\nkeep d\nsend b\nkeep e\nRESPONSE: Done.", verify="VERIFY: fail, nobody wanted e")
    world.approve_all(world.asks(undone, *do, *house, exits=3))
    said = world.asks(undone, *do, *house, exits=3)
    for _ in range(3):
        said = world.settle(said)
    world.approve_all(world.settle(said, "deny", "--why", "leave it"))
    world.drop("house")
    # What did not end: commands that wait for a word.
    own = desk(world, rules=f'@id("ask-first")\n@approval("operator")\n{FOR_EVER}\npermit (principal, action, resource);\n')
    lines = stages("EXECUTE:\nkeep f\nsend g\nRESPONSE: Done.")
    for script, words in (("yes.jsonl", ["approve", "approve"]), ("no.jsonl", ["approve", "deny"])):
        world.waits([*stopped, *lines], *do, *own, script=script, words=words)


def looped(name):
    return PLAIN.format(name=name) + '\n[router]\nask = "tools"\n\n[budget]\ntokens = 4_000_000\ncalls = 40\ntools = 12\n'


def tools(world):
    """`tools`: calls that are let through, denied, wrong, and asked for."""
    own = desk(world, charter=looped("desk"))
    ask = ["ask", "Keep the files and tell the others.", *own]
    done = reply("It is done.", times=9)
    look, keep = ("look", {"args": ["one"]}), ("keep", {"args": ["a", "b"]})
    world.approve_all(world.asks([calls(keep), done], *ask, exits=None))
    world.approve_all(world.asks([calls(look), calls(("keep", {"args": ["c"]})), done], *ask, exits=3))
    world.approve_all(world.asks([calls(look, look, ("look", {"args": ["two"]})), calls(look), calls(look), done], *ask, exits=None))
    wrong = [("look", {"word": 1}), ("look", "not JSON"), ("dance", {}), ("look", {"args": ["x" * 200]})]
    world.approve_all(world.asks([calls(*wrong), calls(*wrong), calls(*wrong), done], *ask, exits=None))
    world.approve_all(world.asks([calls(("hide", {"args": ["x"]})), done], *ask, exits=None))
    world.approve_all(world.asks([calls(("drop", {"args": ["nothing-like-it"]})), done], *ask, exits=None))
    world.approve_all(world.asks([reply(""), done], *ask, exits=None))
    world.approve_all(world.asks([reply('{"name": "look", "arguments": {"args": ["said in words"]}}'), done], *ask, exits=None))
    world.approve_all(world.asks([calls(("look", {"args": [f"n{n}"]}), times=1) for n in range(14)], *ask, exits=None))
    world.approve_all(world.asks([calls(look, times=99)], *ask, "--budget", "calls=4", exits=None))
    world.approve_all(world.asks([refused(413)], *ask, exits=None))
    # A model that goes on in a new process begins its script anew.
    told = reply("I told them.", "What came of your calls", times=9)
    send = ("send", {"args": ["to all"]})
    world.approve_all(world.asks([told, calls(send, times=9)], "ask", "Tell the first.", *own, exits=3))
    said = world.asks([told, calls(send, times=9)], "ask", "Tell the second.", *own, exits=3)
    world.settle(said, "deny", "--why", "not today")
    world.approve_all(world.asks([told, calls(send, times=9)], "ask", "Tell the first.", *own, exits=None))
    world.fathom("kill", "--scope", "platform:house", "--why", "a drill")
    world.approve_all(world.asks([calls(keep), done], "ask", "Keep it under the switch.", *own, exits=None))
    world.fathom("kill", "--scope", "platform:house", "--lift")
    # A platform that loses an answer: what was sent is looked for, and not sent again.
    with Board(lost=1) as board:
        world.write("board/charter.toml", looped("board"))
        world.write("board/gateway.toml", 'actions = ["publish"]\n')
        world.write("board/policies/all.cedar", '@id("post")\npermit (principal, action, resource);\n')
        text = (TREE / "charters/agency/tools.toml").read_text()
        publish = text[: text.index('[[tool]]\nname = "post_visible"')]
        values = {"${host}": board.host, "${private}": board.host, "${url}": board.url, "${account}": "desk"}
        for place, value in values.items():
            publish = publish.replace(place, value)
        world.write("board/tools.toml", publish)
        post = ("publish", {"title": "Spring workshop", "text": "Saturday at ten"})
        on = ["--charter", f"{HERE}/board"]
        world.approve_all(world.asks([calls(post), done], "ask", "Post it.", *on, exits=None))
        world.approve_all(world.asks([calls(post), done], "ask", "Post it again.", *on, exits=None))
    world.approve_all(world.asks([calls(post), done], "ask", "Post it to nobody.", *on, exits=None))
    world.drop("board")
    # What did not end: an outage after a call, the end of the process, and calls that wait for a word.
    again = ["ask", "Look, then tell the third.", *own]
    world.stops([calls(look), refused()], [done], *again, script="first.jsonl")
    world.killed([calls(look), reply("late", **LATE)], [done], *again, script="second.jsonl", until="call_model", times=2)
    for number, word in enumerate(["approve", "deny"]):
        world.waits([told, calls(send, times=9)], "ask", f"Tell number {number}.", *own, script=f"{word}.jsonl", words=[word])


GOAL = "Announce the spring workshop"


def agency_lines(verdict="PASS Every fact stands in the capsules.", risk="low", reply_text="Yes: children from 12 years, with an adult."):
    plan = {"title": "Spring workshop", "audience": "beginners", "angle": "A day of printing.", "call_to_action": "sign up"}
    asset = {"title": "Linocut, Saturday 24 April", "text": "Print with us at Quay Street 12. Sign up at the desk."}
    entry = {"title": "Workshop announced", "text": "Planned, written, approved, published, answered."}
    return [
        reply("A print club on Quay Street, founded 1987. Warm and plain.", "Sum up the brand"),
        reply("Linocut workshop on Saturday 24 April, 10:00 to 16:00, Quay Street 12. Children from 12 years.", "Sum up the knowledge"),
        reply(plan, "Write the plan", times=3),
        reply(asset, "Make one announcement", times=3),
        reply(verdict, "PASS or FAIL", times=9),
        reply({"intent": "question", "risk": risk, "reply": reply_text}, "wrote:", times=9),
        reply(entry, "journal entry", times=3),
    ]


def agency(world):
    """The agency: what is published and answered, what is not, and what waits for a word."""
    world.charter("brandwork", "agency", {
        '@expires("72h")': FOR_EVER, '@expires("24h")': FOR_EVER, 'name = "agency"': 'name = "brandwork"',
        "protocol = \"1.0.0\"\n": "protocol = \"1.0.0\"\n",
    })
    for name in ("brand.toml", "brand.md", "knowledge/workshop.md"):
        world.write(f"brand/{name}", (TREE / "examples/brand" / name).read_text())

    def commission(board, *more):
        return ["agency", GOAL, "--brand", "brand", "--set", f"url={board.url}", "--charter", f"{HERE}/brandwork", *more]

    question = "Can my daughter (13) come too?"
    with Board(visitor=question, late=3) as board:
        world.approve_all(world.asks(agency_lines(), *commission(board), exits=3))
        # The same occasion again, those that nobody wants, and one under the switch.
        world.approve_all(world.asks(agency_lines(), *commission(board), exits=3))
        said = world.asks(agency_lines(), *commission(board, "--occasion", "denied"), exits=3)
        world.settle(said, "deny", "--why", "too early")
        world.fathom("kill", "--scope", "platform:sandbox", "--why", "a drill")
        world.asks(agency_lines(), *commission(board, "--occasion", "switched"), exits=None)
        world.fathom("kill", "--scope", "platform:sandbox", "--lift")
        risky = agency_lines(risk="high")
        world.approve_all(world.asks(risky, *commission(board, "--occasion", "risky"), exits=3))
        said = world.asks(agency_lines(), *commission(board, "--occasion", "lost"), exits=3)
        board.lost = 1
        said = world.settle(said)
        if said["stop_reason"] == "awaiting_approval":
            world.settle(said, "deny", "--why", "say nothing")
        # What did not end: the end of the process while a role wrote, and a post that waits for a word.
        late = [reply("late", "Make one announcement", **LATE), *agency_lines()]
        world.killed(
            late, agency_lines("FAIL It names no date."), *commission(board, "--occasion", "killed"),
            script="killed.jsonl", until=r"^0\.\d+:.*call_model", times=2,
        )
        world.waits(agency_lines(), *commission(board, "--occasion", "waiting"), script="waiting.jsonl", words=["deny"])
    world.drop("brand")


def identity(world):
    """A run whose identity its creator signed."""
    world.write("mine/charter.toml", PLAIN.format(name="mine"))
    world.write("mine/identity.toml", '# who\ntraits = ["calm"]\ncore_rules = ["Never guess."]\n')
    public = world.fathom("identity", "keygen", "creator.key")["public"]
    world.write("fathom.toml", f'[identity]\ncreator = "{public}"\nrequired = true\n')
    world.fathom("identity", "sign", "mine", "--key", "creator.key")
    world.drop("creator.key")
    own = ["--charter", f"{HERE}/mine"]
    world.asks([reply("first")], "ask", "Who are you?", *own)
    world.stops([refused()], [reply("second")], "ask", "And now?", *own, script="first.jsonl")


HOMES = {"think": think, "commands": commands, "tools": tools, "agency": agency, "identity": identity}
