import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { after, describe, it } from "node:test";
import { runAdmin } from "../../../scripts/admin/run.ts";
import { findProgram } from "../../../scripts/find-program.ts";
import { youngGeneration } from "../../../scripts/node-options.ts";
import { patterns } from "../../../shared/paths.ts";
import { createMetrics } from "../../../shared/process/metrics/metrics.ts";
import { settingGroups } from "../../../shared/settings/settings.ts";

const folder = "scripts/deploy";
const page = readFileSync(`${folder}/PRODUCTION.md`, "utf8");
const units = globSync(`${folder}/systemd/*`);
const files = [`${folder}/PRODUCTION.md`, `${folder}/nginx.conf`, `${folder}/Caddyfile`, ...units];
const everything = files.map((file) => readFileSync(file, "utf8")).join("\n");
const scratch = mkdtempSync(join(tmpdir(), "signalbox-deploy-"));
const sbin = ["/usr/sbin", "/sbin"];

const matches = (text: string, pattern: RegExp) => [
  ...new Set([...text.matchAll(pattern)].map(([, match]) => match ?? "")),
];

after(() => rmSync(scratch, { recursive: true, force: true }));

describe("the commands of servers and agents", () => {
  const servers =
    /\bnode\b.*(?:(?:ingress|workers)\/main\.ts|scripts\/agent\.ts|dist\/(?:ingress|workers|agent)\.js)/;

  for (const [file, count] of [
    ["Procfile", 7],
    ["package.json", 3],
    ["Dockerfile", 1],
    ["compose.yaml", 2],
    ["scripts/prove/containers/stack.ts", 1],
    [`${folder}/systemd/signalbox-ingress@.service`, 1],
    [`${folder}/systemd/signalbox-worker@.service`, 1],
  ] as const) {
    it(`limit the young generation in ${file}`, () => {
      const lines = readFileSync(file, "utf8").split("\n");
      const commands = lines.filter((line) => !line.startsWith("#") && servers.test(line));

      assert.equal(commands.length, count);
      for (const command of commands) assert.match(command, new RegExp(`node"?,? "?${youngGeneration}[", ]`));
    });
  }
});

describe("the packages", () => {
  it("are checked by their content: each has its integrity in the lock file", () => {
    const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
      packages: Record<string, { integrity?: string; link?: boolean }>;
    };
    const installed = Object.entries(packages).filter(([path, { link }]) => path !== "" && !link);
    assert.ok(installed.length > 300);
    for (const [path, { integrity }] of installed) assert.match(integrity ?? "", /^sha512-/, path);
  });
});

