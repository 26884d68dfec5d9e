"""The `openai` package, Responses, with every kind of provider."""

import base64
import json

import openai

from matrix import (
    CityReport, GATEWAY, HELLO, LIMA, Matrix, OSLO, RESULTS, SCHEMA, TAP, THOUGHT,
    check_picture, equal, fails, picture, seen, sent,
)  # fmt: skip

client = openai.OpenAI(base_url=GATEWAY + "/v1", api_key="sk-any", max_retries=0, timeout=10)
matrix = Matrix("responses", "python-openai-responses")
check = matrix.check

WEATHER = {"type": "function", "name": "weather", "description": "How it is", "parameters": SCHEMA, "strict": True}
# aimock's own events, those of the same dialect, are not numbered, and end as complete whatever they are.
TRANSLATED = ("azure_openai", "anthropic", "gemini", "bedrock")


def ask(model, text, **options):
    return client.responses.create(model=model, instructions="Be brief.", input=text, **options)


def streamed(model, given, **options):
    """The answer at the end of a stream."""
    with client.responses.stream(model=model, input=given, **options) as stream:
        return stream.get_final_response()


@check("unary")
def text(model, kind):
    answer = ask(model, "say hello", max_output_tokens=100, temperature=0.5)
    equal((answer.output_text, answer.status, answer.object, answer.model), (HELLO, "completed", "response", model))
    usage = answer.usage
    equal((usage.input_tokens, usage.output_tokens, usage.total_tokens), (11, 7, 18))


@check("unary", kinds=TRANSLATED)
def cut_by_the_limit(model, kind):
    answer = ask(model, "a long story")
    equal((answer.output_text, answer.status), ("Once upon a", "incomplete"))
    equal(answer.incomplete_details.reason, "max_output_tokens")


@check("unary", kinds=TRANSLATED)
def conversation_kept_elsewhere(model, kind):
    error = fails(openai.BadRequestError, lambda: ask(model, "say hello", previous_response_id="resp_1"))
    equal((error.code, error.param, seen()), ("unsupported_parameter", "previous_response_id", []))


@check("stream")
def text_stream(model, kind):
    events = list(ask(model, "say hello", stream=True))
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    equal("".join(deltas), HELLO)
    assert len(deltas) > 1, "the text came in one piece"
    equal((events[0].type, events[-1].type), ("response.created", "response.completed"))
    final = events[-1].response
    equal((final.output_text, final.model, final.status), (HELLO, model, "completed"))
    equal((final.usage.input_tokens, final.usage.output_tokens), (11, 7))
    equal(sum(event.type == "response.completed" for event in events), 1)


@check("stream", kinds=TRANSLATED)
def events_are_numbered(model, kind):
    events = list(ask(model, "say hello", stream=True))
    equal([event.sequence_number for event in events], list(range(len(events))))
    kinds_of = [event.type.removeprefix("response.") for event in events if event.type != "response.output_text.delta"]
    equal(
        kinds_of,
        ["created", "in_progress", "output_item.added", "content_part.added", "output_text.done", "content_part.done"]
        + ["output_item.done", "completed"],
    )


@check("stream")
def text_stream_helper(model, kind):
    equal(streamed(model, "say hello").output_text, HELLO)


def loop(text, calls, answer, answers):
    """Asks, calls what is to be called, and gives back the results."""
    given = [{"role": "user", "content": text}]
    first = answers(given)
    asked = [item for item in first.output if item.type == "function_call"]
    equal([(call.name, json.loads(call.arguments)) for call in asked], [("weather", each) for each in calls])
    equal(len({call.call_id for call in asked}), len(calls))
    given += [item.to_dict(exclude_none=True) for item in first.output]
    for call in asked:
        result = RESULTS[json.loads(call.arguments)["city"]]
        given.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
    last = answers(given)
    equal((last.output_text, [item.type for item in last.output]), (answer, ["message"]))
    return first


