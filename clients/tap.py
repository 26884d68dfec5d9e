"""Stands between the gateway and aimock, so that tests see what the gateway sends.

    python3 tap.py AIMOCK_PORT            prints the port it listens on, then serves until it is ended

What arrives is kept and passed on, and the answer comes back in pieces that respect no frame of any format. Beyond that it
plays what aimock does not: it checks signatures of AWS (Signature Version 4), counts tokens, and serves a picture.

`GET /seen` gives the requests of the run that the last `POST /run` began: `[{"path", "headers", "body"}]`.
`GET /picture.png` is the picture, `GET /page.html` is none.
"""

import base64
import hashlib
import hmac
import http.client
import http.server
import json
import re
import sys
import threading
import urllib.parse

AIMOCK_PORT = int(sys.argv[1])
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
SIGNED = (
    r"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/(\d{8}/us-east-1/bedrock/aws4_request), ?"
    r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})"
)
PIECE_BYTES = 53
TOKENS = 42
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
RELAYED = ("content-type", "retry-after", "x-amzn-errortype", "x-amzn-requestid")

lock = threading.Lock()
seen = []


def digest(text):
    return hashlib.sha256(text).hexdigest()


def keyed(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature_problem(method, target, headers, body):
    """What is wrong with the signature of a request to Bedrock, if something is."""
    found = re.fullmatch(SIGNED, headers.get("authorization", ""))
    if not found:
        return "no signature"
    scope, names, signature = found.groups()
    if not {"content-type", "host", "x-amz-date"} <= set(names.split(";")):
        return "headers that are not signed"
    path, _, query = target.partition("?")
    canonical = [method, urllib.parse.quote(path, safe="/-._~"), query]
    canonical += [f"{name}:{' '.join(headers.get(name, '').split())}" for name in names.split(";")]
    canonical += ["", names, digest(body)]
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, digest("\n".join(canonical).encode())])
    key = ("AWS4" + SECRET).encode()
    for part in scope.split("/"):
        key = keyed(key, part)
    return None if hmac.compare_digest(keyed(key, text).hex(), signature) else "a wrong signature"


class Tap(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def do_GET(self):
        if self.path == "/seen":
            with lock:
                text = json.dumps(seen).encode()
            self.reply(200, text)
        elif self.path == "/picture.png":
            self.reply(200, PICTURE, "application/octet-stream")
        else:
            self.reply(200, b"<html></html>", "image/png")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        if self.path == "/run":
            with lock:
                seen.clear()
            return self.reply(200, b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        with lock:
            seen.append({"path": self.path, "headers": headers, "body": json.loads(body)})
        path = self.path.partition("?")[0]
        problem = path.startswith("/model/") and signature_problem("POST", self.path, headers, body)
        if problem:
            error = {"message": problem}
            return self.reply(403, json.dumps(error).encode(), errortype="InvalidSignatureException")
        if path.endswith("/count_tokens"):
            return self.reply(200, json.dumps({"input_tokens": TOKENS}).encode())
        if path.endswith(":countTokens"):
            return self.reply(200, json.dumps({"totalTokens": TOKENS}).encode())
        if path.endswith("/count-tokens"):
            return self.reply(200, json.dumps({"inputTokens": TOKENS}).encode())
        return self.relay(body)

    def relay(self, body):
        mock = http.client.HTTPConnection("127.0.0.1", AIMOCK_PORT, timeout=20)
        kept = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        # Of Gemini's paths aimock knows those of v1beta, which are the same.
        path = re.sub("^/v1/models/", "/v1beta/models/", self.path)
        mock.request("POST", path, body, kept)
        answer = mock.getresponse()
        self.send_response(answer.status)
        for name in RELAYED:
            if answer.headers.get(name):
                self.send_header(name, answer.headers[name])
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            while piece := answer.read1(PIECE_BYTES):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        except (http.client.HTTPException, OSError):
            self.close_connection = True  # the mock broke off, and so does this
        mock.close()

    def reply(self, status, data, kind="application/json", errortype=None):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        if errortype:
            self.send_header("x-amzn-errortype", errortype)
        self.end_headers()
        self.wfile.write(data)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass  # a gateway that leaves is no fault


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Tap)
    print(server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)
