import type { CommandStep, Step } from "../../../shared/vocabulary.ts";
import { fetchStatus, makeFiles, storedPattern } from "./stored-files.ts";

/** The command of a job: it prints lines, and then takes one of its ways. */
interface Command {
  /** 3,000 are several chunks of log. */
  lines: number;
  /** Taken by jobs whose ids have one of these last digits. */
  way?: { digits: string; command: string };
  /** The build's id decides: what one of its jobs stores another one fetches. */
  isDecidedByBuild?: true;
}

export const failures = { exitStatus: 3, limit: 2 };
export const lastLine = "the end";
/** Of some agents of the first queue. */
export const tag = "size=large";

const readPayload =
  "payload=$(signalbox-agent meta-data get service:webhook); " +
  `echo "$payload" | sed 's/^{"number":\\([0-9]*\\).*/number \\1/'`;
/** An attempt after a lost one uploads a list of its own. */
const upload =
  `printf %s "$PROVE_UPLOAD" | sed "s/a list/$(cat /proc/sys/kernel/random/uuid)/g" | ` +
  "signalbox-agent pipeline upload - || exit 4";
/** The agent uploads by `artifact_paths`; one of the files is uploaded before, by the command. */
const store = `${makeFiles()}; signalbox-agent artifact upload out/empty || exit 4`;
const fetch =
  `signalbox-agent artifact download 'out/*' got/ || exit ${fetchStatus.isMissing}; ` +
  `${makeFiles()}; diff -r out got/out || exit ${fetchStatus.isOther}`;

const commands = {
  report: {
    lines: 3000,
    way: { digits: "[0]", command: "trap '' TERM; for i in 1 2 3 4; do sleep 1; done" },
  },
  last: { lines: 2 },
  flaky: { lines: 20, way: { digits: "[0-3]", command: `exit ${failures.exitStatus}` } },
  payload: { lines: 5, way: { digits: "[0-1]", command: readPayload } },
  upload: { lines: 2, way: { digits: "[0-9a-f]", command: upload } },
  store: { lines: 2, way: { digits: "[0-7]", command: store }, isDecidedByBuild: true },
  fetch: { lines: 2, way: { digits: "[0-7]", command: fetch }, isDecidedByBuild: true },
} satisfies Record<string, Command>;

export type Kind = keyof typeof commands;

/**
 * The steps that must have ended before a job begins, by the roles that steps of the pipelines `graph` and `release` have
 * in their variables, or by their keys. A list that was uploaded waits for its own steps only.
 */
export const needs: Record<string, { roles: string[]; allowFailure?: true }> = {
  release: { roles: ["before"] },
  released: { roles: ["before", "release"] },
  deploys: { roles: ["before", "release"] },
  named: { roles: ["name"] },
  uploaded: { roles: ["upload"] },
  "uploaded late": { roles: ["upload", "uploaded"] },
  "after failure": { roles: ["flaky"], allowFailure: true },
  deploy: { roles: ["upload", "uploaded", "uploaded late", "flaky", "matrix", "left out", "tagged"] },
};
/** Begins the key of the wait in an uploaded list, which has no variables to name its list. */
export const waitOfList = "wait of ";
export const jobsOfUpload = 3;

/** @param id of the job; of the build for the kinds `store` and `fetch` */
export function takesWay(kind: Kind, id: string): boolean {
  const { way }: Command = commands[kind];
  return way !== undefined && new RegExp(`${way.digits}$`).test(id);
}

/** Returns what a command prints first. */
export function linesOf(kind: Kind, jobId: string): string[] {
  return Array.from({ length: commands[kind].lines }, (_, index) => `${jobId} line ${index + 1}`);
}

/** Commands leave a mark when they begin and when they come to their end. */
export function provedSteps(
  marksFolder: string,
): Record<"small" | "release" | "web" | "app" | "graph", Step[]> {
  const step = (kind: Kind, queue: string, more: Partial<CommandStep> = {}): CommandStep => ({
    label: kind,
    command: commandOf(kind),
    agents: { queue },
    env: { PROVE_MARKS: marksFolder },
    ...more,
  });
  const automatic = [{ exit_status: [failures.exitStatus], limit: failures.limit }];
  const trigger = "small";
  return {
    small: [step("last", "linux")],
    release: releaseOf((role, more) =>
      step("last", "linux", { ...more, env: { PROVE_MARKS: marksFolder, PROVE_ROLE: role } }),
    ),
    web: [
      step("report", "linux", gate),
      { type: "trigger", trigger: "release" },
      { type: "wait" },
      step("last", "linux", gate),
    ],
    app: [
      step("flaky", "mac", { retry: { automatic }, ...eager }),
      step("payload", "linux"),
      step("store", "linux", { key: "store", artifact_paths: storedPattern }),
      step("fetch", "linux", { depends_on: [{ step: "store" }] }),
      { type: "trigger", trigger, async: true, parallelism: 2 },
    ],
    graph: graphOf((kind, role, more) =>
      step(kind, "linux", {
        ...more,
        env: { PROVE_MARKS: marksFolder, PROVE_ROLE: role, ...more?.env },
        ...(kind === "flaky" && { retry: { automatic } }),
      }),
    ),
  };
}

