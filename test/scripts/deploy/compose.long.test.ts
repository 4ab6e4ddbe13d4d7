import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { findCompose } from "../../../scripts/prove/containers/docker.ts";
import { eventually, post, request } from "../../helpers/http.ts";
import { run as runScript } from "../../helpers/processes.ts";
import { freePort } from "../../servers/ports.ts";
import { findProgram } from "../../servers/programs.ts";

const project = `signalbox-test-${process.pid}`;
const prefix = `${project}-machine`;
const compose = findCompose();
const missing = whatIsMissing();

function whatIsMissing(): string | false {
  if (process.env.TEST_CONTAINERS === "off") return "TEST_CONTAINERS=off";
  if (process.platform !== "linux") return "images are made of this machine's programs, on Linux";
  if (spawnSync("docker", ["version"]).status !== 0) return "no Docker engine answers";
  if (!compose) return "there is neither docker compose nor docker-compose";
  if (!findProgram(["nginx"], ["/usr/sbin"])) return "there is no nginx on the PATH";
  return false;
}

describe("compose.yaml", { skip: missing, timeout: 1_200_000 }, () => {
  let env: NodeJS.ProcessEnv;
  let url: string;
  before(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    env = {
      ...process.env,
      COMPOSE_PROJECT_NAME: project,
      COMPOSE_HTTP_TIMEOUT: "600",
      SECRET_KEY: "a key of containers that is at least 32 characters",
      POSTGRES_PASSWORD: "letters0and1digits",
      BASE_IMAGE: `${prefix}-node`,
      POSTGRES_IMAGE: `${prefix}-postgres`,
      REDIS_IMAGE: `${prefix}-redis`,
      PROXY_IMAGE: `${prefix}-nginx`,
      SIGNALBOX_IMAGE: `${prefix}-signalbox`,
      PUBLISHED_PORT: String(port),
      PUBLIC_URL: url,
      DRAIN_SECONDS: "0",
    };
    run("bash", "test/scripts/deploy/images.sh", prefix, process.execPath);
    inCompose("build", "migrate");
  });
  after(() => {
    remove();
    const images = ["signalbox", "node", "postgres", "redis", "nginx"].map((name) => `${prefix}-${name}`);
    spawnSync("docker", ["image", "rm", "--force", ...images]);
  });

  function run(program: string, ...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env, maxBuffer: 1e8 });
    assert.equal(status, 0, `${program} ${args.join(" ")}\n${stdout.slice(-4000)}\n${stderr.slice(-4000)}`);
    return stdout;
  }
  const inCompose = (...args: string[]) => {
    const [program = "", ...first] = compose ?? [];
    return run(program, ...first, ...args);
  };
  const remove = () => {
    const options = ["--volumes", "--remove-orphans", "--timeout", "5"];
    inCompose("--profile", "agents", "down", ...options);
  };
  const admin = (...args: string[]) =>
    JSON.parse(inCompose("exec", "-T", "ingress", "node", "--import", "tsx", "scripts/admin.ts", ...args));

  it("starts three ingress, four workers and two agents, which run a webhook's build", async () => {
    inCompose("up", "--detach", "--no-build", "--scale", "ingress=3", "--scale", "worker=4");
    await eventually("the proxy", () =>
      request(`${url}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    const acme = ["--org", "acme"];
    admin("org", "create", "--slug", "acme", "--name", "Acme");
    admin("user", "create", "--email", "ada@example.com", "--name", "Ada", ...acme);
    const scopes = ["--scopes", "read_builds read_build_logs", "--description", "Test"];
    const { token } = admin("token", "create", "--user", "ada@example.com", ...acme, ...scopes);
    admin("cluster", "create", ...acme, "--name", "Primary");
    const primary = [...acme, "--cluster", "Primary"];
    admin("queue", "create", ...primary, "--key", "default", "--default");
    const web = ["--slug", "web", "--name", "Web", "--command", "echo Hello, $SIGNALBOX"];
    admin("pipeline", "create", ...primary, ...web);
    const hook = ["--pipeline", "web", "--type", "webhook", "--label", "Hook"];
    const { endpoint_url } = admin("trigger", "create", ...acme, ...hook);
    env.AGENT_TOKEN = admin("agent-token", "create", ...primary).token;
    const scales = ["--scale", "ingress=3", "--scale", "worker=4", "--scale", "agent=2"];
    inCompose("--profile", "agents", "up", "--detach", "--no-build", ...scales);
    await eventually("reports", async () => admin("status").processes.length === 7);
    await eventually("agents", async () => admin("status").agents.connected === 2);

    const { status } = await post(endpoint_url, '{"hello":"signalbox"}');
    const builds = `${url}/v2/organizations/acme/builds`;
    const headers = { Authorization: `Bearer ${token}` };
    const [build] = await eventually("the build", async () => {
      const { body } = await request(builds, { headers });
      return body[0]?.state === "passed" && body;
    });
    const job = `${url}/v2/organizations/acme/pipelines/web/builds/1/jobs/${build.jobs[0].id}/log.txt`;
    const log = await request(job, { headers });

    assert.equal(status, 201);
    assert.match(log.text, /Hello/);
    const names = admin("status").processes.map(({ name }: { name: string }) => name.split(":")[0]);
    assert.deepEqual(names.sort(), [...Array(3).fill("ingress"), ...Array(4).fill("worker")]);
    const findings: { check: string; state: string }[] = JSON.parse(
      inCompose("exec", "-T", "ingress", "node", "--import", "tsx", "scripts/admin.ts", "doctor"),
    ).findings;
    assert.deepEqual(
      findings.filter(({ state }) => state === "problem"),
      [],
    );
    const logged = inCompose("logs", "--no-color");
    assert.match(logged, /POST \/deliver\/\[redacted\]/);
    assert.ok(!logged.includes(new URL(endpoint_url).pathname.split("/").at(-1) ?? ""));
  });

  it("loses and doubles nothing while containers are killed, paused and restarted", async (context) => {
    remove(); // the ledger is of all rows
    const script = ["--import", "./shared/runtime/drizzle-modules.ts", "scripts/prove/main.ts"];
    const options = ["--compose", project, "--minutes", "0.8", "--seed", "1"];
    const proving = runScript([...script, ...options], env as Record<string, string>);
    const [exitCode] = await once(proving.process, "exit");

    context.diagnostic(proving.output());
    assert.equal(exitCode, 0, proving.output());
  });
});
