import { createConnection } from "../../../shared/connections/connections.ts";
import { newConnection } from "../../../shared/connections/members.ts";
import { newNotificationService } from "../../../shared/notifications/members.ts";
import { createNotificationService } from "../../../shared/notifications/notification-services.ts";
import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import type { Services } from "../../../shared/services/services.ts";
import { endpointUrl } from "../../../shared/settings/urls.ts";
import { createTrigger } from "../../../shared/triggers/create.ts";
import { createFilteringOrganization } from "../../scratch/organization.ts";
import { RunFailed, type Scratch } from "../../scratch/scratch.ts";
import { isSoon } from "../../scratch/wait.ts";
import type { Options } from "../bench.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
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

  const found = await interleave(doors, { rounds, title }, async ({ name, url, pipelineId }) => {
    const requests = [postJson(url, pushPayload(kilobyte))];
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
        () => generator({ requests, connections: 50, wanted: { status: 201 }, ...load }),
        untilSent,
      );
    };
    const full = await post({ until: { requests: deliveries } });
    return { full, half: await post({ perSecond: perSecond(full) / 2, until: { seconds } }) };
  });
  return builtLines(title, found, aims);
}

/**
 * Makes an organization with a pipeline and its trigger.
 * @param target the address that hears of its builds
 */
async function makeDoor(services: Services, org: string, target?: string) {
  const { operator, cluster } = await createFilteringOrganization(services, org);
  const pipeline = await createPipeline(services, operator, {
    ...{ clusterId: cluster.id, slug: "web", name: "web", steps: [defaultStep] },
    repository: "https://git.example.com/lighthouse/harbour.git",
  });
  const build = { buildCommit: "5eed".padEnd(40, "0") };
  const { token } = await createTrigger(services, operator, pipeline, {
    ...{ type: "webhook", label: "Bench", filter: null },
    ...build,
  });
  if (target !== undefined) {
    const host = {
      type: "github_enterprise",
      url: "https://git.example.com",
      token: "bench",
      api_url: target,
    };
    await createConnection(services, operator, newConnection.parse(host));
    const service = { provider: "webhook", settings: { url: `${target}/hook` } };
    await createNotificationService(services, operator, newNotificationService.parse(service));
  }
  return { url: endpointUrl(services.config, token), pipelineId: pipeline.id };
}
