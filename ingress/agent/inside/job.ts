import { z } from "zod";
import { promiseFailure } from "../../../shared/agents/inside/promise.ts";
import { canceledBy, requireBuildInReach } from "../../../shared/agents/inside/reach.ts";
import { changeTimeLimit } from "../../../shared/agents/inside/time-limit.ts";
import type { LeaseBatches } from "../../../shared/agents/lease-batches.ts";
import { cancelBuildByJob } from "../../../shared/builds/progress/cancel.ts";
import { patterns } from "../../../shared/paths.ts";
import { maxTimeoutMinutes } from "../../../shared/pipelines/step/members.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { type Problem, type Refusal, unprocessable } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type Operation, operation } from "../../operations/operation.ts";
import { countedStatus, exitStatus, reportedText } from "../../operations/reported.ts";
import { answer, tag } from "../answers.ts";
import { refuseReadOnly } from "../read-only.ts";

const maxReasonLength = 1000;
const promise = z.object({
  exit_status: exitStatus.meta({ description: "As of a job that finishes. 0 promises nothing" }),
  reason: reportedText(maxReasonLength).meta({ description: "Goes to the log of the server" }),
});
const minutesError = `timeout must be a whole number from 1 to ${maxTimeoutMinutes}`;
const onlyTimeout = "Only the timeout of a job can be changed";
const change = z.strictObject(
  {
    timeout: z
      .union([z.string().regex(/^\s*\d{1,6}\s*$/), z.int()], minutesError)
      .transform(Number)
      .refine((minutes) => minutes >= 1 && minutes <= maxTimeoutMinutes, minutesError)
      .meta({ description: "Minutes since the job started" }),
  },
  onlyTimeout,
);

/** Of a request for another member, the missing timeout is no problem. */
function refuseChange(...problems: Problem[]): Refusal {
  const other = problems.find(({ message }) => message === onlyTimeout);
  return unprocessable(...(other ? [other] : problems));
}

/** The calls of programs in jobs for their own job, and for whole builds. */
export function insideJobOperations(services: Services, leases: LeaseBatches): Operation[] {
  return [
    operation({
      tag,
      caller: "attempt",
      methods: ["PUT"],
      path: patterns.promiseFailure,
      id: "promiseFailure",
      summary: "Promise that a running job will fail",
      description:
        "The job runs on. Its build is failing from now on, unless the failure is soft or will be retried.",
      body: { schema: promise, isReport: true },
      success: { status: 204, description: "Done" },
      refusals: { 422: ["the job does not run"] },
      run: async ({ attempt, readBody }) => {
        const { exit_status, reason } = await readBody();
        const exitStatus = countedStatus(services, attempt.lease.jobId, exit_status);
        if (exitStatus !== 0) await promiseFailure(services, leases, attempt, { exitStatus, reason });
      },
    }),
    operation({
      tag,
      caller: "attempt",
      methods: ["PUT"],
      path: patterns.jobState,
      id: "updateJob",
      summary: "Change when a running job times out",
      description: "At most an hour later than its step says. The timeout cannot be taken away.",
      body: { schema: change, refuse: refuseChange },
      success: answer(z.object({ id: field.id })),
      refusals: { 422: ["the job does not run"] },
      run: async ({ attempt, readBody }) => {
        const { timeout } = await readBody();
        await changeTimeLimit(leases, attempt, timeout);
        return { id: attempt.lease.jobId };
      },
    }),
    operation({
      tag,
      caller: "insideJob",
      methods: ["POST"],
      path: patterns.cancelBuildFromJob,
      id: "cancelBuildFromJob",
      summary: "Cancel a build of the job's cluster",
      success: answer(z.object({ uuid: field.id })),
      refusals: {
        403: ["The token may only read"],
        404: ["no such build"],
        422: ["Build cannot be canceled: it has finished already"],
      },
      run: async ({ parameter, ...caller }) => {
        refuseReadOnly(caller);
        const build = await requireBuildInReach(services.db, caller, parameter("id"));
        await cancelBuildByJob(services, build, await canceledBy(services.db, caller));
        return { uuid: build.id };
      },
    }),
  ];
}
