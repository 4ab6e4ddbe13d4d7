import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { after, before, it } from "node:test";
import { runAgent } from "../../../scripts/agent/run.ts";
import { freePort } from "../../../scripts/scratch/ports.ts";
import { agentTokenOf } from "../../helpers/agent.ts";
import { type Api, openApi } from "../../helpers/api.ts";
import { describeOnSqlite } from "../../helpers/databases.ts";
import { eventually } from "../../helpers/http.ts";
import { type RunningAgent, startAgent } from "./agent.ts";

describeOnSqlite("npm run agent, inside a job", (database) => {
  let api: Api;
  let agent: RunningAgent;

  before(async () => {
    const port = String(await freePort());
    api = await openApi(database, {
      PORT: port,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      BASE_URL: `http://127.0.0.1:${port}`,
      AGENT_PING_SECONDS: "1",
      AGENT_STATUS_SECONDS: "1",
    });
    const token = await agentTokenOf(api.world, api.acme.cluster);
    agent = startAgent({ endpoint: `${api.world.url}/v3` }, ["--token", token]);
  });
  after(async () => {
    await agent[Symbol.asyncDispose]();
    await api.close();
  });

  /** Runs a command. Returns its exit status, its log and the path of its build. */
  const run = async (...lines: string[]) => {
    const { id, slug } = await api.newPipeline({ steps: [{ command: lines.join("\n") }] });
    await api.build(id);
    const path = `/pipelines/${slug}/builds/1`;
    const job = await eventually(`the end of ${slug}`, async () => {
      const { body } = await api.send("GET", path);
      return body.finished_at ? body.jobs[0] : undefined;
    });
    const log = (await api.send("GET", `${path}/jobs/${job.id}/log.txt`)).text;
    return { status: job.exit_status as number, log, path };
  };

  it("annotates, adds to annotations, and removes them", async () => {
    const { status, log, path } = await run(
      "signalbox-agent annotate '**one**' --style error --context a/b --priority 9",
      "echo ' two' | signalbox-agent annotate --append --context a/b",
      "signalbox-agent annotate --style success --context a/b",
      "signalbox-agent annotate own --scope job",
      "signalbox-agent annotate gone",
      "signalbox-agent annotation remove",
      "signalbox-agent annotation remove || echo $?",
      "signalbox-agent annotate x --style loud || echo $?",
    );

    assert.equal(status, 0, log);
    assert.match(log, /^The server refused: No annotation found \(404\)\.\n1\n.*loud.*\n1\n$/);
    const { body } = await api.send("GET", `${path}/annotations?scope=all`);
    assert.deepEqual(
      body.map(({ context, style, scope, priority, body_html }: Record<string, unknown>) => [
        ...[context, style, scope, priority, body_html],
      ]),
      [
        ["a/b", "success", "build", 9, "<p><strong>one</strong> two</p>\n"],
        ["default", null, "job", 3, "<p>own</p>\n"],
      ],
    );
  });

  it("prints secrets and identity tokens to commands, and keeps them out of the log", async () => {
    const secrets = `/clusters/${api.acme.cluster.id}/secrets`;
    const values = { DEPLOY: 'line "one"\nline two', SIGN: "signature" };
    for (const [key, value] of Object.entries(values))
      await api.send("POST", secrets, { body: { key, value } });

    const { status, log } = await run(
      "signalbox-agent secret get DEPLOY | wc -c",
      'value="$(signalbox-agent secret get DEPLOY)"; echo "a $value b"',
      "signalbox-agent secret get SIGN DEPLOY | grep -o '[A-Z]*\":'",
      "echo $(signalbox-agent secret get sign --format json)",
      "signalbox-agent secret get NONE || echo $?",
      "token=$(signalbox-agent oidc request-token --audience a --lifetime 60 --claim cluster_id --claim queue_key)",
      'echo "token $token"; echo "$token" | cut -d . -f 2 | tr _- /+ | base64 -d 2>/dev/null | grep -o "queue_key"',
    );

    assert.equal(status, 0, log);
    const lines = log.trimEnd().split("\n");
    assert.deepEqual(lines, [
      String(Buffer.byteLength(values.DEPLOY)),
      "a [REDACTED] b",
      ...['SIGN":', 'DEPLOY":'],
      '{"sign":"[REDACTED]"}',
      "The server refused: No secret found (404).",
      "1",
      "token [REDACTED]",
      "queue_key",
    ]);
  });

  it("runs every command of its own page", async () => {
    await api.send("POST", `/clusters/${api.acme.cluster.id}/secrets`, {
      body: { key: "DEPLOY_KEY", value: "signature" },
    });
    const page = readFileSync("scripts/agent/README.md", "utf8");
    const commands = page.match(/^signalbox-agent .*$/gm) ?? [];
    assert.ok(commands.length >= 16);
    const lines = [
      "mkdir log dist; echo a > log/a.txt; echo z > dist/app.zip",
      "printf 'steps:\\n  - command: \"true\"\\n' > steps.yml",
      ...commands,
      "signalbox-agent step get label; signalbox-agent step get state --step docs",
    ];
    const { id, slug } = await api.newPipeline({
      steps: [
        { command: lines.join("\n"), label: "All" },
        { command: "true", key: "docs" },
      ],
    });
    await api.build(id);
    const path = `/pipelines/${slug}/builds/1`;
    const jobs = await eventually(`the end of ${slug}`, async () => {
      const { body } = await api.send("GET", path);
      return body.finished_at ? body.jobs : undefined;
    });
    const [job] = jobs;
    const log = (await api.send("GET", `${path}/jobs/${job.id}/log.txt`)).text;
    assert.equal(job.exit_status, 0, log);
    assert.equal(job.name, "All (fast)");
    const docs = jobs.find(({ step_key }: { step_key: string }) => step_key === "docs");
    assert.equal(docs.state, "canceled", log);
    assert.match(log, /All \(fast\)\n[a-z_]+\n$/);
  });

  it("runs the commands of other pages", async () => {
    await api.send("POST", `/clusters/${api.acme.cluster.id}/secrets`, {
      body: { key: "SIGNING_KEY", value: "signature" },
    });
    const named =
      /\bbuildkite-agent ((?:annotate|annotation|artifact|meta-data|oidc|pipeline|secret) [^\n)`>]*)/g;
    const texts = globSync("shared/**/*.md").map((page) => readFileSync(page, "utf8"));
    const commands = texts.flatMap((text) =>
      [...text.matchAll(named)].map(([, words = ""]) => words.trimEnd()),
    );
    assert.ok(commands.length >= 15, String(commands.length));
    const command = [
      "set -e; mkdir -p dist coverage .buildkite; echo a > dist/app.zip; echo b > coverage/index.html",
      "printf 'steps:\\n  - command: \"true\"\\n' > .buildkite/pipeline.yml",
      "for key in version where; do signalbox-agent meta-data set $key value; done",
      "signalbox-agent artifact upload 'dist/*'",
      ...commands
        .filter((words) => !words.endsWith("service:webhook")) // only builds of webhooks have it
        .map((words) => `echo text | signalbox-agent ${words}`),
    ].join("\n");
    const { id, slug } = await api.newPipeline({ steps: [{ command, key: "package" }] });
    await api.build(id);
    const path = `/pipelines/${slug}/builds/1`;
    const jobs = await eventually(`the end of ${slug}`, async () => {
      const { body } = await api.send("GET", path);
      return body.finished_at ? body.jobs : undefined;
    });
    const log = (await api.send("GET", `${path}/jobs/${jobs[0].id}/log.txt`)).text;
    assert.equal(jobs[0].exit_status, 0, `${log}\n${command}`);
  });

  it("knows every command and option that a page names for jobs", async () => {
    const pages = ["README.md", ...globSync("{shared,ingress,scripts}/**/*.md")];
    const named = /\b(?:buildkite|signalbox)-agent ((?:annotate|(?:[a-z]+(?:-data)?) [a-z-]+)\b)([^\n`)]*)/g;
    let count = 0;
    for (const page of pages)
      for (const [line, words = "", rest = ""] of readFileSync(page, "utf8").matchAll(named)) {
        if (words.startsWith("start") || words.startsWith("is ")) continue;
        count++;
        let help = "";
        const code = await runAgent([...words.split(" "), "--help"], {
          env: {},
          stdin: Readable.from([]),
          onStart: () => {},
          write: (text: string) => (help += text),
          writeError: (text: string) => (help += text),
          stop: { afterJob: new AbortController().signal, now: new AbortController().signal },
        } as unknown as Parameters<typeof runAgent>[1]);
        assert.equal(code, 0, `${page}: ${line}`);
        for (const [option] of rest.matchAll(/(?<= )--[a-z-]+/g))
          assert.ok(help.includes(option), `${page}: ${line}: ${option}`);
      }
    assert.ok(count > 20, String(count));
  });
});