/** A gate: no more builds than these are between its first and its last step. */
export const gate = { concurrency: 4, concurrency_group: "gate" };
const eager = { concurrency: 3, concurrency_group: "eager", concurrency_method: "eager" } as const;

const kinds = ["patch", "minor", "major"];

/** Answers become meta-data. */
export const keysOfAnswers = ["kind", "name"];

/** The field of a manual step, by the step's label, and answers to it. @param number of the request, for a text of its own */
export function answersOf(label: string | null, number = 0): { key: string; values: string[] } {
  return label === "release" ? { key: "kind", values: kinds } : { key: "name", values: [`person ${number}`] };
}

/** An input and a block. A job of a group, a trigger and a job wait for them. */
function releaseOf(step: (role: string, more?: Partial<CommandStep>) => CommandStep): Step[] {
  const options = kinds.map((value) => ({ label: value, value }));
  return [
    { type: "input", label: "name", key: "name", fields: [{ text: "Name", key: "name" }] },
    step("before"),
    {
      ...({ type: "block", label: "release", key: "release", blocked_state: "running" } as const),
      fields: [{ select: "Kind", key: "kind", options, default: "patch" }],
    },
    step("released", eager),
    { type: "trigger", trigger: "small", key: "deploys" },
    step("named", { depends_on: [{ step: "name" }] }),
  ];
}

type StepOf = (kind: Kind, role: string, more?: Partial<CommandStep>) => CommandStep;

/** A group, a matrix, a condition, tags, and an upload that others wait for. */
function graphOf(step: StepOf): Step[] {
  const late = { PROVE_LIST: "a list" };
  const uploaded = [
    step("last", "uploaded", { env: late }),
    { type: "wait", key: `${waitOfList}a list` },
    step("last", "uploaded late", { env: late }),
  ];
  const after = (...keys: string[]) => ({ depends_on: keys.map((key) => ({ step: key })) });
  const [name = "", value = ""] = tag.split("=");
  const tests = [
    step("flaky", "flaky", { key: "flaky" }),
    step("last", "matrix", { matrix: { setup: ["a", "b"] } }),
  ];
  return [
    step("upload", "upload", { key: "upload", env: { PROVE_UPLOAD: JSON.stringify({ steps: uploaded }) } }),
    { type: "group", label: "Tests", key: "tests", steps: tests },
    step("last", "left out", { key: "left-out", if: "build.number == 0 || build.branch == ''" }),
    step("last", "tagged", {
      key: "tagged",
      priority: 1,
      agents: { queue: "linux", [name]: value },
      depends_on: [],
    }),
    step("last", "after failure", {
      depends_on: [{ step: "flaky", allow_failure: true }],
    }),
    step("last", "deploy", after("upload", "tests", "left-out", "tagged")),
  ];
}

function commandOf(kind: Kind): string {
  const { lines, way, isDecidedByBuild }: Command = commands[kind];
  const id = isDecidedByBuild ? "BUILDKITE_BUILD_ID" : "SIGNALBOX_JOB_ID";
  return [
    // Containers have the same numbers of processes, again and again.
    'mark="$PROVE_MARKS/$SIGNALBOX_JOB_ID.$$.$BUILDKITE_AGENT_PID.$(cat /proc/sys/kernel/random/uuid)"',
    "read now _ < /proc/uptime",
    'echo "$BUILDKITE_AGENT_ACCESS_TOKEN $now" > "$mark.new" && mv "$mark.new" "$mark"',
    `seq -f "$SIGNALBOX_JOB_ID line %.0f" 1 ${lines}`,
    "sleep 0.2",
    ...(way ? [`case $${id} in *${way.digits}) ${way.command} ;; esac`] : []),
    `echo "${lastLine}"`,
    'read now _ < /proc/uptime && echo "ended $now" >> "$mark"',
  ].join("\n");
}
