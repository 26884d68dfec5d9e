"""The `anthropic` package with every kind of provider."""

import base64

import anthropic

from matrix import (
    CityReport, GATEWAY, HELLO, KINDS, LIMA, Matrix, OSLO, RESULTS, SCHEMA, TAP, THOUGHT, TOKENS,
    check_picture, equal, fails, picture, seen, sent,
)  # fmt: skip

client = anthropic.Anthropic(base_url=GATEWAY, api_key="sk-any", max_retries=0, timeout=10)
matrix = Matrix("messages", "python-anthropic")
check = matrix.check

WEATHER = {"name": "weather", "description": "How it is", "input_schema": SCHEMA}
NOW = {"name": "now", "input_schema": {"type": "object", "properties": {}}}


# Thoughts that only Claude's providers sign are shown when they are. aimock does not sign those of Bedrock, which is known
# at the end of them only, when a stream has shown them.
SIGNED = {(kind, stream): [] for kind in KINDS for stream in (False, True)}
SIGNED["anthropic", False] = SIGNED["anthropic", True] = [(THOUGHT, "c2lnbmVk")]
SIGNED["bedrock", True] = [(THOUGHT, "")]


def user(content):
    return [{"role": "user", "content": content}]


def request(model, content, **options):
    return {"model": model, "max_tokens": 100, "system": "Be brief.", "messages": user(content), **options}


def ask(model, content, **options):
    return client.messages.create(**request(model, content, **options))


def streamed(**asked):
    """The answer that the SDK makes of a stream."""
    with client.messages.stream(**asked) as stream:
        return stream.get_final_message()


def texts(message):
    return [block.text for block in message.content if block.type == "text"]


@check("unary")
def text(model, kind):
    answer = ask(model, "say hello", stop_sequences=["END"])
    equal((texts(answer), answer.stop_reason, answer.role), ([HELLO], "end_turn", "assistant"))
    equal((answer.type, answer.model), ("message", model))
    equal((answer.usage.input_tokens, answer.usage.output_tokens), (11, 7))


@check("unary")
def cut_by_the_limit(model, kind):
    answer = ask(model, "a long story")
    equal((texts(answer), answer.stop_reason), (["Once upon a"], "max_tokens"))


@check("unary")
def count_tokens(model, kind):
    asked = request(model, "say hello")
    del asked["max_tokens"]
    got = client.messages.with_raw_response.count_tokens(**asked)
    source = got.headers["x-onwards-token-count"]
    if kind in ("openai", "azure_openai"):
        equal((source, seen()), ("estimate", []))
        assert 2 <= got.parse().input_tokens <= 20, got.parse()
    else:
        equal((source, got.parse().input_tokens, len(seen())), ("provider", TOKENS, 1))


@check("unary")
def models(model, kind):
    listed = [each for each in client.models.list(limit=1000) if each.id == model]
    equal([(each.type, each.display_name) for each in listed], [("model", model)])


@check("stream")
def text_stream(model, kind):
    events = list(ask(model, "say hello", stream=True))
    deltas = [event.delta.text for event in events if event.type == "content_block_delta"]
    equal("".join(deltas), HELLO)
    assert len(deltas) > 1, "the text came in one piece"
    shape = [event.type for event in events if event.type not in ("ping", "content_block_delta")]
    equal(
        shape,
        ["message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"],
    )
    equal((events[0].message.model, events[-2].delta.stop_reason), (model, "end_turn"))
    equal(events[-2].usage.output_tokens, 7)


@check("stream")
def text_stream_helper(model, kind):
    final = streamed(**request(model, "say hello"))
    equal((texts(final), final.stop_reason, final.usage.output_tokens), ([HELLO], "end_turn", 7))
    equal(final.usage.input_tokens, 11)


def loop(model, text, calls, answer, answers):
    """Asks, calls what is to be called, and gives back the results."""
    messages = user(text)
    asked = {"model": model, "max_tokens": 100, "tools": [WEATHER], "messages": messages}
    first = answers(**asked)
    used = [block for block in first.content if block.type == "tool_use"]
    equal([(block.name, block.input) for block in used], [("weather", each) for each in calls])
    equal((first.stop_reason, len({block.id for block in used})), ("tool_use", len(calls)))
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": RESULTS[block.input["city"]]} for block in used
    ]
    messages += [{"role": "assistant", "content": first.to_dict()["content"]}, {"role": "user", "content": results}]
    last = answers(**asked)
    equal((texts(last), last.stop_reason), ([answer], "end_turn"))
    return first


