"""The council of `benches/council.rs` as a LangGraph graph with its SQLite checkpointer, for the figures beside ours.

Nine leaves, three chiefs, one root; every step is checkpointed before the next one starts. Prints one JSON object:
the wall time of each round, the processor time of a round, and what is resident.
"""

import argparse
import asyncio
import json
import operator
import resource
import time
from typing import Annotated, TypedDict

import aiosqlite
import httpx
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

CHIEFS = {
    "IT": ["security", "infrastructure", "network"],
    "Data": ["schema", "pipeline", "archive"],
    "Ops": ["money", "people", "release"],
}


class State(TypedDict):
    question: str
    votes: Annotated[dict, operator.or_]


def tally(votes):
    """The heaviest vote, weighed by confidence; a tie abstains."""
    weights = {}
    for vote in votes:
        weights[vote["vote"]] = weights.get(vote["vote"], 0) + vote["confidence"]
    most = max(weights.values())
    heaviest = [vote for vote, weight in weights.items() if weight == most]
    vote = heaviest[0] if len(heaviest) == 1 else "ABSTAIN"
    agreeing = [v["confidence"] for v in votes if v["vote"] == vote]
    confidence = sum(agreeing) / len(agreeing) if agreeing else 0
    return {"vote": vote, "confidence": confidence}


def build(call, synthesis):
    def leaf(path):
        async def node(state):
            reply = await call(f"Question:\n{state['question']}\n\nYour seat: {path}. Vote on the question.")
            return {"votes": {path: json.loads(reply)}}

        return node

    def parent(path, below):
        async def node(state):
            votes = [state["votes"][child] for child in below]
            decision = tally(votes)
            decision["reasoning"] = "\n".join(vote["reasoning"] for vote in votes)
            if synthesis:
                prompt = f"Question:\n{state['question']}\n\nDecision: {decision['vote']}\n\n{decision['reasoning']}"
                decision["reasoning"] = await call(prompt)
            return {"votes": {path: decision}}

        return node

    graph = StateGraph(State)
    graph.add_node("root", parent("root", list(CHIEFS)))
    graph.add_edge("root", END)
    for chief, subs in CHIEFS.items():
        paths = [f"{chief}/{sub}" for sub in subs]
        graph.add_node(chief, parent(chief, paths))
        for path in paths:
            graph.add_node(path, leaf(path))
            graph.add_edge(START, path)
        graph.add_edge(paths, chief)
    graph.add_edge(list(CHIEFS), "root")
    return graph


async def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--url", required=True)
    arguments.add_argument("--database", required=True)
    arguments.add_argument("--question", required=True)
    arguments.add_argument("--warm", type=int, required=True)
    arguments.add_argument("--rounds", type=int, required=True)
    arguments.add_argument("--synthesis", action="store_true")
    given = arguments.parse_args()

    async with httpx.AsyncClient(timeout=60) as client, aiosqlite.connect(given.database) as database:

        async def call(prompt):
            body = {
                "model": "bench",
                "max_tokens": 300,
                "messages": [
                    {"role": "system", "content": "Reply with one JSON object."},
                    {"role": "user", "content": prompt},
                ],
            }
            reply = await client.post(f"{given.url}/chat/completions", json=body)
            reply.raise_for_status()
            return reply.json()["choices"][0]["message"]["content"]

        saver = AsyncSqliteSaver(database)
        await saver.setup()
        # As durable as what it is compared with.
        await database.execute("PRAGMA synchronous = FULL")
        graph = build(call, given.synthesis).compile(checkpointer=saver)

        async def decide(number):
            begin = time.perf_counter()
            config = {"configurable": {"thread_id": str(number)}}
            start = {"question": given.question, "votes": {}}
            state = await graph.ainvoke(start, config, durability="sync")
            assert state["votes"]["root"]["vote"] == "APPROVE"
            return (time.perf_counter() - begin) * 1000

        for number in range(given.warm):
            await decide(number)
        before = time.process_time()
        wall = [await decide(given.warm + number) for number in range(given.rounds)]
        cpu = (time.process_time() - before) * 1000 / given.rounds
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps({"wall_ms": wall, "cpu_ms": cpu, "resident_kib": peak}))


asyncio.run(main())
