"""The official Python SDK against a running gateway.

    ONWARDS_BASE_URL=http://127.0.0.1:3000 UPSTREAM_URL=http://127.0.0.1:4000 python test_gateway.py

`cargo xtask clients` starts both and runs this.
"""

import asyncio
import json
import os
import sys
import time
import unittest
import urllib.request
import uuid

import openai

GATEWAY = os.environ["ONWARDS_BASE_URL"] + "/v1"
UPSTREAM = os.environ["UPSTREAM_URL"]
HELLO = [{"role": "user", "content": "Hello!"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
}


def client(**options):
    return openai.OpenAI(**{"base_url": GATEWAY, "api_key": "sk-good", "max_retries": 0, "timeout": 10.0, **options})


def new_run():
    return f"run-{uuid.uuid4()}"


def seen(run):
    with urllib.request.urlopen(f"{UPSTREAM}/seen?run={run}", timeout=5) as answer:
        return json.load(answer)


def eventually(question, seconds=5.0):
    """Asks until the answer is true; what is waited for happens in another process."""
    deadline = time.monotonic() + seconds
    while not question():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


class Answers(unittest.TestCase):
    def test_chat(self):
        answer = client().chat.completions.create(model="chat", messages=HELLO)
        self.assertEqual(answer.choices[0].message.content, "Hello, wörld")
        self.assertEqual(answer.choices[0].finish_reason, "stop")
        self.assertEqual((answer.model, answer.usage.total_tokens), ("chat", 8))

    def test_chat_stream(self):
        chunks = list(client().chat.completions.create(model="chat", messages=HELLO, stream=True))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        self.assertEqual(text, "Hello, wörld")
        self.assertEqual(chunks[-1].choices[0].finish_reason, "stop")
        self.assertEqual({chunk.object for chunk in chunks}, {"chat.completion.chunk"})

    def test_stream_helper(self):
        with client().chat.completions.stream(model="chat", messages=HELLO) as stream:
            final = stream.get_final_completion()
        self.assertEqual(final.choices[0].message.content, "Hello, wörld")

    def test_tools(self):
        run = new_run()
        answer = client().chat.completions.create(model="tools", messages=HELLO, tools=[WEATHER], user=run)
        (call,) = answer.choices[0].message.tool_calls
        self.assertIsNone(answer.choices[0].message.content)
        self.assertEqual((call.id, call.type, call.function.name), ("call_1", "function", "weather"))
        self.assertEqual(json.loads(call.function.arguments), {"city": "Oslo", "days": 3})
        self.assertEqual(seen(run)["bodies"][0]["tools"], [WEATHER])

    def test_tools_stream(self):
        stream = client().chat.completions.create(model="tools", messages=HELLO, tools=[WEATHER], stream=True)
        name, arguments, finish = "", "", None
        for chunk in stream:
            finish = chunk.choices[0].finish_reason or finish
            for call in chunk.choices[0].delta.tool_calls or []:
                name += call.function.name or ""
                arguments += call.function.arguments
        self.assertEqual((name, finish), ("weather", "tool_calls"))
        self.assertEqual(json.loads(arguments), {"city": "Oslo", "days": 3})

    def test_embeddings(self):
        answer = client().embeddings.create(model="embed", input=["a", "b"], encoding_format="float")
        self.assertEqual([each.embedding for each in answer.data], [[0.25, -1.5, 0.0], [0.25, -1.5, 1.0]])
        self.assertEqual(answer.usage.total_tokens, 2)

    def test_embedded_provider(self):
        answer = client().chat.completions.create(model="echo", messages=HELLO)
        self.assertEqual(answer.model, "echo")
        self.assertIn("Hello!", answer.choices[0].message.content)

    def test_embedded_provider_stream(self):
        whole = client().chat.completions.create(model="echo", messages=HELLO).choices[0].message.content
        chunks = client().chat.completions.create(model="echo", messages=HELLO, stream=True)
        text = "".join(each.choices[0].delta.content or "" for each in chunks if each.choices)
        self.assertEqual(text, whole)

    def test_models(self):
        with_key = [model.id for model in client().models.list()]
        without = [model.id for model in client(api_key="sk-unknown").models.list()]
        self.assertIn("locked", with_key)
        self.assertNotIn("locked", without)
        self.assertIn("chat", without)

    def test_many_at_once(self):
        async def ask(model):
            async with openai.AsyncOpenAI(base_url=GATEWAY, api_key="sk-good", max_retries=0) as many:
                asked = [many.chat.completions.create(model=model, messages=HELLO) for _ in range(40)]
                return [answer.choices[0].message.content for answer in await asyncio.gather(*asked)]

        self.assertEqual(asyncio.run(ask("chat")), ["Hello, wörld"] * 40)


class Errors(unittest.TestCase):
    def check(self, model, expected, code, **options):
        with self.assertRaises(expected) as caught:
            client(**options).chat.completions.create(model=model, messages=HELLO)
        self.assertIs(type(caught.exception), expected)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def test_provider_errors_keep_their_class(self):
        for status, expected in [
            (400, openai.BadRequestError),
            (401, openai.AuthenticationError),
            (403, openai.PermissionDeniedError),
            (404, openai.NotFoundError),
            (409, openai.ConflictError),
            (422, openai.UnprocessableEntityError),
            (429, openai.RateLimitError),
            (500, openai.InternalServerError),
            (503, openai.InternalServerError),
        ]:
            with self.subTest(status=status):
                error = self.check(f"status-{status}", expected, f"code_{status}")
                self.assertEqual(error.status_code, status)
                self.assertIn(f"scripted {status}", error.message)

    def test_gateway_errors_have_their_class(self):
        self.check("locked", openai.AuthenticationError, "unauthenticated", api_key="sk-wrong")
        self.check("no-such-model", openai.NotFoundError, "model_not_found")
        self.check("full", openai.RateLimitError, "concurrency_limit_exceeded")
        self.check("unreachable", openai.InternalServerError, "internal_error")

    def test_right_key_opens(self):
        answer = client().chat.completions.create(model="locked", messages=HELLO)
        self.assertIn("Hello!", answer.choices[0].message.content)

    def test_retry_waits_as_the_provider_asked(self):
        run = new_run()
        answer = client(max_retries=2).chat.completions.create(model="busy", messages=HELLO, user=run)
        self.assertEqual(answer.choices[0].message.content, "Hello, wörld")
        first, second = seen(run)["times"]
        # Without the hint the SDK waits half a second at most before its first retry.
        self.assertGreater(second - first, 0.9)

    def test_client_errors_are_not_retried(self):
        run = new_run()
        with self.assertRaises(openai.BadRequestError):
            client(max_retries=2).chat.completions.create(model="status-400", messages=HELLO, user=run)
        self.assertEqual(len(seen(run)["times"]), 1)

    def test_timeout_reaches_the_provider(self):
        run = new_run()
        with self.assertRaises(openai.APITimeoutError):
            client(timeout=0.5).chat.completions.create(model="slow", messages=HELLO, user=run)
        self.assertTrue(eventually(lambda: seen(run)["gone"]), "the provider still waits")


class BrokenStreams(unittest.TestCase):
    def test_client_that_leaves_is_seen_by_the_provider(self):
        run = new_run()
        stream = client().chat.completions.create(model="drip", messages=HELLO, stream=True, user=run)
        self.assertEqual(next(iter(stream)).choices[0].delta.content, "drip")
        self.assertFalse(seen(run)["gone"])
        stream.close()
        self.assertTrue(eventually(lambda: seen(run)["gone"]), "the provider still streams")

    def test_cut_stream_is_no_clean_end(self):
        got = []
        with self.assertRaises(Exception) as caught:
            for chunk in client().chat.completions.create(model="cut", messages=HELLO, stream=True):
                got.append(chunk.choices[0].delta.content)
        self.assertEqual(got, ["half"])
        self.assertNotIsInstance(caught.exception, (AssertionError, openai.APITimeoutError))

    def test_error_inside_a_stream_is_raised(self):
        got = []
        with self.assertRaises(openai.APIError) as caught:
            for chunk in client().chat.completions.create(model="fault", messages=HELLO, stream=True):
                got.append(chunk.choices[0].delta.content)
        self.assertEqual(got, ["so far"])
        self.assertIn("scripted 500", str(caught.exception))


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    failed = {str(test).split(" ")[0] for test, _ in result.failures + result.errors}
    print(f"python: {result.testsRun - len(failed)} passed, {len(failed)} failed", flush=True)
    sys.exit(0 if result.testsRun and not failed else 1)
