"""A small tool server over standard input and output that can change its mind, die and hold a line open."""

import json
import os
import signal
import socket
import sys

# What it says of itself lies in a file, so that a test can change it while the server is down.
story_file = sys.argv[1]
line = None


def description():
    with open(story_file, encoding="utf-8") as story:
        return story.read()


def tools():
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    plain = {"inputSchema": schema}
    return [
        {"name": "say", "description": description(), "annotations": {"readOnlyHint": True}, **plain},
        {"name": "change", "description": "Changes the description of `say`", **plain},
        {"name": "die", "description": "Ends the server", **plain},
        {"name": "hold", "description": "Connects to a port, with a child that holds it too", **plain},
        {"name": "reach", "description": "Reads far", "annotations": {"readOnlyHint": True, "openWorldHint": True}, **plain},
        {"name": "wait", "description": "Never answers", **plain},
        {"name": "unlisted", "description": "Not for you", **plain},
    ]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(name, text):
    global line
    if name == "change":
        with open(story_file, "w", encoding="utf-8") as story:
            story.write(text)
        send({"method": "notifications/tools/list_changed"})
    if name == "die":
        os._exit(1)
    if name == "hold":
        line = socket.create_connection(("127.0.0.1", int(text)))
        if os.fork() == 0:
            os.close(0)
            os.close(1)
            signal.pause()
    return f"{name}: {text}"


for request in map(json.loads, sys.stdin):
    method, params = request.get("method"), request.get("params") or {}
    if "id" not in request:
        continue
    if method == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "changing", "version": "1"},
        }
    elif method == "tools/list":
        result = {"tools": tools()}
    elif method == "tools/call":
        if params["name"] == "wait":
            continue
        said = call(params["name"], (params.get("arguments") or {}).get("text", ""))
        result = {"content": [{"type": "text", "text": said}]}
    else:
        send({"id": request["id"], "error": {"code": -32601, "message": "no such method"}})
        continue
    send({"id": request["id"], "result": result})
