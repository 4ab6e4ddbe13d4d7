import { z } from "zod";
import { finishByStack } from "../../../shared/agents/stacks/finish.ts";
import {
  maxDetailCharacters,
  maxNotifications,
  notifyAboutJobs,
} from "../../../shared/agents/stacks/notifications.ts";
import { listOf } from "../../../shared/collections.ts";
import { patterns } from "../../../shared/paths.ts";
import { unprocessable } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { toStorable } from "../../../shared/validation.ts";
import { type Operation, operation } from "../../operations/operation.ts";
import { countedStatus, exitStatus, unread } from "../../operations/reported.ts";
import { answer, done, tag } from "../answers.ts";
import { badRequest, requireJobOf } from "./checks.ts";

const maxAtOnce = 1000;
const maxDetailBytes = 4096;
/** A thousand details of the longest texts. */
const maxNotificationsBytes = 2 * 1024 * 1024;

const finish = z.object({
  exit_status: exitStatus,
  detail: z.string({ error: "detail is required" }).transform(toDetail),
});

/** Longer ones are cut: a job that cannot run must not wait for a better text. */
function toDetail(given: string): string {
  const bytes = Buffer.from(toStorable(given));
  return bytes.length <= maxDetailBytes
    ? bytes.toString()
    : bytes
        .subarray(0, maxDetailBytes)
        .toString()
        .replace(/\ufffd+$/, "");
}

const listError = "notifications must be a list of objects";
const notification = z.looseObject(
  { job_uuid: unread, detail: unread, timestamp: unread },
  { error: listError },
);
const notifying = z.object({
  notifications: listOf(notification, {
    error: listError,
    max: maxAtOnce,
    tooMany: `notifications can have ${maxAtOnce} entries at most`,
  }),
});
const notified = z.object({
  errors: z.array(z.object({ error: z.string(), indexes: z.array(z.int()) })),
});

/** Reports of a stack about jobs. */
export function stackReportOperations(services: Services): Operation[] {
  return [
    operation({
      tag,
      caller: "stack",
      methods: ["POST"],
      path: patterns.finishJobOfStack,
      id: "finishJobOfStack",
      summary: "End a job that no agent has",
      description: "Without an exit status it fails with -1. A repeated call changes nothing.",
      body: { schema: finish, refuse: unprocessable },
      success: done,
      refusals: {
        404: ["No job found"],
        409: ["An agent or another stack has the job, or it waits or has finished"],
      },
      run: async ({ registrar, stack, parameter, readBody }) => {
        const job = await requireJobOf(services, registrar, parameter("id"));
        const { exit_status, detail } = await readBody();
        const exitStatus = countedStatus(services, job.id, exit_status);
        await finishByStack(services, stack, job, { exitStatus, detail });
        return {};
      },
    }),
    operation({
      tag,
      caller: "stack",
      methods: ["POST"],
      path: patterns.stackNotifications,
      id: "createStackNotifications",
      summary: "Say what becomes of jobs, for the people at their pages",
      description: `Of up to ${maxDetailCharacters} characters, and ${maxNotifications} about a job. Those that are wrong are named in \`errors\`, and the others are kept.`,
      body: { schema: notifying, refuse: badRequest, maxBytes: maxNotificationsBytes },
      success: answer(notified),
      isQuiet: true,
      run: async ({ registrar, event, readBody }) => {
        const { notifications } = await readBody();
        const given = notifications.map(({ job_uuid, detail, timestamp }) => ({
          jobId: job_uuid,
          detail: typeof detail === "string" ? toStorable(detail) : detail,
          timestamp,
        }));
        const errors = await notifyAboutJobs(services, registrar, given, event.req.signal);
        return { errors: [...errors].map(([error, indexes]) => ({ error, indexes })) };
      },
    }),
  ];
}