describe("the page about production", () => {
  it("names settings that exist", () => {
    const known = new Set(settingGroups.flatMap(({ settings }) => settings.map(({ name }) => name)));
    const named = matches(everything, /\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g).filter(
      (name) => !["NODE_ENV", "NODE_COMPILE_CACHE"].includes(name) && !/^(AWS|AF)_/.test(name),
    );

    assert.ok(named.length > 10);
    assert.deepEqual(
      named.filter((name) => !known.has(name)),
      [],
    );
  });

  it("names commands that exist", async () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
    const npm = matches(page, /npm run (?:-s )?([a-z]+)/g);
    const commands = matches(page, /admin -- ([a-z-]+(?: [a-z]+)?)/g);

    assert.ok(npm.length > 2 && commands.length > 5);
    assert.deepEqual(
      npm.filter((name) => !(name in scripts)),
      [],
    );
    for (const command of commands) {
      let help = "";
      const words = command.split(" ");
      await runAdmin([...words, "--help"], {
        env: {},
        stdin: Readable.from([]),
        write: (text) => (help += text),
        writeError: (text) => assert.fail(`${command}: ${text}`),
      });
      assert.match(help, new RegExp(`^Usage: admin ${command}( |\n)`), command);
    }
  });

  it("names options, metrics, addresses and units that exist", () => {
    const adminSource = globSync("scripts/admin/**/*.ts")
      .map((file) => readFileSync(file, "utf8"))
      .join("\n");
    const options = matches(page, /admin -- [^`\n]*?(--[a-z-]+)/g);
    const metrics = new Set(
      createMetrics({
        process: "test",
        isRedisAway: () => false,
        redisState: () => "ok",
        databaseState: () => "ok",
      })
        .registry.getMetricsAsArray()
        .map(({ name }) => name),
    );
    const services = matches(page, /\b(signalbox-[a-z]+(?:@|\.[a-z]+)?)/g).map((name) =>
      name.replace(/@$/, "@.service"),
    );

    assert.deepEqual(
      options.filter((option) => !adminSource.includes(`${option}`)),
      [],
    );
    assert.deepEqual(
      matches(page, /`(signalbox_[a-z_]+)/g).filter((name) => !metrics.has(name)),
      [],
    );
    for (const path of matches(page, /`(\/(?:readyz|events|deliver|invitations)[^`]*)`/g)) {
      const start = path.split("/")[1];
      assert.ok(
        Object.values(patterns).some((pattern) => pattern.split("/")[1] === start),
        path,
      );
    }
    for (const name of services) {
      const file = name.includes(".") ? name : `${name}.service`;
      assert.ok(
        units.some((unit) => basename(unit) === file),
        name,
      );
    }
  });

  it("has links that lead somewhere", () => {
    for (const link of matches(page, /\]\(([^)]+)\)/g)) {
      const [path = "", heading] = link.split("#");
      const file = join(folder, path);
      assert.ok(existsSync(file), link);
      const headings = matches(readFileSync(file, "utf8"), /^#+ (.*)$/gm);
      const anchors = headings.map((each) =>
        each
          .toLowerCase()
          .replace(/[^\w\- ]/g, "")
          .replaceAll(" ", "-"),
      );
      assert.ok(heading === undefined || anchors.includes(heading), link);
    }
  });
});

const limited = {
  User: "signalbox",
  UMask: "0077",
  ProtectSystem: "strict",
  ProtectProc: "invisible",
  CapabilityBoundingSet: "",
  RestrictAddressFamilies: "AF_INET AF_INET6 AF_UNIX AF_NETLINK",
  SystemCallArchitectures: "native",
  SystemCallFilter: "@system-service",
};
const switchedOn = [
  ...["NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome", "LockPersonality", "RemoveIPC"],
  ...["ProtectClock", "ProtectControlGroups", "ProtectHostname"],
  ...["ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables"],
  ...["RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID"],
];

describe("the files beside it", () => {
  const services = units.filter((each) => each.endsWith(".service"));
  const membersOf = (unit: string) =>
    Object.fromEntries(
      readFileSync(unit, "utf8")
        .split("\n")
        .filter((line) => /^\w+=/.test(line))
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    );

  it("are units that run as a user of their own, write to their folders only and need no rights", () => {
    for (const unit of services) {
      const members = membersOf(unit);
      const hardening = { ...limited, ...Object.fromEntries(switchedOn.map((name) => [name, "yes"])) };
      for (const [name, value] of Object.entries(hardening))
        assert.equal(members[name], value, `${unit}: ${name}`);
      assert.match(members.ReadWritePaths ?? "", /^\/srv\/signalbox\/data( \/var\/backups\/signalbox)?$/);
      assert.ok(!("MemoryDenyWriteExecute" in members), "V8 compiles to memory");
    }
  });

  it("are units with the memory that it names", () => {
    const [, named] = /Give each ingress (\d+) GB/.exec(page) ?? [];
    for (const unit of services.filter((each) => /-(ingress|worker)@/.test(each)))
      assert.equal(membersOf(unit).MemoryMax, `${named}G`, unit);
  });

  const analyze = findProgram(["systemd-analyze"]);
  it("are units that systemd takes", { skip: analyze ? false : "no systemd-analyze on the PATH" }, () => {
    const here = join(scratch, "units");
    mkdirSync(here);
    for (const unit of units) {
      const text = readFileSync(unit, "utf8")
        .replaceAll("/srv/signalbox/node_modules/.bin/node", process.execPath)
        .replaceAll("/srv/signalbox", resolve("."));
      writeFileSync(join(here, basename(unit)), text);
    }
    const names = units.map((unit) => join(here, basename(unit).replace("@.", "@1.")));
    const { stderr } = spawnSync(analyze ?? "", ["verify", "--man=no", ...names], {
      encoding: "utf8",
      env: { ...process.env, SYSTEMD_UNIT_PATH: `${here}:` },
    });

    const ofOurs = stderr.split("\n").filter((line) => line.includes("signalbox"));
    assert.deepEqual(ofOurs, []);

    for (const service of names.filter((name) => name.endsWith(".service"))) {
      const args = ["security", "--offline=yes", "--threshold=25", "--no-pager", service];
      const { status, stdout, stderr } = spawnSync(analyze ?? "", args, { encoding: "utf8" });
      const isOld = /unrecognized option/.test(stderr);
      assert.ok(status === 0 || isOld, `${service}: exposure is above 2.5 of 10\n${stdout}${stderr}`);
    }
  });

  const nginx = findProgram(["nginx"], sbin);
  const openssl = findProgram(["openssl"]);
  it("are a configuration that nginx takes", {
    skip: nginx && openssl ? false : "no nginx and openssl on the PATH",
  }, () => {
    const [key, certificate] = [join(scratch, "key"), join(scratch, "certificate")];
    const subject = ["-subj", "/CN=ci.example.com", "-nodes", "-days", "1"];
    spawnSync(openssl ?? "", [
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      ...subject,
      "-keyout",
      key,
      "-out",
      certificate,
    ]);
    const text = readFileSync(`${folder}/nginx.conf`, "utf8")
      .replace(/\/etc\/ssl\/certs\S+(?=;)/, certificate)
      .replace(/\/etc\/ssl\/private\S+(?=;)/, key)
      .replaceAll("/var/log/nginx", scratch);
    const main = join(scratch, "nginx.conf");
    const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    const temporary = folders.map((name) => `${name}_temp_path ${scratch}/${name};`).join("\n");
    const context = `pid ${scratch}/pid; error_log stderr; events {}`;
    writeFileSync(main, `${context}\nhttp {\n${temporary}\n${text}\n}\n`);

    const { status, stderr } = spawnSync(nginx ?? "", ["-t", "-c", main], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
  });

  const caddy = findProgram(["caddy"]);
  it("are a configuration that Caddy takes", { skip: caddy ? false : "no caddy on the PATH" }, () => {
    const args = ["validate", "--adapter", "caddyfile", "--config", `${folder}/Caddyfile`];
    const { status, stderr } = spawnSync(caddy ?? "", args, {
      encoding: "utf8",
      env: { ...process.env, HOME: scratch },
    });
    assert.equal(status, 0, stderr);
  });
});
