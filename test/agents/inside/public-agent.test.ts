import assert from "node:assert/strict";
import { it } from "node:test";
import { openApi } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { verify } from "../../identity/in-a-job.ts";
import { type AcceptedJob, type PublicAgent, versions } from "../public-agent.ts";
import { runJobs } from "../run-jobs.ts";

describeWorldOn(sqlite, "commands of the public agent in a job", openApi, (api) => {
  /** Dots too, as agents write them. */
  const segment = (text: string) => encodeURIComponent(text).replaceAll(".", "%2E");
  const annotate = async (agent: PublicAgent, { id, token }: AcceptedJob, json: object) => {
    const { status, text } = await agent.send("POST", `/jobs/${id}/annotations`, { json, token });
    assert.equal(status, 200, text);
  };
  const shown = async (path: string) => {
    const { body } = await api.send("GET", `${path}/annotations?scope=all`);
    return body.map(({ context, style, scope, priority, body_html }: Record<string, string>) =>
      [context, style, scope, priority, body_html?.trim()].join(" "),
    );
  };

  for (const version of versions)
    it(`v${version.version} annotates its build: contexts, styles, and bodies that are added`, async () => {
      const path = await runJobs(api, version, [{}], async (agent, job) => {
        await annotate(agent, job, { body: "old", context: "default", style: "info" });
        const replacing = { body: "new", context: "default", style: "error" };
        await agent.repeat("POST", `/jobs/${job.id}/annotations`, { json: replacing, token: job.token });
        await annotate(agent, job, { body: "one,", context: "deploy.v1/x" });
        await annotate(agent, job, { body: "two", context: "deploy.v1/x", append: true });
        await annotate(agent, job, { context: "default", style: "success" });
      });

      assert.deepEqual(await shown(path), [
        "default success build 3 <p>new</p>",
        "deploy.v1/x  build 3 <p>one,two</p>",
      ]);
    });

  for (const version of versions.filter(({ hasJobToken }) => hasJobToken)) {
    it(`v${version.version} annotates jobs, ranks annotations, and removes them by context and scope`, async () => {
      const contexts = ["default", "a/b c.d", "ünï?#%", "8D4E5F60-0B9C-4B3C-8D4E-5F60718293A4"];
      const path = await runJobs(api, version, [{}], async (agent, job) => {
        for (const context of contexts)
          for (const scope of ["build", "job"])
            await annotate(agent, job, { body: scope, context, priority: scope === "job" ? 10 : 1, scope });
        const remove = (context: string, query: string) =>
          agent.send("DELETE", `/jobs/${job.id}/annotations/${segment(context)}${query}`, {
            token: job.token,
          });
        for (const context of contexts) {
          assert.equal((await remove(context, "?scope=build")).status, 200, context);
          assert.equal((await remove(context, "?scope=build")).status, 404, `${context}, again`);
        }
        assert.equal((await remove("default", "?scope=job")).status, 200);
      });

      assert.deepEqual(
        await shown(path),
        contexts.slice(1).map((context) => `${context}  job 10 <p>job</p>`),
      );
    });

    it(`v${version.version} fetches the secrets of its step, and those that its command names`, async () => {
      const secrets = `/clusters/${api.acme.cluster.id}/secrets`;
      const key = (name: string) => `${name}_${version.version.replaceAll(/\W/g, "_")}`;
      for (const name of ["deploy", "sign", "other"])
        await api.send("POST", secrets, {
          body: {
            key: key(name),
            value: `${name} value`,
            ...(name === "other" && { policy: "- pipeline_slug: another" }),
          },
        });
      const step = { secrets: { DEPLOY_TOKEN: key("deploy") } };
      await runJobs(api, version, [step], async (agent, job) => {
        const get = (name: string) =>
          agent.send("GET", `/jobs/${job.id}/secrets?key=${encodeURIComponent(name)}`, { token: job.token });

        const { secrets } = (job as AcceptedJob & { step: { secrets: unknown } }).step;
        assert.deepEqual(secrets, [{ key: key("deploy"), environment_variable: "DEPLOY_TOKEN" }]);
        assert.equal(job.env.DEPLOY_TOKEN, undefined);
        const several = await Promise.all([key("deploy"), key("sign").toUpperCase(), key("deploy")].map(get));
        assert.deepEqual(
          several.map(({ status, body }) => [status, body.key, body.value]),
          ["deploy", "sign", "deploy"].map((name) => [200, key(name), `${name} value`]),
        );
        assert.ok(several.every(({ body }) => typeof body.uuid === "string"));
        assert.deepEqual(
          await Promise.all([key("other"), "nothing"].map(async (name) => (await get(name)).status)),
          [403, 404],
        );
      });
    });

    it(`v${version.version} asks for identity tokens, with and without each option`, async () => {
      await runJobs(api, version, [{ key: "deploy" }], async (agent, job) => {
        const ask = async (json: object, audience?: string) => {
          const { status, body, text } = await agent.send("POST", `/jobs/${job.id}/oidc/tokens`, {
            json,
            token: job.token,
          });
          assert.equal(status, 200, text);
          return (await verify(api.world, body.token, audience)).payload;
        };

        const usual = await ask({});
        assert.deepEqual([usual.step_key, usual.job_id], ["deploy", job.id]);
        assert.equal(usual.organization_id, undefined);
        const asked = await ask(
          {
            audience: "sts.amazonaws.com",
            lifetime: 3600,
            claims: ["organization_id", "agent_tag:os"],
            aws_session_tags: ["pipeline_slug", "agent_tag:gpu"],
            subject_claim: "pipeline_id",
          },
          "sts.amazonaws.com",
        );
        const { exp = 0, iat = 0, sub, pipeline_id, ...claims } = asked;
        assert.deepEqual([exp - iat, sub], [3600, pipeline_id]);
        assert.deepEqual([claims.organization_id, claims["agent_tag:os"]], [api.acme.id, "linux"]);
        assert.deepEqual(claims["https://aws.amazon.com/tags"], {
          principal_tags: { pipeline_slug: [usual.pipeline_slug], "agent_tag:gpu": [""] },
        });
        const refused = await agent.send("POST", `/jobs/${job.id}/oidc/tokens`, {
          json: { claims: ["password"] },
          token: job.token,
        });
        assert.equal(refused.status, 422);
      });
    });
  }
});
