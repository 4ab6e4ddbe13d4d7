import assert from "node:assert/strict";
import { it } from "node:test";
import { openAgentApi } from "../../helpers/agent.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";

const signature = { value: "eyJ…", algorithm: "EdDSA", signed_fields: ["command", "env", "matrix"] };

describeWorldOn(sqlite, "the answer to accept", openAgentApi, (api) => {
  /** Accepts the first job of a step. */
  const accept = async (step: object) => {
    const agent = await (await api.buildOnQueue(step)).newAgent();
    return agent.begin((await agent.offered()) as string) as Promise<
      Record<string, unknown> & { env: Record<string, string> }
    >;
  };

  it("has the step as it was signed, and the cluster's name", async () => {
    const signed = { command: "make", env: { A: "b" }, plugins: [{ "docker#v5": null }] };

    const { step, matrix_permutation, priority, env } = await accept({ ...signed, signature, priority: 2 });

    assert.deepEqual([step, matrix_permutation, priority], [{ ...signed, signature }, undefined, 2]);
    assert.equal(env.BUILDKITE_CLUSTER_NAME, api.acme.cluster.name);
  });

  it("has the tokens and the matrix that were signed, and the values of the job", async () => {
    const signed = { command: "make {{matrix.os}}", env: { A: "{{matrix.os}}" } };
    const matrix = { setup: { os: ["linux", "macos"] } };

    const { step, matrix_permutation, env } = await accept({ ...signed, matrix, signature });

    assert.deepEqual(step, { ...signed, matrix, signature });
    assert.deepEqual(matrix_permutation, { os: "linux" });
    assert.deepEqual([env.BUILDKITE_COMMAND, env.A], ["make linux", "linux"]);
  });

  it("has no step without a signature", async () => {
    assert.equal("step" in (await accept({ command: "make" })), false);
  });
});
