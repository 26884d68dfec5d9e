"""The `openai` package, Chat Completions, with every kind of provider."""

import base64
import json

import openai

from matrix import (
    CityReport, GATEWAY, HELLO, LIMA, Matrix, OSLO, RESULTS, SCHEMA, TAP, THOUGHT,
    check_picture, equal, fails, picture, sent,
)  # fmt: skip

client = openai.OpenAI(base_url=GATEWAY + "/v1", api_key="sk-any", max_retries=0, timeout=10)
matrix = Matrix("chat", "python-openai-chat")
check = matrix.check

WEATHER = {"type": "function", "function": {"name": "weather", "description": "How it is", "parameters": SCHEMA}}
NOW = {"type": "function", "function": {"name": "now"}}


def says(text):
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]


def ask(model, text, **options):
    return client.chat.completions.create(model=model, messages=says(text), **options)


def streamed(model, messages, **options):
    """The answer that the SDK makes of a stream."""
    request = {"model": model, "messages": messages, "stream_options": {"include_usage": True}, **options}
    with client.chat.completions.stream(**request) as stream:
        return stream.get_final_completion()


@check("unary")
def text(model, kind):
    answer = ask(model, "say hello", max_tokens=100, temperature=0.5, stop=["END"])
    (choice,) = answer.choices
    equal((choice.message.role, choice.message.content, choice.finish_reason), ("assistant", HELLO, "stop"))
    equal((answer.object, answer.model), ("chat.completion", model))
    usage = answer.usage
    equal((usage.prompt_tokens, usage.completion_tokens, usage.total_tokens), (11, 7, 18))


@check("unary")
def cut_by_the_limit(model, kind):
    answer = ask(model, "a long story")
    equal((answer.choices[0].message.content, answer.choices[0].finish_reason), ("Once upon a", "length"))


@check("unary")
def models(model, kind):
    listed = [each for each in client.models.list() if each.id == model]
    equal([(each.object, each.owned_by) for each in listed], [("model", "None")])


@check("stream")
def text_stream(model, kind):
    chunks = list(ask(model, "say hello", stream=True, stream_options={"include_usage": True}))
    pieces = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices and chunk.choices[0].delta.content]
    equal("".join(pieces), HELLO)
    assert len(pieces) > 1, "the text came in one piece"
    equal([chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1], "stop")
    equal([chunk.choices[0].delta.role for chunk in chunks if chunk.choices][0], "assistant")
    equal({(chunk.object, chunk.model) for chunk in chunks}, {("chat.completion.chunk", model)})
    equal(len({chunk.id for chunk in chunks}), 1)
    usage = [(chunk.usage.prompt_tokens, chunk.usage.completion_tokens) for chunk in chunks if chunk.usage]
    equal(usage, [(11, 7)])


@check("stream")
def text_stream_helper(model, kind):
    final = streamed(model, says("say hello"))
    equal((final.choices[0].message.content, final.choices[0].finish_reason), (HELLO, "stop"))
    equal(final.usage.total_tokens, 18)


def loop(model, text, calls, answer, answers):
    """Asks, calls what is to be called, and gives back the results."""
    messages = says(text)
    message = answers(model, messages).choices[0].message
    got = [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls]
    equal(got, [("weather", each) for each in calls])
    equal(len({call.id for call in message.tool_calls}), len(calls))
    messages.append(message.to_dict())
    for call in message.tool_calls:
        result = RESULTS[json.loads(call.function.arguments)["city"]]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    choice = answers(model, messages).choices[0]
    equal((choice.message.content, choice.finish_reason, choice.message.tool_calls or []), (answer, "stop", []))
    return message


def whole(model, messages):
    return client.chat.completions.create(model=model, messages=messages, tools=[WEATHER])


def in_pieces(model, messages):
    return streamed(model, messages, tools=[WEATHER])


@check("tools")
def tool_loop(model, kind):
    message = loop(model, "weather in Oslo", [OSLO], "It rains in Oslo.", whole)
    equal(message.content, "Let me look.")


@check("tools")
def tool_loop_stream(model, kind):
    message = loop(model, "weather in Oslo", [OSLO], "It rains in Oslo.", in_pieces)
    equal(message.content, "Let me look.")


@check("tools")
def tool_call_after_text_ends_as_a_call(model, kind):
    equal(ask(model, "weather in Oslo", tools=[WEATHER]).choices[0].finish_reason, "tool_calls")
    chunks = list(ask(model, "weather in Oslo", tools=[WEATHER], stream=True))
    ends = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason]
    equal(ends, ["tool_calls"])


