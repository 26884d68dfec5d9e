// The official Node SDK against a running gateway; run.mjs runs this and counts.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import OpenAI from "openai";

const GATEWAY = `${process.env.ONWARDS_BASE_URL}/v1`;
const UPSTREAM = process.env.UPSTREAM_URL;
const messages = [{ role: "user", content: "Hello!" }];
const weather = {
  type: "function",
  function: {
    name: "weather",
    parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } },
  },
};

function client(options = {}) {
  return new OpenAI({ baseURL: GATEWAY, apiKey: "sk-good", maxRetries: 0, timeout: 10_000, ...options });
}

async function seen(run) {
  const answer = await fetch(`${UPSTREAM}/seen?run=${run}`);
  return answer.json();
}

/** Asks until the answer is true; what is waited for happens in another process. */
async function eventually(question, milliseconds = 5000) {
  const deadline = performance.now() + milliseconds;
  while (!(await question())) {
    if (performance.now() > deadline) return false;
    await pause(10);
  }
  return true;
}

async function textOf(stream) {
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? "";
  return text;
}

test("chat", async () => {
  const answer = await client().chat.completions.create({ model: "chat", messages });
  assert.equal(answer.choices[0].message.content, "Hello, wörld");
  assert.equal(answer.choices[0].finish_reason, "stop");
  assert.deepEqual([answer.model, answer.usage.total_tokens], ["chat", 8]);
});

test("chat stream", async () => {
  const stream = await client().chat.completions.create({ model: "chat", messages, stream: true });
  assert.equal(await textOf(stream), "Hello, wörld");
});

test("stream helper", async () => {
  const final = await client().chat.completions.stream({ model: "chat", messages }).finalChatCompletion();
  assert.equal(final.choices[0].message.content, "Hello, wörld");
});

test("tools", async () => {
  const run = randomUUID();
  const answer = await client().chat.completions.create({ model: "tools", messages, tools: [weather], user: run });
  const [call] = answer.choices[0].message.tool_calls;
  assert.equal(answer.choices[0].message.content, null);
  assert.deepEqual([call.id, call.type, call.function.name], ["call_1", "function", "weather"]);
  assert.deepEqual(JSON.parse(call.function.arguments), { city: "Oslo", days: 3 });
  assert.deepEqual((await seen(run)).bodies[0].tools, [weather]);
});

test("tools stream", async () => {
  const request = { model: "tools", messages, tools: [weather], stream: true };
  let [name, args, finish] = ["", "", null];
  for await (const chunk of await client().chat.completions.create(request)) {
    finish = chunk.choices[0].finish_reason ?? finish;
    for (const call of chunk.choices[0].delta.tool_calls ?? []) {
      name += call.function.name ?? "";
      args += call.function.arguments;
    }
  }
  assert.deepEqual([name, finish], ["weather", "tool_calls"]);
  assert.deepEqual(JSON.parse(args), { city: "Oslo", days: 3 });
});

test("embeddings", async () => {
  const answer = await client().embeddings.create({ model: "embed", input: ["a", "b"], encoding_format: "float" });
  assert.deepEqual(answer.data.map((each) => each.embedding), [[0.25, -1.5, 0], [0.25, -1.5, 1]]);
  assert.equal(answer.usage.total_tokens, 2);
});

test("embedded provider", async () => {
  const answer = await client().chat.completions.create({ model: "echo", messages });
  assert.equal(answer.model, "echo");
  assert.match(answer.choices[0].message.content, /Hello!/);
  const stream = await client().chat.completions.create({ model: "echo", messages, stream: true });
  assert.equal(await textOf(stream), answer.choices[0].message.content);
});

test("models", async () => {
  const names = async (apiKey) => (await client({ apiKey }).models.list()).data.map((model) => model.id);
  assert.ok((await names("sk-good")).includes("locked"));
  const open = await names("sk-unknown");
  assert.ok(open.includes("chat") && !open.includes("locked"));
});

