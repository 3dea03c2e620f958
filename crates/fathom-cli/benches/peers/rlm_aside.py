"""Runs one question of a peer in a process of its own, against a model server that counts, fails and names prices."""

import contextlib
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

# What the scripted model says that a call took; the same as in `benches/rlm.rs`, with a price.
USAGE = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30, "cost": 0.000006}
# How often a process is looked at, in seconds.
LOOK_EACH = 0.1


class Model:
    """Replies as the server of `benches/rlm.rs` does."""

    def __init__(self, latency=0, fails=False):
        self.latency = latency
        self.fails = fails
        self.roots = 0
        self.prompts = []
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.model = self
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @property
    def calls(self):
        return self.roots + len(self.prompts)

    @property
    def tokens(self):
        return self.calls * USAGE["total_tokens"]

    @property
    def dollars(self):
        return self.calls * USAGE["cost"]

    def reply(self, messages):
        """The status and the text."""
        said = "\n".join(text_of(message["content"]) for message in messages)
        _, is_root, code = said.partition("CODE:")
        if is_root:
            self.roots += 1
            code = code.splitlines()[0].replace(";;", "\n")
            return 200, f"```repl\n{code}\n```"
        time.sleep(self.latency)
        if self.fails:
            return 500, "out of order"
        self.prompts.append(said)
        return 200, "fine"


def text_of(content):
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True

    def handle_error(self, *_):
        """A caller that is gone was killed, as intended."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, text = self.server.model.reply(asked["messages"])
        message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        replied = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "bench",
            "choices": [message],
            "usage": USAGE,
        }
        body = json.dumps(replied if status == 200 else {"error": {"message": text}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Only the rows are printed."""


class Listener:
    """Notices who connects."""

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(0.5)
        self.port = self.socket.getsockname()[1]
        return self

    def __exit__(self, *_):
        self.socket.close()

    def called(self):
        try:
            self.socket.accept()[0].close()
        except TimeoutError:
            return False
        return True


class Aside:
    """What happens in the process of its own."""

    def __init__(self, module, asked, context):
        if large := asked.get("large"):
            context = pathlib.Path(large).read_text()
        begin = time.perf_counter()
        self.ended = {}
        try:
            if count := asked.get("children"):
                answer = module.children(asked["url"], count)
            else:
                answer = module.run(
                    asked["url"], asked["code"], context, asked.get("key", "none"), asked.get("caps", {})
                )
            self.ended["answer"] = str(answer)
        except Exception as error:
            # Whatever a peer throws is what the row shows.
            self.ended["error"] = type(error).__name__
            self.ended["kept"] = bool(getattr(error, "partial_answer", None))
        self.ended["seconds"] = time.perf_counter() - begin

    def print(self):
        # Not `print`: cells that ran side by side leave each other's output in its place.
        os.write(1, json.dumps(self.ended).encode())


class Ran:
    """How it ended."""

    def __init__(self, ended, watched, pss_mb):
        self.answer = ended.get("answer")
        self.error = ended.get("error")
        self.kept = ended.get("kept")
        self.seconds = ended.get("seconds")
        self.watched = watched
        self.pss_mb = pss_mb

    def said(self):
        if self.answer is not None:
            return f"ended well after {self.seconds:.1f} s"
        if self.error is not None:
            return f"{self.error}, kept: {self.kept}"
        return f"still running after {self.watched} s, ended"


def run_aside(asked, model, start_watched, watched):
    """Runs it, from its first call to the model for so long, or until so many sub-calls came in; then kills it."""
    until = asked.pop("until", None)
    script = pathlib.Path(__file__).with_name("rlm_peers.py")
    environment = {**os.environ, "OPENAI_API_KEY": asked.get("key", "none")}
    process = subprocess.Popen(
        [sys.executable, script, "aside"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=environment,
    )
    with process:
        process.stdin.write(json.dumps(asked).encode())
        process.stdin.close()
        end = time.monotonic() + start_watched
        began = False
        pss = 0
        try:
            while process.poll() is None and time.monotonic() < end:
                if not began and model.roots:
                    began, end = True, time.monotonic() + watched
                if until is not None and len(model.prompts) >= until:
                    break
                if "large" in asked:
                    pss = max(pss, pss_of(process.pid))
                time.sleep(LOOK_EACH)
        finally:
            # What it started belongs to its session and ends with it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        said = process.stdout.read()
    return Ran(json.loads(said) if said else {}, watched if began else start_watched, pss / 1e6)


def pss_of(pid):
    """Proportional memory of the process and all below it, in bytes; what is gone holds nothing."""
    held = 0
    with contextlib.suppress(OSError):
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                held += int(line.split()[1]) * 1024
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            held += sum(pss_of(child) for child in (task / "children").read_text().split())
    return held
