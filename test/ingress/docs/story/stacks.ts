import { agentTokenOf } from "../../../helpers/agent.ts";
import type { Sent } from "../recorder.ts";
import { openSender, type Story } from "./chapter.ts";

/** A controller starts agents for jobs. */
export async function stacks(story: Story) {
  const { api, recorder } = story;
  const registrationToken = await agentTokenOf(api.world, api.acme.cluster);
  const queue = await api.newQueue({ key: "kubernetes" });
  const command = { agents: { queue: queue.key } };
  const pipeline = await api.newPipeline({
    name: "Pods",
    steps: [
      { command: "make test", key: "test", ...command },
      { command: "make image", ...command },
    ],
  });
  await api.build(pipeline.id);
  const path = { key: "agent-stack-k8s" };
  const send = (id: string, summary: string, sent: Partial<Sent> = {}) =>
    recorder.send(id, summary, { token: registrationToken, status: 200, path, ...sent });

  const registration = { ...path, type: "kubernetes", queue_key: queue.key, metadata: { version: "0.40.0" } };
  const made = await send("registerStack", "A new stack", { path: {}, json: registration, status: 201 });
  await send("registerStack", "It was there", { path: {}, json: registration });
  await send("registerStack", "No such queue", {
    path: {},
    json: { ...registration, queue_key: "none" },
    status: 422,
  });
  const query = { queue_key: queue.key };
  const { body: page } = await send("listScheduledJobs", "The first", { query: { ...query, limit: "1" } });
  const after = page.page_info.end_cursor;
  await send("listScheduledJobs", "The next", { query: { ...query, after } });
  const id = page.jobs[0].id;
  const ofJob = { path: { ...path, id } };
  await send("reserveJobs", "For ten minutes", {
    json: { job_uuids: [id], reservation_expiry_seconds: 600 },
  });
  await send("reserveJobs", "Too many seconds", {
    json: { job_uuids: [id], reservation_expiry_seconds: 86_400 },
    status: 400,
  });
  await send("getJobStates", "It is reserved", { json: { job_uuids: [id] } });
  await send("getJobOfStack", "Its command and variables", ofJob);
  await send("createStackNotifications", "One is empty", {
    json: {
      notifications: [
        { job_uuid: id, detail: "Pod is starting" },
        { job_uuid: id, detail: "" },
      ],
    },
  });
  await send("finishJobOfStack", "Its pod cannot start", {
    ...ofJob,
    json: { exit_status: -1, detail: "ImagePullBackOff: no such image" },
  });
  await send("finishJobOfStack", "It has finished", {
    ...ofJob,
    json: { exit_status: 0, detail: "Done" },
    status: 409,
  });
  const sendToRest = openSender(story, story.org);
  await sendToRest("listStacks", "A page of stacks");
  await sendToRest("getStack", "A stack", { path: { stack: made.body.id } });
  await send("deregisterStack", "No answer but the status", { status: 204 });
}
