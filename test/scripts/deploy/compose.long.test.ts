import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { findProgram } from "../../../scripts/find-program.ts";
import { findCompose } from "../../../scripts/prove/containers/containers.ts";
import { freePort } from "../../../scripts/scratch/ports.ts";
import { eventually, get, post, request } from "../../helpers/http.ts";
import { run as runScript } from "../../helpers/processes.ts";

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

/** Says for each address whether a connection opens. Those that no route leads to would only time out. */
const connecting = `
  const tries = process.argv.slice(1).map((address) => new Promise((resolve) => {
    const [host, port] = address.split(":");
    const end = (isOpen) => resolve([address, isOpen]);
    require("node:net").connect({ host, port }).on("connect", () => end(true)).on("error", () => end(false));
    setTimeout(end, 3000, false);
  }));
  Promise.all(tries).then((opened) => process.stdout.write(JSON.stringify(opened), () => process.exit()));`;

/** Connects an agent that claims to come from elsewhere. */
const connectingAgent = `
  const claims = { "Content-Type": "application/json", "X-Forwarded-For": "203.0.113.9",
    Forwarded: "for=203.0.113.9", "X-Real-IP": "203.0.113.9" };
  const send = (path, token, body) => fetch("http://proxy:3000/v3/" + path,
    { method: "POST", headers: { ...claims, Authorization: "Token " + token }, body: JSON.stringify(body) });
  const agent = { name: "impostor", meta_data: ["queue=linux"] };
  send("register", process.env.SIGNALBOX_AGENT_TOKEN, agent)
    .then((answer) => answer.json())
    .then(({ access_token }) => send("connect", access_token, {}))
    .then(({ status }) => console.log(status));`;

