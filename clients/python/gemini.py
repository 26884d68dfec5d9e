"""The `google-genai` package with every kind of provider."""

import base64
import logging
import warnings

from google import genai
from google.genai import errors, types

from matrix import (
    CityReport, GATEWAY, HELLO, LIMA, Matrix, OSLO, RESULTS, SCHEMA, TAP, THOUGHT, TOKENS,
    check_picture, equal, fails, picture, seen, sent,
)  # fmt: skip


# The SDK tells that it does not know aimock's FUNCTION_CALL as a reason to finish, and what it recommends.
warnings.filterwarnings("ignore", category=UserWarning, module="google.genai")
logging.getLogger("google_genai").setLevel(logging.ERROR)


def sdk(**options):
    http = types.HttpOptions(base_url=GATEWAY, timeout=10_000, **options)
    return genai.Client(api_key="any", vertexai=False, http_options=http)


client = sdk()
matrix = Matrix("gemini", "python-google-genai")
check = matrix.check

WEATHER = types.FunctionDeclaration(name="weather", description="How it is", parameters_json_schema=SCHEMA)
AIMOCKS = {400: "invalid_request_error", 429: "rate_limit_error", 529: "overloaded_error"}
NOW = types.FunctionDeclaration(name="now")


def config(*functions, **options):
    tools = [types.Tool(function_declarations=functions)] if functions else None
    by_hand = types.AutomaticFunctionCallingConfig(disable=True)
    return types.GenerateContentConfig(
        system_instruction="Be brief.", tools=tools, automatic_function_calling=by_hand, **options
    )


def whole(model, contents, options):
    return [client.models.generate_content(model=model, contents=contents, config=options)]


def in_pieces(model, contents, options):
    return list(client.models.generate_content_stream(model=model, contents=contents, config=options))


def parts_of(answers):
    found = [part for each in answers for one in each.candidates[:1] for part in (one.content and one.content.parts) or []]
    return [part for part in found if part.text != ""]


def text_of(answers, thought=None):
    return "".join(part.text for part in parts_of(answers) if part.text and bool(part.thought) == bool(thought))


def ends_of(answers):
    return [each.candidates[0].finish_reason for each in answers if each.candidates and each.candidates[0].finish_reason]


def usage_of(answers):
    usage = answers[-1].usage_metadata
    return (usage.prompt_token_count, usage.candidates_token_count, usage.total_token_count)


def named(model, kind):
    """The model that an answer names. aimock's own, that of the same dialect, names none."""
    return None if kind == "gemini" else model


@check("unary")
def text(model, kind):
    options = config(max_output_tokens=100, temperature=0.5, stop_sequences=["END"])
    (answer,) = whole(model, "say hello", options)
    equal((answer.text, ends_of([answer])), (HELLO, [types.FinishReason.STOP]))
    equal((usage_of([answer]), answer.model_version), ((11, 7, 18), named(model, kind)))


@check("unary")
def text_by_the_older_path(model, kind):
    older = sdk(api_version="v1beta")
    answer = older.models.generate_content(model=model, contents="say hello")
    equal((answer.text, answer.model_version), (HELLO, named(model, kind)))
    answer = list(older.models.generate_content_stream(model=model, contents="say hello"))
    equal(text_of(answer), HELLO)


@check("unary")
def cut_by_the_limit(model, kind):
    answers = whole(model, "a long story", config())
    equal((text_of(answers), ends_of(answers)), ("Once upon a", [types.FinishReason.MAX_TOKENS]))


@check("unary")
def count_tokens(model, kind):
    got = client.models.count_tokens(model=model, contents="say hello")
    if kind in ("openai", "azure_openai"):
        equal(seen(), [])
        assert 2 <= got.total_tokens <= 20, got
    else:
        equal((got.total_tokens, len(seen())), (TOKENS, 1))


@check("unary")
def models(model, kind):
    for using in (client, sdk(api_version="v1beta")):  # the SDK's own and the older path
        listed = [each for each in using.models.list() if each.name == f"models/{model}"]
        equal([each.display_name for each in listed], [model])


@check("stream")
def text_stream(model, kind):
    chunks = in_pieces(model, "say hello", config())
    assert sum(bool(chunk.text) for chunk in chunks) > 1, "the text came in one piece"
    equal((text_of(chunks), ends_of(chunks)), (HELLO, [types.FinishReason.STOP]))
    equal((usage_of(chunks), {chunk.model_version for chunk in chunks}), ((11, 7, 18), {named(model, kind)}))


def loop(model, text, calls, answer, answers):
    """Asks, calls what is to be called, and gives back the results."""
    contents = [types.UserContent(text)]
    first = answers(model, contents, config(WEATHER))
    asked = [part.function_call for part in parts_of(first) if part.function_call]
    equal([(call.name, call.args) for call in asked], [("weather", each) for each in calls])
    results = []
    for call in asked:
        response = types.FunctionResponse(id=call.id, name=call.name, response={"result": RESULTS[call.args["city"]]})
        results.append(types.Part(function_response=response))
    contents += [types.ModelContent(parts_of(first)), types.UserContent(results)]
    last = answers(model, contents, config(WEATHER))
    equal((text_of(last), ends_of(last)), (answer, [types.FinishReason.STOP]))
    equal([part for part in parts_of(last) if part.function_call], [])
    return first