@check("tools")
def tool_without_parameters(model, kind):
    for options in [{}, {"tool_choice": "required"}, {"tool_choice": {"type": "function", "function": {"name": "now"}}}]:
        (call,) = ask(model, "what time is it", tools=[NOW], **options).choices[0].message.tool_calls
        equal((call.function.name, call.function.arguments), ("now", "{}"))
    arguments = ""
    for chunk in ask(model, "what time is it", tools=[NOW], stream=True):
        for choice in chunk.choices:
            arguments += "".join(call.function.arguments for call in choice.delta.tool_calls or [])
    equal(arguments, "{}")


@check("parallel tools")
def parallel_tools(model, kind):
    message = loop(model, "both cities", [OSLO, LIMA], "Rain in Oslo, sun in Lima.", whole)
    equal(message.content, None)


@check("parallel tools")
def parallel_tools_stream(model, kind):
    loop(model, "both cities", [OSLO, LIMA], "Rain in Oslo, sun in Lima.", in_pieces)


@check("images")
def picture_as_data(model, kind):
    url = f"data:image/png;base64,{base64.b64encode(picture()).decode()}"
    parts = [{"type": "text", "text": "which picture?"}, {"type": "image_url", "image_url": {"url": url}}]
    answer = client.chat.completions.create(model=model, messages=[{"role": "user", "content": parts}])
    equal(answer.choices[0].message.content, "A red dot.")
    check_picture(kind)


@check("images")
def picture_by_address(model, kind):
    url = TAP + "/picture.png"
    parts = [{"type": "text", "text": "which picture?"}, {"type": "image_url", "image_url": {"url": url}}]
    answer = client.chat.completions.create(model=model, messages=[{"role": "user", "content": parts}])
    equal(answer.choices[0].message.content, "A red dot.")
    if kind in ("openai", "azure_openai"):
        equal(sent()["messages"][0]["content"], parts)
    else:
        check_picture(kind)


@check("images", kinds=("anthropic", "gemini", "bedrock"))
def address_without_a_picture(model, kind):
    parts = [{"type": "text", "text": "which picture?"}, {"type": "image_url", "image_url": {"url": TAP + "/page.html"}}]
    asked = lambda: client.chat.completions.create(model=model, messages=[{"role": "user", "content": parts}])
    error = fails(openai.BadRequestError, asked)
    equal(error.code, "image_fetch_failed")


@check("structured output")
def parse(model, kind):
    request = {"model": model, "messages": says("report"), "response_format": CityReport}
    choice = client.chat.completions.parse(**request).choices[0]
    equal((choice.message.parsed, choice.finish_reason), (CityReport(**OSLO), "stop"))
    final = streamed(**request)
    equal((final.choices[0].message.parsed, final.choices[0].finish_reason), (CityReport(**OSLO), "stop"))


@check("reasoning")
def thoughts(model, kind):
    message = ask(model, "think", reasoning_effort="low").choices[0].message
    equal((message.content, message.model_extra.get("reasoning_content")), ("Forty-two.", THOUGHT))
    body = sent()
    wanted = {"type": "enabled", "budget_tokens": 2048}
    if kind == "anthropic":
        equal(body["thinking"], wanted)
    elif kind == "bedrock":
        equal(body["additionalModelRequestFields"]["thinking"], wanted)
    elif kind == "gemini":
        thinking = body["generationConfig"]["thinkingConfig"]
        equal((thinking["thinkingBudget"], thinking["includeThoughts"]), (1024, True))
    else:
        equal(body["reasoning_effort"], "low")


@check("reasoning")
def thoughts_stream(model, kind):
    thought = text = ""
    for chunk in ask(model, "think", reasoning_effort="low", stream=True):
        for choice in chunk.choices:
            thought += choice.delta.model_extra.get("reasoning_content") or ""
            text += choice.delta.content or ""
    equal((thought, text), (THOUGHT, "Forty-two."))


@check("errors")
def statuses(model, kind):
    for status, expected in [
        (400, openai.BadRequestError),
        (429, openai.RateLimitError),
        (529, openai.InternalServerError),
    ]:
        for stream in (False, True):
            error = fails(expected, lambda: ask(model, f"fail {status}", stream=stream))
            equal(error.status_code, status)
            assert f"scripted {status}" in error.message, error.message


@check("errors")
def stream_that_breaks_off(model, kind):
    got = []

    def read():
        for chunk in ask(model, "cut off", stream=True):
            got.extend(choice.delta.content or "" for choice in chunk.choices)

    error = fails(openai.APIError, read)
    equal(error.code, "provider_stream_aborted")
    assert "".join(got).startswith("This"), got


if __name__ == "__main__":
    matrix.run()
