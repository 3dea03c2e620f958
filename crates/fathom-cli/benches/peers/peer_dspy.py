"""`dspy.RLM` as a peer: its cells run in Pyodide under Deno, and end a run with `SUBMIT`.

Every call goes to the model server through dspy's own client; only what the reply means is told to dspy here, since the
scripted model knows nothing of its fields.
"""

import json
import logging
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

# Where Deno keeps what it fetches: with the peers, not with the user.
os.environ["DENO_DIR"] = os.path.join(sys.prefix, "deno")

import dspy  # noqa: E402
from dspy.primitives import python_interpreter  # noqa: E402

TITLE = "dspy.RLM"
CAPS = {}
# Its interpreter takes one function from elsewhere, which not every network lets through.
RUNNER = pathlib.Path(python_interpreter.__file__).with_name("runner.js")
LINES = re.search(r'import { readLines } from "(.+)"', RUNNER.read_text())[1]
STAND_IN = pathlib.Path(__file__).with_name("deno_lines.js")

logging.getLogger("dspy").setLevel(logging.ERROR)


def ready():
    """Fetches what the interpreter needs; says what is missing."""
    deno = python_interpreter._find_deno_executable()
    try:
        fetched = subprocess.run([deno, "cache", "--no-config", "--no-lock", LINES], capture_output=True, timeout=60)
    except OSError as error:
        sys.exit(f"dspy.RLM needs Deno: {error}")
    if fetched.returncode != 0:
        print(
            "dspy: the line reader that its interpreter imports cannot be fetched here; one of ours stands in",
            flush=True,
        )
        os.environ["FATHOM_BENCH_STAND_IN"] = "1"


def interpreter():
    made = dspy.PythonInterpreter()
    if "FATHOM_BENCH_STAND_IN" in os.environ:
        instead = json.dumps({"imports": {LINES: STAND_IN.as_uri()}})
        made.deno_command.insert(2, f"--import-map=data:application/json,{urllib.parse.quote(instead)}")
    return made


class Scripted(dspy.ChatAdapter):
    """Takes the fenced code of the scripted model as the code, and anything else as every field asked for."""

    def parse(self, signature, completion):
        code = completion.removeprefix("```repl\n").removesuffix("\n```")
        return dict.fromkeys(signature.output_fields, code)


def done(expression):
    """The code that ends a run with an answer."""
    return f"SUBMIT(str({expression}))"


def run(url, code, context, key, caps):
    assert not caps, "it has no such cap"
    lm = dspy.LM("openai/bench", api_base=url, api_key=key, cache=False)
    with dspy.context(lm=lm, adapter=Scripted()):
        rlm = dspy.RLM(
            dspy.Signature("context -> answer", f"CODE:{code}"),
            max_iters=3,
            max_llm_calls=100_000,
            interpreter_factory=interpreter,
        )
        return rlm(context=context).answer


def children(url, count):
    """Its cells have `dspy.RLM` too, of which one runs at a time."""
    child = "dspy.RLM(dspy.Signature('context -> answer', f\"CODE:SUBMIT('{n}')\"))(context='x').answer"
    right = f"sum({child} == str(n) for n in range({count}))"
    return run(url, f"import dspy;;{done(right)}", "root", "none", {})