@check("tools")
def tool_loop(model, kind):
    answers = lambda given: client.responses.create(model=model, input=given, tools=[WEATHER])
    first = loop("weather in Oslo", [OSLO], "It rains in Oslo.", answers)
    equal((first.output_text, first.status), ("Let me look.", "completed"))


@check("tools")
def tool_loop_stream(model, kind):
    answers = lambda given: streamed(model, given, tools=[WEATHER])
    first = loop("weather in Oslo", [OSLO], "It rains in Oslo.", answers)
    equal(first.output_text, "Let me look.")


@check("tools")
def arguments_come_in_pieces(model, kind):
    events = list(ask(model, "weather in Oslo", tools=[WEATHER], stream=True))
    deltas = [event.delta for event in events if event.type == "response.function_call_arguments.delta"]
    (whole,) = [event.arguments for event in events if event.type == "response.function_call_arguments.done"]
    equal(("".join(deltas), json.loads(whole)), (whole, OSLO))


@check("parallel tools")
def parallel_tools(model, kind):
    answers = lambda given: client.responses.create(model=model, input=given, tools=[WEATHER])
    loop("both cities", [OSLO, LIMA], "Rain in Oslo, sun in Lima.", answers)


@check("parallel tools")
def parallel_tools_stream(model, kind):
    answers = lambda given: streamed(model, given, tools=[WEATHER])
    loop("both cities", [OSLO, LIMA], "Rain in Oslo, sun in Lima.", answers)


def show(model, url):
    parts = [{"type": "input_text", "text": "which picture?"}, {"type": "input_image", "image_url": url}]
    answer = client.responses.create(model=model, input=[{"role": "user", "content": parts}])
    equal(answer.output_text, "A red dot.")


@check("images")
def picture_as_data(model, kind):
    show(model, f"data:image/png;base64,{base64.b64encode(picture()).decode()}")
    check_picture(kind)


@check("images")
def picture_by_address(model, kind):
    url = TAP + "/picture.png"
    show(model, url)
    if kind == "openai":
        equal(sent()["input"][0]["content"][1], {"type": "input_image", "image_url": url})
    elif kind == "azure_openai":
        equal(sent()["messages"][0]["content"][1], {"type": "image_url", "image_url": {"url": url}})
    else:
        check_picture(kind)


@check("structured output")
def parse(model, kind):
    request = {"model": model, "input": "report", "text_format": CityReport}
    equal(client.responses.parse(**request).output_parsed, CityReport(**OSLO))
    with client.responses.stream(**request) as stream:
        equal(stream.get_final_response().output_parsed, CityReport(**OSLO))


def thought_in(answer):
    (item,) = [item for item in answer.output if item.type == "reasoning"]
    return "".join(part.text for part in item.summary or item.content)


@check("reasoning")
def thoughts(model, kind):
    answer = ask(model, "think", reasoning={"effort": "low"})
    equal((answer.output_text, thought_in(answer)), ("Forty-two.", THOUGHT))
    body = sent()
    wanted = {"type": "enabled", "budget_tokens": 2048}
    if kind == "anthropic":
        equal(body["thinking"], wanted)
    elif kind == "bedrock":
        equal(body["additionalModelRequestFields"]["thinking"], wanted)
    elif kind == "gemini":
        equal(body["generationConfig"]["thinkingConfig"]["thinkingBudget"], 1024)
    elif kind == "azure_openai":
        equal(body["reasoning_effort"], "low")
    else:
        equal(body["reasoning"], {"effort": "low"})


@check("reasoning")
def thoughts_stream(model, kind):
    answer = streamed(model, "think", reasoning={"effort": "low"})
    equal((answer.output_text, thought_in(answer)), ("Forty-two.", THOUGHT))


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
    events = list(ask(model, "cut off", stream=True))
    equal(events[-1].type, "response.failed")
    failed = events[-1].response
    equal((failed.status, failed.error.code), ("failed", "provider_stream_aborted"))


if __name__ == "__main__":
    matrix.run()
