import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findJob } from "../../../scripts/agent/inside/find-job.ts";
import { needsCheckout } from "../../../scripts/agent/job/checkout.ts";
import { environmentOf, findPrefix } from "../../../scripts/agent/job/environment.ts";

describe("the variables of a job", () => {
  it("have the prefix of the server", () => {
    assert.equal(findPrefix({ SIGNALBOX_JOB_ID: "1", ACME_JOB_ID: "1", OTHER_JOB_ID: "2" }, "1"), "ACME");
    assert.equal(findPrefix({ SIGNALBOX_JOB_ID: "1" }, "1"), "SIGNALBOX");
    assert.equal(findPrefix({}, "1"), "BUILDKITE");
  });

  it("tell the commands inside the job where the server is", () => {
    const env = environmentOf(
      { ACME_JOB_ID: "1", ACME_BUILD_ID: "2", PATH: "/job/bin" },
      {
        prefix: "ACME",
        endpoint: "http://localhost/v3",
        token: "secret",
        binFolder: "/bin-of-job",
        buildPath: "/builds",
        checkoutFolder: "/builds/1",
      },
    );

    assert.equal(env.PATH, "/bin-of-job:/job/bin");
    assert.deepEqual(findJob(env), {
      client: { endpoint: "http://localhost/v3", token: "secret" },
      jobId: "1",
      buildId: "2",
      stepId: "",
      binFolder: "/bin-of-job",
    });
    assert.throws(() => findJob({ PATH: "/bin" }), { message: /only inside a job/ });
  });

  it("ask for a checkout, or for none in the ways of old and new agents", () => {
    const repository = { A_REPO: "https://example.com/a.git" };

    assert.equal(needsCheckout(repository, "A"), true);
    assert.equal(needsCheckout({ ...repository, A_SKIP_CHECKOUT: "true" }, "A"), false);
    assert.equal(needsCheckout({ ...repository, A_BOOTSTRAP_PHASES: "plugin,command" }, "A"), false);
    assert.equal(needsCheckout({}, "A"), false);
  });
});
