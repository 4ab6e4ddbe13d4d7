import { requireOrganization } from "../../../../shared/accounts/organizations.ts";
import { pauseAgent, requireAgent } from "../../../../shared/agents/control.ts";
import { createAgentToken } from "../../../../shared/agents/tokens.ts";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { listJobsPage } from "../../../../shared/builds/reading/job-list-store.ts";
import { retryJob } from "../../../../shared/builds/retry.ts";
import { createCluster } from "../../../../shared/clusters/clusters.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../../shared/queues/queues.ts";
import { StackClient } from "../../../agents/stacks/stack-client.ts";
import { startAgent } from "../../../helpers/agent.ts";
import type { Pages } from "../../../helpers/pages.ts";
import {
  failedBuild,
  failedJobs,
  makeTimedBuild,
  passedBuild,
  passedJobs,
  runningBuild,
  runningJobs,
} from "../builds/timed-builds.ts";

/** Creates a queue with agents in all states, and a build with jobs in many. */
export async function exhibitAgents(pages: Pages) {
  const { services, ada, url } = pages;
  const organization = await requireOrganization(services.db, "globex");
  const actor = { organization, userId: ada.id };
  const cluster = await createCluster(services, actor, { name: "Workshop" });
  const queue = await createQueue(services, actor, cluster, { key: "builders", isDefault: true });
  const { token } = await createAgentToken(services, actor, cluster, {
    description: "Machines in the workshop",
    queueId: queue.id,
    expiresAt: null,
  });
  const pipeline = await createPipeline(services, actor, {
    clusterId: cluster.id,
    name: "Compiler",
    steps: [
      { label: "Lint", command: "npm run lint" },
      { label: "Unit tests", command: "npm test -- --shard", parallelism: 2 },
      { type: "wait" },
      { command: "./publish.sh\n./announce.sh --to everybody@globex.example.com" },
    ],
  });
  const made = await createBuildByHand(services, actor, pipeline, { message: "Faster loops", source: "ui" });
  for (let more = 0; more < 8; more++)
    await createBuildByHand(services, actor, pipeline, { message: "One of many builds" });

  const tags = ["queue=builders", "gpu=yes", "zone=eu-central-1"];
  const start = (name: string) =>
    startAgent(url, token, { name, hostname: "workshop-7.globex.example.com", meta_data: tags });
  const first = await start("builder-1");
  const failed = await first.runOne(3);
  await first.begin((await first.offered()) ?? "");
  await exhibitStack(pages, token, made.build.id);
  const second = await start("builder-2");
  const agent = await requireAgent(services.db, organization.id, second.id);
  await pauseAgent(services, actor, agent, { note: "New disks until noon.", minutes: 90 });
  await retryJob(services, actor, { ...made, pipeline }, failed ?? "");
  const timed = { clusterId: cluster.id };
  await makeTimedBuild(pages, actor, { ...timed, ...passedBuild, name: "Passed", jobs: passedJobs });
  await makeTimedBuild(pages, actor, { ...timed, ...failedBuild, name: "Failed", jobs: failedJobs });
  await makeTimedBuild(pages, actor, { ...timed, ...runningBuild, name: "Running", jobs: runningJobs });
  const at = `/organizations/globex/clusters/${cluster.id}`;
  return {
    queue: `${at}/queues/${queue.id}`,
    running: `/organizations/globex/agents/${first.id}`,
    paused: `/organizations/globex/agents/${second.id}`,
    build: "/organizations/globex/pipelines/compiler/builds/1",
  };
}

/** A stack that has reserved the first job of a build that waits, and says what it does. */
async function exhibitStack({ services, url }: Pages, token: string, buildId: string) {
  const client = new StackClient(url, token);
  await client.register("agent-stack-k8s", "builders", {
    metadata: { version: "0.40.0", region: "eu-central-1" },
  });
  const { rows } = await listJobsPage(services.db, buildId, { limit: 10, offset: 0 });
  const waiting = rows.find(({ job }) => job.state === "scheduled")?.job.id;
  if (!waiting) return;
  await client.reserve([waiting], 3600);
  await client.notify(
    ["Pod is starting", "Waiting for a node with enough memory: 2 of 7 are cordoned"].map((detail) => ({
      job_uuid: waiting,
      detail,
    })),
  );
}
