"""`rlms` as a peer: its cells run in its own process, and end a run by filling in `answer`."""

from rlm import RLM

TITLE = "rlms"
# The caps it takes, by the names of the rows.
CAPS = {"tokens": "max_tokens", "money": "max_budget", "time": "max_timeout"}


def ready():
    """It needs nothing beside itself."""


def done(expression):
    """The code that ends a run with an answer."""
    return f"answer['content'] = str({expression})\nanswer['ready'] = True"


def run(url, code, context, key, caps):
    rlm = RLM(
        backend="openai",
        backend_kwargs={"model_name": "bench", "base_url": url, "api_key": key},
        max_iterations=3,
        **{CAPS[cap]: most for cap, most in caps.items()},
    )
    return rlm.completion(prompt=context, root_prompt=f"CODE:{code}").response


def children(url, count):
    """Children are told nothing but their context, so that all share one code, and the context says who runs it."""
    asked = f"rlm_query_batched([str(n) for n in range({count})])"
    right = f"sum(reply == str(n) for n, reply in enumerate({asked}))"
    code = done(f"{right} if context == 'root' else context").replace("\n", ";;")
    rlm = RLM(
        backend="openai",
        backend_kwargs={"model_name": "bench", "base_url": url, "api_key": "none"},
        max_iterations=3,
        max_depth=2,
        max_concurrent_subcalls=count,
        custom_system_prompt=f"CODE:{code}",
    )
    return rlm.completion(prompt="root").response