describe("compose.yaml", { skip: missing, timeout: 1_200_000 }, () => {
  let env: NodeJS.ProcessEnv;
  let url: string;
  let token: string;
  before(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    env = {
      ...process.env,
      COMPOSE_PROJECT_NAME: project,
      COMPOSE_HTTP_TIMEOUT: "600",
      SECRET_KEY: "a key of containers that is at least 32 characters",
      POSTGRES_PASSWORD: "letters0and1digits",
      REDIS_PASSWORD: "digits1and0letters",
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
    inCompose("--profile", "agents", "down", "--volumes", "--remove-orphans", "--timeout", "1");
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
  function containerOf(service: string): string {
    const labels = [`project=${project}`, `service=${service}`];
    const filters = labels.flatMap((label) => ["--filter", `label=com.docker.compose.${label}`]);
    const [id] = run("docker", "ps", "--quiet", ...filters).split("\n");
    return id || assert.fail(`No container of ${service} runs.`);
  }
  const runIn = (service: string, ...args: string[]) =>
    run("docker", "exec", containerOf(service), ...args).trim();
  const admin = (...args: string[]) => JSON.parse(runIn("ingress", "node", "dist/admin.js", ...args));
  const addressesOf = (service: string): string[] => {
    const format = "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}";
    return run("docker", "inspect", "--format", format, containerOf(service)).trim().split(" ");
  };

  it("loses and doubles nothing while containers are killed, paused and restarted", {
    timeout: 900_000,
  }, async (context) => {
    // By this seed there are faults of all four kinds.
    const length = ["--minutes", "0.3", "--patience", "400"];
    const options = ["--compose", project, ...length, "--per-second", "0.5", "--seed", "1"];
    const proving = runScript(["scripts/prove/main.ts", ...options], env as Record<string, string>);
    const [exitCode] = await once(proving.process, "exit");

    context.diagnostic(proving.output());
    assert.equal(exitCode, 0, proving.output());
  });

  // The others use the containers of the proof: each start of them takes a minute.

  it("runs a webhook's build in three ingress, four workers and its agents", async () => {
    const org = ["--org", "prove"];
    admin("user", "create", "--email", "grace@example.com", "--name", "Grace", ...org);
    const scopes = ["--scopes", "read_builds read_build_logs read_agents", "--description", "Test"];
    ({ token } = admin("token", "create", "--user", "grace@example.com", ...org, ...scopes));
    const hello = ["--slug", "hello", "--name", "Hello", "--command", "echo Hello, $SIGNALBOX"];
    admin("pipeline", "create", ...org, "--cluster", "Bench", "--queue", "linux", ...hello);
    const hook = ["--pipeline", "hello", "--type", "webhook", "--label", "Hook"];
    const { endpoint_url } = admin("trigger", "create", ...org, ...hook);

    const { status } = await post(endpoint_url, '{"hello":"signalbox"}');
    const pipeline = `${url}/v2/organizations/prove/pipelines/hello`;
    const [build] = await eventually("the build", async () => {
      const { body } = await get(`${pipeline}/builds`, token);
      return body[0]?.state === "passed" && body;
    });
    const log = await get(`${pipeline}/builds/1/jobs/${build.jobs[0].id}/log.txt`, token);

    assert.equal(status, 201);
    assert.match(log.text, /Hello/);
    await eventually("reports", async () => admin("status").processes.length === 7);
    const names = admin("status").processes.map(({ name }: { name: string }) => name.split(":")[0]);
    assert.deepEqual(names.sort(), [...Array(3).fill("ingress"), ...Array(4).fill("worker")]);
    const { findings }: { findings: { check: string; state: string }[] } = JSON.parse(
      runIn("ingress", "sh", "-c", "node dist/admin.js doctor || true"),
    );
    // Containers of the proof know the proxy by a plain address.
    assert.deepEqual(
      findings.filter(({ check, state }) => state === "problem" && check !== "public address"),
      [],
    );
    const logged = inCompose("logs", "--no-color", "proxy", "ingress");
    assert.match(logged, /POST \/deliver\/\[redacted\]/);
    assert.ok(!logged.includes(new URL(endpoint_url).pathname.split("/").at(-1) ?? ""));
  });

  it("lets agents reach the proxy, and neither Redis nor Postgres nor an ingress", () => {
    const ports = { redis: 6379, postgres: 5432, ingress: 3000, worker: 3000 };
    const closed = Object.entries(ports).flatMap(([service, port]) =>
      [service, ...addressesOf(service)].map((host) => `${host}:${port}`),
    );

    const answered = JSON.parse(runIn("agent", "node", "--eval", connecting, "proxy:3000", ...closed));

    assert.ok(closed.length > 8);
    assert.deepEqual(answered, [["proxy:3000", true], ...closed.map((address) => [address, false])]);
  });

  it("knows agents by their own addresses, whatever they claim", async () => {
    const status = runIn("agent", "node", "--eval", connectingAgent);

    assert.equal(status, "200");
    const { body } = await get(`${url}/v2/organizations/prove/agents?name=impostor`, token);
    const { ip_address } = body.find(({ name }: { name: string }) => name === "impostor");
    assert.ok(addressesOf("agent").includes(ip_address), ip_address);
  });

  it("asks for the password of Redis", async () => {
    const withoutPassword = ["env", "--unset", "REDISCLI_AUTH", "redis-cli", "ping"];

    assert.match(runIn("redis", ...withoutPassword), /NOAUTH/);
    assert.equal(runIn("redis", "redis-cli", "ping"), "PONG");
    const { status } = await request(`${url}/readyz`);
    assert.equal(status, 200);
  });

  it("runs nothing as root, with a capability or with a root folder to write to", () => {
    const format =
      "{{.Config.User}}|{{.HostConfig.CapDrop}}|{{.HostConfig.CapAdd}}|{{.HostConfig.SecurityOpt}}";
    for (const service of ["proxy", "ingress", "worker", "agent", "postgres", "redis"]) {
      const id = containerOf(service);
      const [user = "", ...rest] = run("docker", "inspect", "--format", format, id).trim().split("|");
      const isReadOnly = run("docker", "inspect", "--format", "{{.HostConfig.ReadonlyRootfs}}", id).trim();

      assert.match(user, /^(?!root$|0)./, service);
      assert.deepEqual(rest, ["[ALL]", "[]", "[no-new-privileges:true]"], service);
      assert.equal(isReadOnly, String(service !== "agent"), service);
      const effective = /^CapEff:\s*0+$/m;
      assert.match(runIn(service, "cat", "/proc/1/status"), effective, service);
    }
  });
});
