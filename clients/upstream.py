"""A provider that behaves, or misbehaves, as the model's name says.

    python3 upstream.py            prints the port it listens on, then serves until it is ended

The member `user` of a request names a run. `GET /seen?run=NAME` tells what the run looked like from here:
`{"times": [seconds of each request], "gone": whether a client left before its answer ended, "bodies": [...]}`.
"""

import http.server
import json
import select
import socket
import sys
import threading
import time
import urllib.parse

TOOL_ARGUMENTS = '{"city":"Oslo","days":3}'
LONGEST_ANSWER_SECONDS = 20

lock = threading.Lock()
runs = {}


def run_of(body):
    with lock:
        return runs.setdefault(str(body.get("user")), {"times": [], "gone": False, "bodies": []})


def completion(model, message, finish="stop"):
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8},
    }


def chunk(model, delta, finish=None):
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def error(status):
    return {"error": {"message": f"scripted {status}", "type": "scripted", "param": None, "code": f"code_{status}"}}


def tool_call(fragment, first):
    call = {"index": 0, "function": {"arguments": fragment}}
    if first:
        call.update(id="call_1", type="function")
        call["function"]["name"] = "weather"
    return {"role": "assistant", "content": None, "tool_calls": [call]}


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        with lock:
            seen = runs.get(query.get("run", [""])[0], {"times": [], "gone": False, "bodies": []})
            text = json.dumps(seen)
        self.reply(200, text)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.run = run_of(body)
        with lock:
            self.run["times"].append(time.monotonic())
            self.run["bodies"].append(body)
        model = body["model"]
        name, _, argument = model.partition("-")
        getattr(self, "play_" + name)(body, model, argument)

    # what a model's name asks for

    def play_chat(self, body, model, _):
        if body.get("stream"):
            words = [{"role": "assistant", "content": ""}, {"content": "Hello"}, {"content": ", wörld"}]
            self.stream([chunk(model, delta) for delta in words] + [chunk(model, {}, "stop")])
        else:
            self.reply(200, json.dumps(completion(model, {"role": "assistant", "content": "Hello, wörld"})))

    def play_tools(self, body, model, _):
        if body.get("stream"):
            parts = [TOOL_ARGUMENTS[at : at + 7] for at in range(0, len(TOOL_ARGUMENTS), 7)]
            chunks = [chunk(model, tool_call(part, at == 0)) for at, part in enumerate(parts)]
            self.stream(chunks + [chunk(model, {}, "tool_calls")])
        else:
            message = tool_call(TOOL_ARGUMENTS, True)
            del message["tool_calls"][0]["index"]
            self.reply(200, json.dumps(completion(model, message, "tool_calls")))

    def play_embed(self, body, model, _):
        inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
        data = [{"object": "embedding", "index": at, "embedding": [0.25, -1.5, float(at)]} for at, _ in enumerate(inputs)]
        usage = {"prompt_tokens": 2, "total_tokens": 2}
        self.reply(200, json.dumps({"object": "list", "data": data, "model": model, "usage": usage}))

    def play_status(self, _body, _model, argument):
        self.reply(int(argument), json.dumps(error(int(argument))))

    def play_busy(self, body, model, _):
        """429 with a hint of one second, then an answer."""
        if len(self.run["times"]) == 1:
            self.reply(429, json.dumps(error(429)), {"retry-after": "1"})
        else:
            self.play_chat(body, model, "")

    def play_slow(self, body, model, _):
        """No answer until the client has left."""
        if not self.wait_for_departure():
            self.play_chat(body, model, "")

    def play_drip(self, _body, model, _):
        """One chunk, then nothing, for as long as the client stays."""
        self.head()
        self.event(json.dumps(chunk(model, {"role": "assistant", "content": "drip"})))
        self.wait_for_departure()
        self.close_connection = True

    def play_cut(self, _body, model, _):
        """Breaks off in the middle of a stream."""
        self.head()
        self.event(json.dumps(chunk(model, {"role": "assistant", "content": "half"})))
        self.close_connection = True

    def play_fault(self, _body, model, _):
        """An error inside a stream whose status was 200."""
        self.head()
        self.event(json.dumps(chunk(model, {"role": "assistant", "content": "so far"})))
        self.event(json.dumps(error(500)))
        self.event("[DONE]")
        self.end()

    # how it is written

    def reply(self, status, text, headers=None):
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def stream(self, chunks):
        self.head()
        for each in chunks:
            self.event(json.dumps(each, ensure_ascii=False))
        self.event("[DONE]")
        self.end()

    def head(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def event(self, data):
        text = f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
        self.wfile.flush()

    def end(self):
        self.wfile.write(b"0\r\n\r\n")

    def wait_for_departure(self):
        """Whether the client closed its connection within the longest answer."""
        readable, _, _ = select.select([self.connection], [], [], LONGEST_ANSWER_SECONDS)
        gone = bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""
        if gone:
            with lock:
                self.run["gone"] = True
        return gone


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass  # a client that leaves is part of the script


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Provider)
    print(server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)
