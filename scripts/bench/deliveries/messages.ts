import { createConnection } from "../../../shared/connections/connections.ts";
import { newConnection } from "../../../shared/connections/members.ts";
import { newNotificationService } from "../../../shared/notifications/members.ts";
import { createNotificationService } from "../../../shared/notifications/notification-services.ts";
import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import type { Services } from "../../../shared/services/services.ts";
import { addRepository } from "../../scratch/github.ts";
import { createFilteringOrganization } from "../../scratch/organization.ts";
import { RunFailed, type Scratch } from "../../scratch/scratch.ts";
import { isSoon } from "../../scratch/wait.ts";
import type { Options } from "../bench.ts";
import { gitlabPush, kilobyte } from "../bodies.ts";
import { interleave, type Line, perSecond } from "../comparison.ts";
import type { Load } from "../load/generator.ts";
import { startGenerator } from "../load/load.ts";
import { postJson } from "../load/request.ts";
import { startPlayer } from "../player.ts";
import { measureBuilds } from "../servers/counter.ts";
import { startRedis } from "../servers/redis.ts";
import { startSignalbox } from "../servers/signalbox.ts";
import { builtLines } from "./built-lines.ts";

export const messages = "messages";

/** Two organizations of one installation: nobody hears of the builds of the first one. */
export const messageColumns = { without: "without messages", told: "with messages" };

const title = "1 KB: builds/s, end to end";
const aims = { without: "≥ 0.8" };
/** A status at the commit, and a request of the notification service. */
const messagesOfBuild = 2;
const sentWithinMs = 300_000;
/** Each push has another commit: only the newest build of a commit has a status. */
const commit = "5eed".padEnd(40, "0");

/** Measures from the first post until the last build. The CPU times are until the last message, too. */
export async function measureMessages(
  scratch: Scratch,
  { seconds, rounds, postgres, deliveries, ...options }: Options & { deliveries: number },
): Promise<Line[]> {
  const receivers = startPlayer<typeof import("./receivers.ts")>(scratch, "deliveries/receivers.ts");
  const target = await receivers.listen();
  const redis = await startRedis(scratch);
  const installation = await startSignalbox(scratch, redis, {
    name: messages,
    postgres,
    settings: { OUTBOUND_ALLOWED_NETWORKS: "127.0.0.0/8" },
    seed: async (services) => [
      { name: "without", ...(await makeDoor(services, "without")) },
      { name: "told", ...(await makeDoor(services, "told", target)) },
    ],
  });
  await installation.startWorker("deliveries", "maintenance", "dispatch");
  await installation.startWorker("notifications");
  const { pids, databaseUrl, seed: doors } = installation;
  const generator = startGenerator(scratch, options);

  const found = await interleave(doors, { rounds, title }, async ({ name, url, secret, pipelineId }) => {
    const headers = { "X-Gitlab-Event": "Push Hook", "X-Gitlab-Token": secret };
    const requests = [postJson(url, gitlabPush(commit, kilobyte), headers)];
    const post = async (load: Pick<Load, "perSecond" | "until">) => {
      const before = await receivers.countReceived();
      const untilSent = async (builds: number) => {
        const wanted = before + builds * (name === "told" ? messagesOfBuild : 0);
        const areSent = async () => (await receivers.countReceived()) >= wanted;
        if (!(await isSoon(areSent, { withinMs: sentWithinMs })))
          throw new RunFailed(`Not all messages were sent within ${sentWithinMs / 1000} seconds.`);
      };
      return measureBuilds(
        { pids, databaseUrl, pipelineId },
        () => generator({ requests, uniqueText: commit, connections: 50, wanted: { status: 201 }, ...load }),
        untilSent,
      );
    };
    const full = await post({ until: { requests: deliveries } });
    return { full, half: await post({ perSecond: perSecond(full) / 2, until: { seconds } }) };
  });
  return builtLines(title, found, aims);
}

/**
 * Makes an organization with a pipeline, whose repository is at GitLab.
 * @param target the address that hears of its builds
 */
async function makeDoor(services: Services, org: string, target?: string) {
  const { operator, cluster } = await createFilteringOrganization(services, org);
  const pipeline = await createPipeline(services, operator, {
    clusterId: cluster.id,
    slug: "web",
    name: "web",
    steps: [defaultStep],
  });
  if (target !== undefined) {
    const host = { type: "gitlab", token: "bench", api_url: target };
    await createConnection(services, operator, newConnection.parse(host));
    const service = { provider: "webhook", settings: { url: `${target}/hook` } };
    await createNotificationService(services, operator, newNotificationService.parse(service));
  }
  return addRepository(services, operator, pipeline, "https://gitlab.com/lighthouse/harbour.git");
}
