import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { CannotStart } from "../../scripts/start/cannot-start.ts";
import { giveMetricsPorts, parseProcfile, planProcesses, usage } from "../../scripts/start/procfile.ts";

describe("the Procfile", () => {
  it("names a command on each line", () => {
    const kinds = parseProcfile(
      'web: exec env A="b:c" node web.ts\n\n# a remark\r\nwork-er_2:node worker.ts  \n',
    );

    assert.deepEqual(kinds, [
      { name: "web", command: 'exec env A="b:c" node web.ts' },
      { name: "work-er_2", command: "node worker.ts" },
    ]);
  });

  it("has its names in the help of npm start", () => {
    const kinds = parseProcfile("web: node web.ts\nworker: node worker.ts");

    const help = usage(kinds);

    assert.match(help, /^Usage: npm start -- /);
    assert.match(help, /Names: web, worker\.$/);
  });

  for (const [title, text, problem] of [
    ["without a command", "web: a\nworker:", /line 2.*name: command/],
    ["without a name", ": a", /line 1/],
    ["without a colon", "web a", /line 1/],
    ["whose name has been used", "web: a\nweb: b", /line 2.*there is a web already/],
  ] as const) {
    it(`refuses a line ${title}`, () => {
      assert.throws(() => parseProcfile(text), problem);
      assert.throws(() => parseProcfile(text), CannotStart);
    });
  }

  it("of this project names each program, a worker for each work queue, and an agent", () => {
    const kinds = parseProcfile(readFileSync("Procfile", "utf8"));

    assert.deepEqual(
      kinds.map(({ name }) => name),
      ["ingress", "worker", "deliveries", "maintenance", "dispatch", "notifications", "agent"],
    );
  });
});

describe("npm start -- name=number", () => {
  const kinds = [
    { name: "web", command: "node web.ts" },
    { name: "worker", command: "node worker.ts" },
  ];
  const namesOf = (args: string[]) => planProcesses(kinds, args).map(({ name }) => name);

  it("runs one process of each kind without arguments", () => {
    assert.deepEqual(planProcesses(kinds, []), [
      { name: "web", kind: "web", command: "node web.ts" },
      { name: "worker", kind: "worker", command: "node worker.ts" },
    ]);
  });

  it("runs a specialised worker only if it is named", () => {
    const withPart = [...kinds, { name: "mail", command: "node worker.ts mail" }];
    const namesWith = (args: string[]) => planProcesses(withPart, args).map(({ name }) => name);

    assert.deepEqual(namesWith([]), ["web", "worker"]);
    assert.deepEqual(namesWith(["mail=2"]), ["web", "worker", "mail.1", "mail.2"]);
  });

  it("runs the requested number of processes and numbers them", () => {
    assert.deepEqual(namesOf(["worker=3"]), ["web", "worker.1", "worker.2", "worker.3"]);
  });

  it("leaves out a process scaled to 0", () => {
    assert.deepEqual(namesOf(["web=0"]), ["worker"]);
  });

  it("gives each process its name, and METRICS_PORT plus its place", () => {
    const placed = giveMetricsPorts(planProcesses(kinds, ["worker=2"]), { METRICS_PORT: "9100", PORT: "80" });
    assert.deepEqual(
      placed.map(({ env }) => [env?.PROCESS_NAME, env?.METRICS_PORT, env?.PORT]),
      [
        ["web", "9100", "80"],
        ["worker.1", "9101", "80"],
        ["worker.2", "9102", "80"],
      ],
    );
  });

  it("gives no port of metrics while they are off", () => {
    const placed = giveMetricsPorts(planProcesses(kinds, []), {});
    assert.deepEqual(
      placed.map(({ env }) => env),
      [{ PROCESS_NAME: "web" }, { PROCESS_NAME: "worker" }],
    );
  });

  for (const [args, problem] of [
    [["job=2"], /no process job.*web, worker/],
    [["web"], /web: it must be name=number/],
    [["web=two"], /web=two: it must be name=number/],
    [["web=-1"], /web=-1/],
    [["web=101"], /at most 100/],
    [["--help"], /--help: it must be name=number/],
    [["web=0", "worker=0"], /nothing to start/],
  ] as const) {
    it(`refuses ${args.join(" ")}`, () => {
      assert.throws(() => planProcesses(kinds, [...args]), problem);
      assert.throws(() => planProcesses(kinds, [...args]), CannotStart);
    });
  }
});
