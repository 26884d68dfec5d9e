"""What the tests of one client have in common: a table of checks, each of them run against every kind of provider.

    ONWARDS_BASE_URL=http://127.0.0.1:3000 TAP_URL=http://127.0.0.1:4000 python openai_chat.py

`cargo xtask clients` starts the gateway, aimock and the tap between them, and runs these files. Where `ONWARDS_MATRIX` names
a file, a line is added to it for each check: protocol, kind, feature, and `ok` or why not, with tabs between.
"""

import base64
import json
import os
import sys
import traceback
import urllib.request

import pydantic

HERE = os.path.dirname(os.path.abspath(__file__))
GATEWAY = os.environ["ONWARDS_BASE_URL"]
TAP = os.environ["TAP_URL"]
KINDS = ("openai", "azure_openai", "anthropic", "gemini", "bedrock")
FEATURES = ("unary", "stream", "tools", "parallel tools", "images", "structured output", "reasoning", "errors")

HELLO = "Hello, wörld 😀\u2028bye"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
RESULTS = {"Oslo": "rain, 7 degrees", "Lima": "sun, 25 degrees"}
OSLO = {"city": "Oslo", "days": 3}
LIMA = {"city": "Lima", "days": 1}
THOUGHT = "Let me think about it."
TOKENS = 42


class CityReport(pydantic.BaseModel):
    city: str
    days: int


def get(path):
    with urllib.request.urlopen(TAP + path, timeout=5) as answer:
        return answer.read()


def picture():
    return get("/picture.png")


def seen():
    """What the provider was sent since the check began."""
    return json.loads(get("/seen"))


def sent():
    """The one request that the provider was sent."""
    (request,) = seen()
    return request["body"]


def equal(got, expected):
    if got != expected:
        raise AssertionError(f"{got!r} is not {expected!r}")


def fails(expected, asked):
    """The error that is raised, of exactly this class."""
    try:
        asked()
    except Exception as error:
        equal(type(error).__name__, expected.__name__)
        return error
    raise AssertionError(f"no {expected.__name__}")


def check_picture(kind, media_type="image/png"):
    """The provider was sent the picture in the way of its kind, once, after the words about it."""
    body, data = sent(), base64.b64encode(picture()).decode()
    if kind in ("openai", "azure_openai"):
        url = f"data:{media_type};base64,{data}"
        if "input" in body:
            part = body["input"][-1]["content"][1]
            equal((part["type"], part["image_url"]), ("input_image", url))
        else:
            part = body["messages"][-1]["content"][1]
            equal((part["type"], part["image_url"]["url"]), ("image_url", url))
    elif kind == "anthropic":
        source = {"type": "base64", "media_type": media_type, "data": data}
        equal(body["messages"][-1]["content"][1], {"type": "image", "source": source})
    elif kind == "gemini":
        equal(body["contents"][-1]["parts"][1], {"inlineData": {"mimeType": media_type, "data": data}})
    else:
        image = {"format": media_type.removeprefix("image/"), "source": {"bytes": data}}
        equal(body["messages"][-1]["content"][1], {"image": image})


class Matrix:
    def __init__(self, protocol, client):
        self.protocol = protocol
        self.client = client
        self.checks = []

    def check(self, feature, kinds=KINDS):
        """Adds a check; it is given the alias and the kind that serves it."""
        assert feature in FEATURES, feature

        def add(function):
            self.checks += [(feature, kind, function) for kind in kinds]
            return function

        return add

    def run(self):
        passed = failed = 0
        for feature, kind, function in self.checks:
            urllib.request.urlopen(urllib.request.Request(TAP + "/run", b""), timeout=5).close()
            why = "ok"
            try:
                function(f"m-{kind}", kind)
                passed += 1
            except Exception as error:
                failed += 1
                why = f"{function.__name__}: {type(error).__name__}: {error}".translate({9: " ", 10: " ", 13: " "})[:500]
                frames = traceback.extract_tb(error.__traceback__)[1:]
                lines = [frame.lineno for frame in frames if HERE in os.path.abspath(frame.filename)]
                print(f"{self.client}: {kind}, {feature}, {why} (lines {lines})", flush=True)
            self.note(kind, feature, why)
        print(f"{self.client}: {passed} passed, {failed} failed", flush=True)
        sys.exit(0 if passed and not failed else 1)

    def note(self, kind, feature, why):
        if name := os.environ.get("ONWARDS_MATRIX"):
            with open(name, "a", encoding="utf-8") as file:
                print(self.protocol, kind, feature, why, sep="\t", file=file)
