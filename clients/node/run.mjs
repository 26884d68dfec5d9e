// Runs the tests and closes with one line that says how many passed.

import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

let [passed, failed] = [0, 0];
const tests = run({ files: [fileURLToPath(new URL("gateway.test.mjs", import.meta.url))] });
tests.on("test:pass", () => passed++);
tests.on("test:fail", () => failed++);
tests.on("end", () => {
  console.log(`node: ${passed} passed, ${failed} failed`);
  process.exitCode = passed && !failed ? 0 : 1;
});
tests.compose(spec).pipe(process.stdout);
