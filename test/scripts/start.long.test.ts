import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { eventually } from "../helpers/http.ts";

const run = promisify(execFile);
/** Not copied: processes find what is compiled already. */
const linked = ["Procfile", "package.json", "ingress", "workers", "shared", "scripts", "node_modules"];
const path = process.env.PATH ?? "";
const hasRedis = ["redis-server", "valkey-server"].some((name) =>
  path.split(delimiter).some((directory) => isExecutable(join(directory, name))),
);
const hasGit = path.split(delimiter).some((directory) => isExecutable(join(directory, "git")));
const redisUrl = process.env.TEST_REDIS_URL;
const skip = !hasRedis && !redisUrl && "there is no redis-server on the PATH, and TEST_REDIS_URL is not set";

describe("npm start", { skip }, () => {
  // Uses the project's code with its own data.
  const folder = mkdtempSync(join(tmpdir(), "signalbox-start-"));
  const env = {
    PATH: path,
    HOME: folder,
    PORT: "0",
    TSX_TSCONFIG_PATH: resolve("tsconfig.json"),
    ...(hasRedis ? {} : { REDIS_URL: redisUrl, REDIS_PREFIX: `start-${process.pid}` }),
  };
  let npm: ChildProcess;
  let output = "";

  before(async () => {
    for (const name of linked) symlinkSync(resolve(name), join(folder, name));
    // Maintenance sends a background job again that a busy Redis did not take.
    await start(["worker=0", "deliveries=1", "maintenance=1"], /^ {4}npm run login.*\n/m);
  });

  /** Waits until the output matches. */
  async function start(processes: string[], expected: RegExp): Promise<void> {
    output = "";
    npm = spawn("npm", ["start", "--", ...processes], {
      cwd: folder,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const isUp = new Promise<void>((resolveUp, reject) => {
      const look = (chunk: Buffer) => {
        output += chunk;
        if (expected.test(output)) resolveUp();
      };
      npm.stdout?.on("data", look);
      npm.stderr?.on("data", look);
      npm.on("close", () => reject(new Error(`npm start has ended:\n${output}`)));
    });
    await isUp;
  }

  after(async () => {
    if (npm.exitCode === null && npm.signalCode === null) {
      const ended = once(npm, "close");
      npm.kill();
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it("shows its progress and then the banner, without a line of the log or a warning", () => {
    const [progress = ""] = output.split("\nSignalbox is running.");

    assert.match(progress, /^Bringing the database up to date\.$/m);
    assert.doesNotMatch(progress, /^\[/m, "a line of a process");
    assert.doesNotMatch(output, /ECONNREFUSED|plain http/);
  });

  it("names the file of the demo's password where people sign in", async () => {
    const [, origin] = /^ {2}Web page {3}(http:\/\/localhost:\d+)\/$/m.exec(output) ?? [];
    const page = await fetch(`${origin}/sign-in`);
    assert.match(await page.text(), /password of the demo are in <code>data\/demo\.txt<\/code>/);
  });

  it("prints commands that post a webhook, show its passed build, and read its payload and its log", async () => {
    const [post, show, job, read, log] = output.match(/(?<=^ {4})(curl|job=).*$/gm) ?? [];

    const posted = await shell(String(post));
    const shown = await eventually("the passed build", async () => {
      const text = await shell(`sleep 0.5; ${show}`); // the token has 200 requests a minute
      return text.includes('"state":"passed","blocked"') && text;
    });
    const payload = await shell(`${job}\n${read}`);
    const printed = await shell(`${job}\n${log}`);

    assert.match(JSON.parse(posted).id, /^[0-9a-f-]{36}$/);
    assert.equal(JSON.parse(shown)[0].number, 1);
    assert.deepEqual(JSON.parse(payload), { key: "service:webhook", value: '{"hello":"world"}' });
    assert.equal(printed.trimEnd(), "Hello, world");
  });

  it("prints commands that push a commit, and show the log of its build", { skip: !hasGit }, async () => {
    const [, ofPush = ""] = output.split("Push a commit");
    const [clone, push, job, log] = ofPush.match(/(?<=^ {4})(git|job=|curl).*$/gm) ?? [];

    await shell(`${clone}\n${push}`);
    const printed = await eventually("the log of the build", async () => {
      const text = await shell(`sleep 0.5; ${job}\n${log}`).catch(() => "");
      return text.includes("Hello from a push") && text;
    });

    const commit = (await shell("git -C data/greeting rev-parse HEAD")).trim();
    assert.match(printed, new RegExp(commit.slice(0, 7)));
  });

  it("lets the commands of README.md be pasted as they stand, up to the log of the passed build", async () => {
    const [, tour = ""] = readFileSync("README.md", "utf8").split("## The tour");
    const [upToTheLog = ""] = tour.split("Sign a device in");
    const commands = (upToTheLog.match(/(?<=^\$ ).*$/gm) ?? []).map((line) =>
      line.startsWith("curl ") ? `${line.replace("curl", "curl -sS")}; echo` : line,
    );

    const printed = (await shell(commands.join("\n"))).trim().split("\n");

    assert.equal(commands.length, 7);
    assert.equal(printed.length, 4);
    const [posted = "", builds = "", payload = "", log] = printed;
    assert.match(JSON.parse(posted).id, /^[0-9a-f-]{36}$/);
    assert.equal(JSON.parse(builds).length, 1);
    assert.equal(JSON.parse(payload).key, "service:webhook");
    assert.match(String(log), /^Hello, /);
  });

  it("tells the operator's command its addresses, as long as it runs", async () => {
    const [, origin] = /^ {2}Web page {3}(http:\/\/localhost:\d+)\/$/m.exec(output) ?? [];
    const admin = async (label: string, more = {}) => {
      const trigger = "--org demo --pipeline hello --type webhook";
      const command = `npm run -s admin -- trigger create ${trigger} --label ${label}`;
      const { stdout } = await run("sh", ["-c", command], { cwd: folder, env: { ...env, ...more } });
      return new URL(JSON.parse(stdout).endpoint_url).origin;
    };

    assert.equal(await admin("running"), origin);
    assert.equal(await admin("given", { PUBLIC_URL: "https://ci.example.com" }), "https://ci.example.com");
    assert.equal(
      await admin("one", { WEBHOOK_URL: "https://hooks.example.com" }),
      "https://hooks.example.com",
    );
  });

  it("is refused a second time, and leaves the files of the one that runs", { skip: !hasRedis }, async () => {
    const files = ["addresses.json", "demo.env", "demo.txt"].map((name) => join(folder, "data", name));
    const read = () => files.map((file) => readFileSync(file, "utf8"));
    const before = read();

    const second = await run("npm", ["start"], { cwd: folder, env }).catch((error) => error);

    assert.equal(second.code, 1);
    assert.match(second.stderr, /^npm start runs in this folder already\./m);
    assert.deepEqual(read(), before);
  });

  it("tells a sign-in without an address where it runs", async () => {
    const { AUTH_URL } = JSON.parse(readFileSync(join(folder, "data/addresses.json"), "utf8")).addresses;
    const { stdout } = await run("npm", ["run", "-s", "login", "--", "--help"], { cwd: folder, env });
    assert.match(stdout, new RegExp(`the server to sign in to\\s+\\(default:\\s+"${AUTH_URL}"\\)`));
  });

  it("prints a command that signs a device in", async () => {
    const command = output.match(/(?<=^ {4})npm run login.*$/m)?.[0];
    const device = spawn("sh", ["-c", String(command)], { cwd: folder, env, detached: true });
    const shown = await untilPrinted(device, /Ctrl-C gives up/);
    const ended = once(device, "close");
    process.kill(-Number(device.pid), "SIGINT");
    await ended;

    const [, server] = /npm run login -- --server (\S+)$/.exec(String(command)) ?? [];
    assert.match(shown, new RegExp(`^ {4}${server}/oauth/device/[A-Z]{4}-[A-Z]{4}$`, "m"));
    assert.match(output, /Sign in a device: .* as demo@example\.com with the password [\w-]{20}:$/m);
  });

  it("runs the requested processes, and prefixes each line with the process name", () => {
    assert.match(output, /^Starting ingress, deliveries, maintenance, agent\.$/m);
    for (const name of ["ingress", "deliveries", "maintenance"]) {
      assert.match(output, new RegExp(`^\\[${name} *\\] \\{.*"msg":"started"\\}$`, "m"));
    }
  });

  it("lets only the owner read its data", () => {
    const modeOf = (name: string) => (statSync(join(folder, name)).mode & 0o777).toString(8);

    assert.equal(modeOf("data"), "700");
    for (const name of ["secret-key", "demo.json", "demo.txt", "demo.env", "signalbox.db"])
      assert.equal(modeOf(`data/${name}`), "600");
  });

  it("stops everything when npm gets SIGTERM", async () => {
    const ended = once(npm, "close");
    npm.kill("SIGTERM");
    const [code] = await ended;

    assert.equal(code, 0, output);
    assert.match(output, /Stopped\.\n$/);
    assert.equal(existsSync(join(folder, "data/redis.sock")), false);
    await untilGroupIsGone(Number(npm.pid));
  });

  it("prints no secret of the demo at later starts, and says where they are", async () => {
    const file = join(folder, "data/demo.txt");
    const text = readFileSync(file, "utf8");
    const [password] = /(?<=password )[\w-]{20}/.exec(output) ?? [];
    assert.ok(password && text.includes(password) && output.includes(text));
    chmodSync(file, 0o644);

    await start(["worker=0", "agent=0"], /are in data\/demo\.txt\n/);

    assert.ok(!output.includes(password));
    assert.doesNotMatch(output, /sb[a-z]{2}_\w/);
    assert.match(readFileSync(file, "utf8"), new RegExp(`password ${password}`));
    assert.equal((statSync(file).mode & 0o777).toString(8), "600");
    const ended = once(npm, "close");
    npm.kill("SIGTERM");
    await ended;
  });

  async function shell(script: string): Promise<string> {
    const { stdout } = await run("sh", ["-c", script], { cwd: folder, env });
    return stdout;
  }

  async function untilPrinted(child: ChildProcess, expected: RegExp): Promise<string> {
    let text = "";
    for await (const chunk of child.stdout?.setEncoding("utf8") ?? []) {
      text += chunk;
      if (expected.test(text)) return text;
    }
    return assert.fail(`${expected} was not printed: ${text}`);
  }
});

/** tsx's compiler processes outlive their parent briefly. */
async function untilGroupIsGone(id: number): Promise<void> {
  await eventually("the end of every process", async () => {
    try {
      process.kill(-id, 0);
      return false;
    } catch {
      return true;
    }
  });
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