test("many at once", async () => {
  const many = client();
  const asked = Array.from({ length: 40 }, () => many.chat.completions.create({ model: "chat", messages }));
  const texts = (await Promise.all(asked)).map((answer) => answer.choices[0].message.content);
  assert.deepEqual(texts, Array(40).fill("Hello, wörld"));
});

async function fails(model, expected, status, code, options = {}) {
  const asked = client(options).chat.completions.create({ model, messages });
  await assert.rejects(asked, (error) => {
    assert.equal(error.constructor, expected, `${model}: ${error}`);
    assert.equal(error.status, status);
    assert.equal(error.code, code);
    return true;
  });
}

test("provider errors keep their class", async () => {
  for (const [status, expected] of [
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [409, OpenAI.ConflictError],
    [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
    [503, OpenAI.InternalServerError],
  ]) {
    await fails(`status-${status}`, expected, status, `code_${status}`);
  }
});

test("gateway errors have their class", async () => {
  await fails("locked", OpenAI.AuthenticationError, 401, "unauthenticated", { apiKey: "sk-wrong" });
  await fails("no-such-model", OpenAI.NotFoundError, 404, "model_not_found");
  await fails("full", OpenAI.RateLimitError, 429, "concurrency_limit_exceeded");
  await fails("unreachable", OpenAI.InternalServerError, 502, "internal_error");
});

test("the right key opens", async () => {
  const answer = await client().chat.completions.create({ model: "locked", messages });
  assert.match(answer.choices[0].message.content, /Hello!/);
});

test("a retry waits as the provider asked", async () => {
  const run = randomUUID();
  const answer = await client({ maxRetries: 2 }).chat.completions.create({ model: "busy", messages, user: run });
  assert.equal(answer.choices[0].message.content, "Hello, wörld");
  const [first, second] = (await seen(run)).times;
  // Without the hint the SDK waits half a second at most before its first retry.
  assert.ok(second - first > 0.9, `${second - first} s`);
});

test("client errors are not retried", async () => {
  const run = randomUUID();
  const asked = client({ maxRetries: 2 }).chat.completions.create({ model: "status-400", messages, user: run });
  await assert.rejects(asked, OpenAI.BadRequestError);
  assert.equal((await seen(run)).times.length, 1);
});

test("a timeout reaches the provider", async () => {
  const run = randomUUID();
  const asked = client({ timeout: 500 }).chat.completions.create({ model: "slow", messages, user: run });
  await assert.rejects(asked, OpenAI.APIConnectionTimeoutError);
  assert.ok(await eventually(async () => (await seen(run)).gone), "the provider still waits");
});

test("a client that leaves is seen by the provider", async () => {
  const run = randomUUID();
  const stream = await client().chat.completions.create({ model: "drip", messages, stream: true, user: run });
  for await (const chunk of stream) {
    assert.equal(chunk.choices[0].delta.content, "drip");
    assert.equal((await seen(run)).gone, false);
    break; // the SDK aborts the request
  }
  assert.ok(await eventually(async () => (await seen(run)).gone), "the provider still streams");
});

test("a cut stream is no clean end", async () => {
  const stream = await client().chat.completions.create({ model: "cut", messages, stream: true });
  const got = [];
  await assert.rejects(async () => {
    for await (const chunk of stream) got.push(chunk.choices[0].delta.content);
  });
  assert.deepEqual(got, ["half"]);
});

test("an error inside a stream is raised", async () => {
  const stream = await client().chat.completions.create({ model: "fault", messages, stream: true });
  const got = [];
  await assert.rejects(
    async () => {
      for await (const chunk of stream) got.push(chunk.choices[0].delta.content);
    },
    (error) => error instanceof OpenAI.APIError && /scripted 500/.test(JSON.stringify(error.error)),
  );
  assert.deepEqual(got, ["so far"]);
});
