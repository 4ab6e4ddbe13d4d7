import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agentRules, matchesRules } from "../../shared/pipelines/agent-rules.ts";

describe("the rules of agents", () => {
  it("are sorted, each once, without the queue", () => {
    assert.equal(agentRules({ os: "linux", gpu: "*", queue: "q" }), '["gpu","os=linux"]');
    assert.equal(agentRules({ os: ["mac", "linux", "mac"] }), '["os=linux","os=mac"]');
    for (const none of [{}, { queue: "q" }]) assert.equal(agentRules(none), "");
    assert.equal(agentRules({ a: "1", b: "2" }), agentRules({ b: "2", a: "1" }));
  });

  for (const [tags, agent, holds] of [
    [{}, [], true],
    [{ queue: "q" }, [], true],
    [{ os: "linux" }, ["os=linux", "queue=default"], true],
    [{ os: "linux" }, [], false],
    [{ os: "linux" }, ["os=Linux"], false],
    [{ os: "linux" }, ["os=linux2"], false],
    [{ os: "linux" }, ["OS=linux"], false],
    [{ os: "lin*" }, ["os=linux"], false],
    [{ gpu: "*" }, ["gpu=a100"], true],
    [{ gpu: "*" }, ["gpu"], true],
    [{ gpu: "*" }, ["gpu2=a100"], false],
    [{ os: "linux", gpu: "*" }, ["os=linux"], false],
    [{ os: "linux" }, ["os=mac", "os=linux"], true],
    [{ os: ["linux", "mac"] }, ["os=linux"], false],
    [{ os: ["linux", "mac"] }, ["os=linux", "os=mac"], true],
    [{ a: "b=c" }, ["a=b=c"], true],
    [{ os: "" }, ["os="], true],
    [{ os: "" }, ["os"], false],
  ] as const)
    it(`${agentRules({ ...tags } as never) || "none"} ${holds ? "hold" : "do not hold"} for ${agent.join(", ") || "no tags"}`, () => {
      assert.equal(matchesRules(agentRules({ ...tags } as never), [...agent]), holds);
    });
});
