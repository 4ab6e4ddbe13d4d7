import type { CommandStep, Step } from "../../../shared/vocabulary.ts";

/** The command of a job. The last digit of the job's id chooses one of its ways. */
export type Kind = "report" | "last" | "flaky" | "payload";

/** Printed by each kind, before what else it does. 3,000 lines are several chunks of log. */
export const lines: Record<Kind, number> = { report: 3000, last: 2, flaky: 20, payload: 5 };
export const failures = { exitStatus: 3, limit: 2 };
export const lastLine = "the end";

/** Last digits of job ids that take the other way: ignores SIGTERM, fails, reads its payload. */
const others: Record<Kind, string> = { report: "[0]", last: "", flaky: "[0-3]", payload: "[0-1]" };
const ways: Record<Kind, string> = {
  report: "trap '' TERM; for i in 1 2 3 4; do sleep 1; done",
  last: "",
  flaky: `exit ${failures.exitStatus}`,
  payload:
    "payload=$(signalbox-agent meta-data get service:webhook); " +
    `echo "$payload" | sed 's/^{"number":\\([0-9]*\\).*/number \\1/'`,
};

export function takesOtherWay(kind: Kind, jobId: string): boolean {
  return others[kind] !== "" && new RegExp(`${others[kind]}$`).test(jobId);
}

/** Commands leave a mark when they begin and when they come to their end. */
export function provedSteps(marksFolder: string): Record<"web" | "app", Step[]> {
  const step = (kind: Kind, queue: string, more: Partial<CommandStep> = {}): CommandStep => ({
    ...{ label: kind, command: commandOf(kind), agents: { queue } },
    ...{ env: { PROVE_MARKS: marksFolder } },
    ...more,
  });
  const automatic = [{ exit_status: [failures.exitStatus], limit: failures.limit }];
  return {
    web: [step("report", "linux"), { type: "wait" }, step("last", "linux")],
    app: [step("flaky", "mac", { retry: { automatic } }), step("payload", "linux")],
  };
}

function commandOf(kind: Kind): string {
  const way = ways[kind] && `case $SIGNALBOX_JOB_ID in *${others[kind]}) ${ways[kind]} ;; esac`;
  return [
    // Containers have the same numbers of processes, again and again.
    'mark="$PROVE_MARKS/$SIGNALBOX_JOB_ID.$$.$BUILDKITE_AGENT_PID.$(cat /proc/sys/kernel/random/uuid)"',
    'echo "$BUILDKITE_AGENT_ACCESS_TOKEN" > "$mark.new" && mv "$mark.new" "$mark"',
    `seq -f "$SIGNALBOX_JOB_ID line %.0f" 1 ${lines[kind]}`,
    "sleep 0.2",
    ...(way ? [way] : []),
    `echo "${lastLine}"`,
    'echo ended >> "$mark"',
  ].join("\n");
}
