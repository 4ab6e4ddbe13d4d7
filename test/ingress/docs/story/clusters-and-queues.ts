import { openSender, type Story } from "./chapter.ts";
import { resourcesOf } from "./resources.ts";

export async function clustersAndQueues(story: Story) {
  const send = openSender(story, story.org);

  const created = await send("createCluster", "A cluster", {
    json: { name: "Machines", description: "Those in the basement", emoji: "⚙", color: "#2f6f4f" },
    status: 201,
  });
  await send("createCluster", "A name that is taken", { json: { name: "Machines" }, status: 422 });
  const cluster = { cluster: created.body.id };
  await send("createQueue", "A self-hosted queue", {
    path: cluster,
    json: { key: "default", description: "Jobs without secrets", retry_agent_affinity: "prefer-warmest" },
    status: 201,
  });
  const hosted = await send("createQueue", "A hosted queue", {
    path: cluster,
    json: { key: "macs", hostedAgents: { instanceShape: "MACOS_ARM64_M4_6X28" } },
    status: 201,
  });
  await send("createQueue", "A key with a space", { path: cluster, json: { key: "my queue" }, status: 422 });
  const queues = await send("listQueues", "A page of queues", { path: cluster });
  const queue = { ...cluster, queue: queues.body[0].id };
  const mac = { ...cluster, queue: hosted.body.id };
  await send("updateCluster", "Another default queue", {
    path: cluster,
    json: { default_queue_id: queue.queue },
  });
  await send("updateClusterByPatch", "Another description", {
    path: cluster,
    json: { description: "In the cellar" },
  });
  await send("listClusters", "A page of clusters", { query: { page: "1", per_page: "30" } });
  await send("getCluster", "A cluster", { path: cluster });
  await send("getQueue", "A queue", { path: queue });
  await send("updateQueue", "Another size of the hosted agents", {
    path: mac,
    json: { hostedAgents: { instanceShape: "MACOS_ARM64_M4_12X56" } },
  });
  await send("updateQueueByPatch", "Another description", {
    path: queue,
    json: { description: "Jobs with few secrets" },
  });
  await send("pauseDispatch", "A pause with a note", {
    path: queue,
    json: { dispatch_paused_note: "New disks, back at noon" },
  });
  await send("pauseDispatch", "The queue is paused already", { path: queue, json: {}, status: 422 });
  await send("resumeDispatch", "The queue again", { path: queue });
  await send("deleteQueue", "No answer but the status", { path: mac, status: 204 });
  await resourcesOf(story, "/clusters/:cluster", cluster);
  const empty = await send("createCluster", "A cluster without a description", {
    json: { name: "Laboratory" },
    status: 201,
  });
  await send("deleteCluster", "No answer but the status", { path: { cluster: empty.body.id }, status: 204 });
}
