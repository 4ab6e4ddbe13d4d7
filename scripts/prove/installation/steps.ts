import type { CommandStep, Step } from "../../../shared/vocabulary.ts";
import { fetchStatus, makeFiles, storedPattern } from "./stored-files.ts";

/** The command of a job. The last digit of the job's id chooses one of its ways. */
export type Kind = "report" | "last" | "flaky" | "payload" | "upload" | "store" | "fetch";

/** Printed by each kind, before what else it does. 3,000 lines are several chunks of log. */
export const lines: Record<Kind, number> = {
  report: 3000,
  last: 2,
  flaky: 20,
  payload: 5,
  upload: 2,
  store: 2,
  fetch: 2,
};
export const failures = { exitStatus: 3, limit: 2 };
export const lastLine = "the end";
/** Of some agents of the first queue. */
export const tag = "size=large";

/** Last digits of job ids that take the other way: ignores SIGTERM, fails, reads its payload. */
const others: Record<Kind, string> = {
  report: "[0]",
  last: "",
  flaky: "[0-3]",
  payload: "[0-1]",
  upload: "[0-9a-f]",
  store: "[0-7]",
  fetch: "[0-7]",
};
/** The build's id decides: what one of its jobs stores another one fetches. */
const decidedByBuild: Kind[] = ["store", "fetch"];
const ways: Record<Kind, string> = {
  report: "trap '' TERM; for i in 1 2 3 4; do sleep 1; done",
  last: "",
  flaky: `exit ${failures.exitStatus}`,
  payload:
    "payload=$(signalbox-agent meta-data get service:webhook); " +
    `echo "$payload" | sed 's/^{"number":\\([0-9]*\\).*/number \\1/'`,
  // An attempt after a lost one uploads a list of its own.
  upload:
    `printf %s "$PROVE_UPLOAD" | sed "s/a list/$(cat /proc/sys/kernel/random/uuid)/g" | ` +
    "signalbox-agent pipeline upload - || exit 4",
  // The agent uploads by `artifact_paths`; one of the files is uploaded before, by the command.
  store: `${makeFiles()}; signalbox-agent artifact upload out/empty || exit 4`,
  fetch:
    `signalbox-agent artifact download 'out/*' got/ || exit ${fetchStatus.isMissing}; ` +
    `${makeFiles()}; diff -r out got/out || exit ${fetchStatus.isOther}`,
};

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
export function takesOtherWay(kind: Kind, id: string): boolean {
  return others[kind] !== "" && new RegExp(`${others[kind]}$`).test(id);
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
  const id = decidedByBuild.includes(kind) ? "BUILDKITE_BUILD_ID" : "SIGNALBOX_JOB_ID";
  const way = ways[kind] && `case $${id} in *${others[kind]}) ${ways[kind]} ;; esac`;
  return [
    // Containers have the same numbers of processes, again and again.
    'mark="$PROVE_MARKS/$SIGNALBOX_JOB_ID.$$.$BUILDKITE_AGENT_PID.$(cat /proc/sys/kernel/random/uuid)"',
    "read now _ < /proc/uptime",
    'echo "$BUILDKITE_AGENT_ACCESS_TOKEN $now" > "$mark.new" && mv "$mark.new" "$mark"',
    `seq -f "$SIGNALBOX_JOB_ID line %.0f" 1 ${lines[kind]}`,
    "sleep 0.2",
    ...(way ? [way] : []),
    `echo "${lastLine}"`,
    'read now _ < /proc/uptime && echo "ended $now" >> "$mark"',
  ].join("\n");
}