@check("tools")
def tool_loop(model, kind):
    first = loop(model, "weather in Oslo", [OSLO], "It rains in Oslo.", client.messages.create)
    equal([block.type for block in first.content], ["text", "tool_use"])


@check("tools")
def tool_loop_stream(model, kind):
    first = loop(model, "weather in Oslo", [OSLO], "It rains in Oslo.", streamed)
    equal(texts(first), ["Let me look."])


@check("tools")
def tool_without_parameters(model, kind):
    for choice in [{"type": "auto"}, {"type": "any"}, {"type": "tool", "name": "now"}]:
        for answers in (client.messages.create, streamed):
            (block,) = answers(**request(model, "what time is it", tools=[NOW], tool_choice=choice)).content
            equal((block.type, block.name, block.input), ("tool_use", "now", {}))


@check("parallel tools")
def parallel_tools(model, kind):
    loop(model, "both cities", [OSLO, LIMA], "Rain in Oslo, sun in Lima.", client.messages.create)


@check("parallel tools")
def parallel_tools_stream(model, kind):
    loop(model, "both cities", [OSLO, LIMA], "Rain in Oslo, sun in Lima.", streamed)


def show(model, source):
    parts = [{"type": "text", "text": "which picture?"}, {"type": "image", "source": source}]
    equal(texts(ask(model, parts)), ["A red dot."])


@check("images")
def picture_as_data(model, kind):
    data = base64.b64encode(picture()).decode()
    show(model, {"type": "base64", "media_type": "image/png", "data": data})
    check_picture(kind)


@check("images")
def picture_by_address(model, kind):
    url = TAP + "/picture.png"
    show(model, {"type": "url", "url": url})
    if kind == "anthropic":
        equal(sent()["messages"][0]["content"][1]["source"], {"type": "url", "url": url})
    elif kind in ("openai", "azure_openai"):
        equal(sent()["messages"][-1]["content"][1], {"type": "image_url", "image_url": {"url": url}})
    else:
        check_picture(kind)


@check("structured output")
def parse(model, kind):
    asked = request(model, "report", output_format=CityReport)
    equal(client.messages.parse(**asked).parsed_output, CityReport(**OSLO))
    equal(streamed(**asked).parsed_output, CityReport(**OSLO))


@check("reasoning")
def thoughts(model, kind):
    thinking = {"type": "enabled", "budget_tokens": 2048}
    for answers in (client.messages.create, streamed):
        answer = answers(**request(model, "think", max_tokens=5000, thinking=thinking))
        equal(texts(answer), ["Forty-two."])
        got = [(block.thinking, block.signature) for block in answer.content if block.type == "thinking"]
        equal(got, SIGNED[kind, answers == streamed])
    for each in seen():
        body = each["body"]
        if kind == "anthropic":
            equal(body["thinking"], thinking)
        elif kind == "bedrock":
            equal(body["additionalModelRequestFields"]["thinking"], thinking)
        elif kind == "gemini":
            equal(body["generationConfig"]["thinkingConfig"]["thinkingBudget"], 2048)
        else:
            equal(body["reasoning_effort"], "low")


@check("errors")
def statuses(model, kind):
    for status, expected, word in [
        (400, anthropic.BadRequestError, "invalid_request_error"),
        (429, anthropic.RateLimitError, "rate_limit_error"),
        (529, anthropic._exceptions.OverloadedError, "overloaded_error"),
    ]:
        for stream in (False, True):
            error = fails(expected, lambda: ask(model, f"fail {status}", stream=stream))
            equal((error.status_code, error.body["type"], error.body["error"]["type"]), (status, "error", word))
            assert f"scripted {status}" in error.body["error"]["message"], error.body


@check("errors")
def stream_that_breaks_off(model, kind):
    got = []

    def read():
        for event in ask(model, "cut off", stream=True):
            got.append(event.type)

    error = fails(anthropic.APIStatusError, read)
    equal((error.body["type"], error.body["error"]["type"]), ("error", "api_error"))
    assert "content_block_delta" in got and "message_stop" not in got, got


if __name__ == "__main__":
    matrix.run()