@check("tools")
def tool_loop(model, kind):
    equal(text_of(loop(model, "weather in Oslo", [OSLO], "It rains in Oslo.", whole)), "Let me look.")


@check("tools")
def tool_loop_stream(model, kind):
    equal(text_of(loop(model, "weather in Oslo", [OSLO], "It rains in Oslo.", in_pieces)), "Let me look.")


@check("tools", kinds=("openai", "azure_openai", "anthropic", "bedrock"))
def call_ends_as_a_stop(model, kind):
    for answers in (whole, in_pieces):
        equal(ends_of(answers(model, "weather in Oslo", config(WEATHER))), [types.FinishReason.STOP])


@check("tools")
def tool_without_parameters(model, kind):
    any_of = types.ToolConfig(function_calling_config=types.FunctionCallingConfig(mode="ANY"))
    for options in [config(NOW), config(NOW, tool_config=any_of)]:
        for answers in (whole, in_pieces):
            (part,) = parts_of(answers(model, "what time is it", options))
            equal((part.function_call.name, part.function_call.args), ("now", {}))


@check("tools")
def function_that_the_sdk_calls(model, kind):
    asked = []

    def weather(city: str, days: int) -> str:
        """How it is."""
        asked.append((city, days))
        return RESULTS[city]

    options = types.GenerateContentConfig(tools=[weather])
    answer = client.models.generate_content(model=model, contents="weather in Oslo", config=options)
    equal((answer.text, asked), ("It rains in Oslo.", [("Oslo", 3)]))


@check("parallel tools")
def parallel_tools(model, kind):
    loop(model, "both cities", [OSLO, LIMA], "Rain in Oslo, sun in Lima.", whole)


@check("parallel tools")
def parallel_tools_stream(model, kind):
    loop(model, "both cities", [OSLO, LIMA], "Rain in Oslo, sun in Lima.", in_pieces)


@check("images")
def picture_as_data(model, kind):
    shown = types.Part.from_bytes(data=picture(), mime_type="image/png")
    equal(text_of(whole(model, ["which picture?", shown], config())), "A red dot.")
    if kind == "gemini":
        # The client's own words: the SDK writes some members in snake case.
        data = {"data": base64.b64encode(picture()).decode(), "mime_type": "image/png"}
        equal(sent()["contents"][0]["parts"][1], {"inlineData": data})
    else:
        check_picture(kind)


@check("images", kinds=("openai", "azure_openai", "anthropic", "bedrock"))
def picture_by_address(model, kind):
    url = TAP + "/picture.png"
    shown = types.Part.from_uri(file_uri=url, mime_type="image/png")
    equal(text_of(whole(model, ["which picture?", shown], config())), "A red dot.")
    if kind in ("openai", "azure_openai"):
        equal(sent()["messages"][-1]["content"][1], {"type": "image_url", "image_url": {"url": url}})
    else:
        check_picture(kind)


@check("structured output")
def parsed(model, kind):
    options = config(response_mime_type="application/json", response_schema=CityReport)
    (answer,) = whole(model, "report", options)
    equal(answer.parsed, CityReport(**OSLO))
    streamed = text_of(in_pieces(model, "report", options))
    equal(CityReport.model_validate_json(streamed), CityReport(**OSLO))


@check("reasoning")
def thoughts(model, kind):
    thinking = types.ThinkingConfig(thinking_budget=8192, include_thoughts=True)
    for answers in (whole, in_pieces):
        answer = answers(model, "think", config(thinking_config=thinking))
        equal((text_of(answer, thought=True), text_of(answer)), (THOUGHT, "Forty-two."))
    for each in seen():
        body, wanted = each["body"], {"type": "enabled", "budget_tokens": 8192}
        if kind == "anthropic":
            equal(body["thinking"], wanted)
        elif kind == "bedrock":
            equal(body["additionalModelRequestFields"]["thinking"], wanted)
        elif kind == "gemini":
            equal(body["generationConfig"]["thinkingConfig"], {"include_thoughts": True, "thinking_budget": 8192})
        else:
            equal(body["reasoning_effort"], "medium")


@check("errors")
def statuses(model, kind):
    for status, expected, word in [
        (400, errors.ClientError, "INVALID_ARGUMENT"),
        (429, errors.ClientError, "RESOURCE_EXHAUSTED"),
        (529, errors.ServerError, "UNAVAILABLE"),
    ]:
        for answers in (whole, in_pieces):
            error = fails(expected, lambda: answers(model, f"fail {status}", config()))
            # In the same dialect the words are aimock's, which are none of Google's.
            equal((error.code, error.status), (status, AIMOCKS[status] if kind == "gemini" else word))
            assert f"scripted {status}" in error.message, error.message


@check("errors")
def stream_that_breaks_off(model, kind):
    error = fails(errors.ServerError, lambda: in_pieces(model, "cut off", config()))
    equal((error.code, error.status), (502, "UNAVAILABLE"))


if __name__ == "__main__":
    matrix.run()
