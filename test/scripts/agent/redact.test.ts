import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Redactor, secretsOf } from "../../../scripts/agent/job/redact.ts";
import { repeat } from "../../helpers/run-mode.ts";

function redact(secrets: string[], pieces: string[]): string {
  const redactor = new Redactor(secrets);
  const output = pieces.map((piece) => redactor.push(Buffer.from(piece)));
  return String(Buffer.concat([...output, redactor.end()]));
}

describe("the log's redaction", () => {
  it("takes the values of variables that are secret by name", () => {
    const env = {
      MY_TOKEN: "a",
      DB_PASSWORD: "b\n",
      THE_SECRET: "c",
      AWS_KEY: "d",
      BUILDKITE_STEP_KEY: "e",
      TOKENS: "f",
    };

    assert.deepEqual(secretsOf(env), ["a", "b", "c", "d"]);
  });

  it("leaves values of fewer than six characters", () => {
    assert.equal(redact(["short"], ["a short text"]), "a short text");
  });

  it("replaces overlapping secrets once", () => {
    assert.equal(redact(["abcdef", "defghi"], ["xabcd", "efgh", "iy"]), "x[REDACTED]y");
    assert.equal(redact(["aaaaaa"], ["aaaaaaaaaa", "aaaa", "b"]), "[REDACTED]b");
  });

  it("keeps nothing back that cannot be a secret", () => {
    const redactor = new Redactor(["secret1"]);

    assert.equal(String(redactor.push(Buffer.from("a secret"))), "a ");
    assert.equal(String(redactor.push(Buffer.from("2"))), "secret2");
  });

  it("gives the same however the output is cut", () => {
    const letters = fc.stringMatching(/^[abc]{0,40}$/);
    const secrets = fc.array(fc.stringMatching(/^[ab]{6,9}$/), { maxLength: 3 });
    const cuts = fc.array(fc.nat(40), { maxLength: 4 });
    fc.assert(
      fc.property(letters, secrets, cuts, (text, values, places) => {
        const edges = [0, ...places.sort((a, b) => a - b), text.length];
        const pieces = edges
          .slice(1)
          .map((end, index) => text.slice(edges[index], Math.max(end, edges[index] ?? 0)));

        const whole = redact(values, [text]);
        const isCovered = [...text].map((_, place) =>
          values.some((value) => {
            for (let from = Math.max(place - value.length + 1, 0); from <= place; from++)
              if (text.startsWith(value, from)) return true;
            return false;
          }),
        );
        const visible = [...text].filter((_, place) => !isCovered[place]).join("");

        assert.equal(redact(values, pieces), whole);
        assert.equal(whole.replaceAll("[REDACTED]", ""), visible);
      }),
      { numRuns: repeat(500, 5000) },
    );
  });
});
