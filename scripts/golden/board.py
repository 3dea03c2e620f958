"""A platform for the agency and for tools: posts, comments and replies over HTTP, in memory, on the loopback address."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Board(ThreadingHTTPServer):
    """What was posted. `visitor` is said under every post; the answers to the next `lost` commits are lost; what was made
    is looked for in vain the first `late` times."""

    daemon_threads = True

    def __init__(self, visitor=None, lost=0, late=0):
        super().__init__(("127.0.0.1", 0), Handler)
        self.visitor, self.lost, self.late = visitor, lost, late
        self.looks = {}
        self.posts, self.comments, self.replies = [], [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    @property
    def host(self):
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self):
        return f"http://{self.host}"

    def post(self, body, key):
        made = {"id": len(self.posts) + 1, "key": key, "title": body.get("title", ""), "text": body.get("text", ""), "schedule": None}
        self.posts.append(made)
        if self.visitor:
            said = {"id": len(self.comments) + 1, "post": made["id"], "author": "visitor", "text": self.visitor}
            self.comments.append(said)
        return made

    def reply(self, comment, body, key):
        made = {"id": len(self.replies) + 1, "comment": int(comment), "key": key, "text": body.get("text", "")}
        self.replies.append(made)
        return made

    def shown(self, made, key):
        """What can be seen, of one key or of all."""
        found = [one for one in made if key is None or one["key"] == key]
        for one in found:
            self.looks[id(one)] = self.looks.get(id(one), -1) + 1
        return [one for one in found if self.looks[id(one)] >= self.late]

    def handle_error(self, *_):
        """Whoever hung up did so on purpose."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        parts = urlsplit(self.path)
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if "dry_run" in parse_qs(parts.query):
            return self.answer(200, {"dry_run": True, "ok": True})
        key = self.headers.get("idempotency-key")
        match parts.path.strip("/").split("/"):
            case ["api", "posts"]:
                made = self.server.post(body, key)
            case ["api", "comments", comment, "replies"]:
                made = self.server.reply(comment, body, key)
            case _:
                return self.answer(404, {"error": "not_found"})
        if self.server.lost:
            self.server.lost -= 1
            self.close_connection = True
            return self.connection.close()
        return self.answer(201, made)

    def do_GET(self):
        parts = urlsplit(self.path)
        wanted = {name: values[0] for name, values in parse_qs(parts.query).items()}
        board, key = self.server, wanted.get("key")
        match parts.path.strip("/").split("/"):
            case ["api", "posts"]:
                self.answer(200, {"posts": board.shown(board.posts, key)})
            case ["api", "comments"]:
                post = wanted.get("post")
                self.answer(200, {"comments": [said for said in board.comments if str(said["post"]) == post]})
            case ["api", "replies"]:
                self.answer(200, {"replies": board.shown(board.replies, key)})
            case ["api", "comments", comment, "replies"]:
                found = [made for made in board.replies if str(made["comment"]) == comment]
                self.answer(200, {"replies": found})
            case _:
                self.answer(404, {"error": "not_found"})
