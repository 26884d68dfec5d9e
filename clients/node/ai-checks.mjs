// What Vercel's AI SDK does with every kind of provider, whichever of its packages speaks to the gateway.

import assert from "node:assert/strict";

import { APICallError, Output, generateObject, generateText, jsonSchema, stepCountIs, streamObject, streamText, tool } from "ai";

import { HELLO, LIMA, OSLO, RESULTS, SCHEMA, TAP, THOUGHT, checkPicture, picture, seen } from "./matrix.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;
const quiet = { maxRetries: 0, onError: () => {} };
const system = "Be brief.";

function weather(asked) {
  return tool({
    description: "How it is",
    inputSchema: jsonSchema(SCHEMA),
    execute: async (input) => {
      asked.push(input);
      return RESULTS[input.city];
    },
  });
}

async function partsOf(stream) {
  const parts = [];
  for await (const part of stream.fullStream) parts.push(part);
  return parts;
}

async function loop(answers, prompt, calls, text, first) {
  const asked = [];
  const result = await answers({ prompt, system, tools: { weather: weather(asked) }, stopWhen: stepCountIs(3), ...quiet });
  assert.deepEqual(asked, calls);
  assert.equal(await result.text, text);
  const steps = await result.steps;
  assert.deepEqual(steps.map((step) => step.finishReason), ["tool-calls", "stop"]);
  assert.equal(steps[0].text, first);
  assert.equal(new Set(steps[0].toolCalls.map((call) => call.toolCallId)).size, calls.length);
}

/**
 * Adds the checks. `model` makes a model of an alias, `thinking` has the options that ask for thoughts, `thoughts` the kinds
 * whose thoughts the client is shown, and `forwards` those that are sent a picture by its address. Without the latter the SDK
 * fetches pictures itself.
 */
