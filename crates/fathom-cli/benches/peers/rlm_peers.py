"""The rows of `benches/rlm.rs` on those it is compared with, against the same model server.

Whoever cannot run here says so. What stands after `CODE:` in the question is what the scripted model replies as its code.
"""

import argparse
import resource
import shutil
import sys
import time


def row(what, seen):
    print(f"{what:<52} {seen:>26}", flush=True)


def rlms(given):
    from rlm import RLM

    def run(url, code, context="a short context"):
        begin = time.perf_counter()
        rlm = RLM(
            backend="openai",
            backend_kwargs={"model_name": "bench", "base_url": url, "api_key": "none"},
            max_iterations=3,
        )
        code = code + ";;answer['ready'] = True"
        answer = rlm.completion(prompt=context, root_prompt=f"CODE:{code}").response
        assert str(answer).strip(), "no answer"
        return time.perf_counter() - begin

    batch = "answer['content'] = str(len(llm_query_batched([f'part {{n}}' for n in range({})])))"
    one = "answer['content'] = llm_query('a')"
    run(given.zero, one)
    warm = sorted(run(given.zero, one) for _ in range(5))
    row("rlms: warm run with one sub-call", f"{warm[2]:.3f} s")
    each = "answer['content'] = [llm_query(f'part {n}') for n in range(1000)][-1]"
    row("rlms: per sub-call at 0 ms, one after the other", f"{run(given.zero, each):.3f} ms")
    row("rlms: per sub-call at 0 ms, batched", f"{run(given.zero, batch.format(1000)):.3f} ms")
    row("rlms: 100 batched at 50 ms", f"{run(given.fifty, batch.format(100)):.3f} s")
    row("rlms: 1000 batched at 50 ms", f"{run(given.fifty, batch.format(1000)):.3f} s")
    with open(given.large) as file:
        large = file.read()
    took = run(given.zero, "answer['content'] = str(len(context))", large)
    row("rlms: 100 MB run, one cell", f"{took:.3f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    row("rlms: resident at most with the 100 MB", f"{peak:.0f} MB")


def dspy(given):
    del given
    if shutil.which("deno") is None:
        print("dspy.RLM cannot run here: its interpreter needs Deno, which is not installed")
        return
    print("dspy.RLM is not driven: its replies have another form than the scripted model's")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("peer", choices=["rlms", "dspy"])
    arguments.add_argument("--zero", required=True)
    arguments.add_argument("--fifty", required=True)
    arguments.add_argument("--large", required=True)
    given = arguments.parse_args()
    try:
        {"rlms": rlms, "dspy": dspy}[given.peer](given)
    except ImportError as error:
        sys.exit(f"{given.peer} is not installed: {error}")


main()