export function add(matrix, { model, thinking, thoughts, forwards }) {
  const check = (...all) => matrix.check(...all);
  const whole = (name) => (options) => generateText({ model: model(name), ...options });
  const inPieces = (name) => async (options) => {
    const stream = streamText({ model: model(name), ...options });
    await stream.consumeStream();
    return stream;
  };

  check("unary", "text", async (name) => {
    const options = { prompt: "say hello", system, maxOutputTokens: 100, temperature: 0.5, stopSequences: ["END"] };
    const answer = await whole(name)({ ...options, ...quiet });
    assert.deepEqual([answer.text, answer.finishReason, answer.response.modelId], [HELLO, "stop", name]);
    const { inputTokens, outputTokens, totalTokens } = answer.usage;
    assert.deepEqual([inputTokens, outputTokens, totalTokens], [11, 7, 18]);
  });

  check("unary", "cut by the limit", async (name) => {
    const answer = await whole(name)({ prompt: "a long story", ...quiet });
    assert.deepEqual([answer.text, answer.finishReason], ["Once upon a", "length"]);
  });

  check("stream", "text stream", async (name) => {
    const stream = streamText({ model: model(name), prompt: "say hello", ...quiet });
    const pieces = [];
    for await (const piece of stream.textStream) pieces.push(piece);
    assert.equal(pieces.join(""), HELLO);
    assert.ok(pieces.length > 1, "the text came in one piece");
    assert.equal(await stream.finishReason, "stop");
    const { inputTokens, outputTokens } = await stream.usage;
    assert.deepEqual([inputTokens, outputTokens], [11, 7]);
  });

  check("tools", "tool loop", (name) =>
    loop(whole(name), "weather in Oslo", [OSLO], "It rains in Oslo.", "Let me look."),
  );
  check("tools", "tool loop, streamed", (name) =>
    loop(inPieces(name), "weather in Oslo", [OSLO], "It rains in Oslo.", "Let me look."),
  );
  check("parallel tools", "parallel tools", (name) =>
    loop(whole(name), "both cities", [OSLO, LIMA], "Rain in Oslo, sun in Lima.", ""),
  );
  check("parallel tools", "parallel tools, streamed", (name) =>
    loop(inPieces(name), "both cities", [OSLO, LIMA], "Rain in Oslo, sun in Lima.", ""),
  );

  check("tools", "tool without parameters", async (name) => {
    const now = tool({ inputSchema: jsonSchema({ type: "object", properties: {} }) });
    for (const toolChoice of ["auto", "required", { type: "tool", toolName: "now" }]) {
      for (const answers of [whole(name), inPieces(name)]) {
        const answer = await answers({ prompt: "what time is it", tools: { now }, toolChoice, ...quiet });
        const [call, ...others] = await answer.toolCalls;
        assert.deepEqual([call.toolName, call.input, others], ["now", {}, []]);
      }
    }
  });

  async function shown(name, image) {
    const content = [{ type: "text", text: "which picture?" }, { type: "image", image }];
    const answer = await whole(name)({ messages: [{ role: "user", content }], ...quiet });
    assert.equal(answer.text, "A red dot.");
  }

  check("images", "picture as data", async (name, kind) => {
    await shown(name, await picture());
    await checkPicture(kind);
  });

  async function byAddress(name, kind) {
    const url = `${TAP}/picture.png`;
    await shown(name, new URL(url));
    const [body] = await seen();
    if (forwards.includes(kind)) assert.ok(JSON.stringify(body).includes(JSON.stringify(url)), JSON.stringify(body));
    else await checkPicture(kind);
  }
  if (forwards) check("images", "picture by address", byAddress);

  const schema = jsonSchema(SCHEMA);
  check("structured output", "generateObject", async (name) => {
    const { object } = await generateObject({ model: model(name), schema, prompt: "report", maxRetries: 0 });
    assert.deepEqual(object, OSLO);
  });
  check("structured output", "streamObject", async (name) => {
    const stream = streamObject({ model: model(name), schema, prompt: "report", ...quiet });
    let last;
    for await (const partial of stream.partialObjectStream) last = partial;
    assert.deepEqual([last, await stream.object], [OSLO, OSLO]);
  });
  check("structured output", "output of text", async (name) => {
    const answer = await whole(name)({ prompt: "report", output: Output.object({ schema }), ...quiet });
    assert.deepEqual(answer.output, OSLO);
  });

  check("reasoning", "thoughts", async (name, kind) => {
    for (const [answers, kinds] of [[whole(name), thoughts.whole], [inPieces(name), thoughts.streamed]]) {
      const answer = await answers({ prompt: "think", providerOptions: thinking, ...quiet });
      assert.equal(await answer.text, "Forty-two.");
      assert.equal(await answer.reasoningText, kinds.includes(kind) ? THOUGHT : undefined);
    }
    for (const body of await seen()) {
      const asked = {
        openai: () => body.reasoning_effort,
        azure_openai: () => body.reasoning_effort,
        anthropic: () => body.thinking.budget_tokens,
        bedrock: () => body.additionalModelRequestFields.thinking.budget_tokens,
        gemini: () => body.generationConfig.thinkingConfig.thinkingBudget,
      }[kind]();
      assert.equal(asked, kind.endsWith("openai") ? "medium" : 8192);
    }
  });

  check("errors", "statuses", async (name) => {
    for (const [status, retryable] of [[400, false], [429, true], [529, true]]) {
      const right = (error) => {
        assert.ok(APICallError.isInstance(error), String(error));
        assert.deepEqual([error.statusCode, error.isRetryable], [status, retryable]);
        assert.match(error.message, new RegExp(`scripted ${status}`));
        return true;
      };
      await assert.rejects(whole(name)({ prompt: `fail ${status}`, ...quiet }), right);
      const parts = await partsOf(streamText({ model: model(name), prompt: `fail ${status}`, ...quiet }));
      const failures = parts.filter((part) => part.type === "error");
      assert.equal(failures.length, 1);
      right(failures[0].error);
    }
  });

  check("errors", "stream that breaks off", async (name) => {
    const parts = await partsOf(streamText({ model: model(name), prompt: "cut off", ...quiet }));
    assert.match(parts.filter((part) => part.type === "text-delta").map((part) => part.text).join(""), /^This/);
    const failures = parts.filter((part) => part.type === "error");
    assert.equal(failures.length, 1, JSON.stringify(parts));
    assert.match(JSON.stringify(failures[0].error?.message ?? failures[0].error), /the provider's stream ended unexpectedly/);
    assert.notEqual(parts.at(-1).finishReason, "stop");
  });
}
