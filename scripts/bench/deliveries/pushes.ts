import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import type { Services } from "../../../shared/services/services.ts";
import { endpointUrl } from "../../../shared/settings/urls.ts";
import { createTrigger } from "../../../shared/triggers/create.ts";
import { addRepository, type Door, githubHeaders } from "../../scratch/github.ts";
import { createFilteringOrganization } from "../../scratch/organization.ts";
import type { Scratch } from "../../scratch/scratch.ts";
import type { Options } from "../bench.ts";
import { githubPush, kilobyte } from "../bodies.ts";
import { interleave, type Line, perSecond } from "../comparison.ts";
import type { Load } from "../load/generator.ts";
import { startGenerator } from "../load/load.ts";
import { type PlainRequest, postJson } from "../load/request.ts";
import { measureBuilds } from "../servers/counter.ts";
import { startRedis } from "../servers/redis.ts";
import { startSignalbox } from "../servers/signalbox.ts";
import { builtLines } from "./built-lines.ts";

/** Two pipelines of one installation: the same signed requests build what triggers fix, or what was pushed. */
export const pushColumns = { trigger: "to triggers", provider: "of a provider" };

export const pushSizes: Record<string, { title: string; bytes: number }> = {
  pushes: { title: "push of 1 KB: builds/s, end to end", bytes: kilobyte },
  /** The payload of GitHub for a push of one commit. */
  pushes8KB: { title: "push of 8 KB: builds/s, end to end", bytes: 8 * kilobyte },
};

const aims = { trigger: "≥ 0.85" };
/** Each has a branch and a commit of its own, and a trigger of its own that builds them: a pipeline has ten at most. */
const differentPushes = 10;

/** Measures from the first post until the last build. */
export async function measurePushes(
  scratch: Scratch,
  names: string[],
  { seconds, rounds, postgres, deliveries, ...options }: Options & { deliveries: number },
): Promise<Line[]> {
  if (names.length === 0) return [];
  const redis = await startRedis(scratch);
  const installation = await startSignalbox(scratch, redis, { name: "pushes", postgres, seed: makeDoors });
  await installation.startWorker();
  const { pids, databaseUrl, seed: doors } = installation;
  const generator = startGenerator(scratch, options);
  const lines: Line[] = [];
  for (const { title, bytes } of names.flatMap((name) => pushSizes[name] ?? [])) {
    const found = await interleave(doors, { rounds, title }, async (door) => {
      const requests = door.urls.map((url, index) => pushTo({ ...door, url }, index, bytes));
      const post = (load: Pick<Load, "perSecond" | "until">) =>
        measureBuilds({ pids, databaseUrl, pipelineId: door.pipelineId }, () =>
          generator({ requests, connections: 50, wanted: { status: 201 }, ...load }),
        );
      const full = await post({ until: { requests: deliveries } });
      return { full, half: await post({ perSecond: perSecond(full) / 2, until: { seconds } }) };
    });
    lines.push(...builtLines(title, found, postgres ? {} : aims));
  }
  return lines;
}

interface Doors extends Pick<Door, "pipelineId" | "secret"> {
  name: string;
  /** For each push, the URL that it goes to. */
  urls: string[];
}

/** Makes a pipeline with GitHub triggers, and one whose repository is at GitHub. */
async function makeDoors(services: Services): Promise<Doors[]> {
  const { operator, cluster } = await createFilteringOrganization(services, "bench");
  const make = (slug: string) =>
    createPipeline(services, operator, { clusterId: cluster.id, slug, name: slug, steps: [defaultStep] });
  const { id: pipelineId, ...facts } = await make("trigger");
  const secret = "a secret of the bench";
  const urls: string[] = [];
  for (let index = 0; index < differentPushes; index++) {
    const { ref, after: commit } = JSON.parse(githubPush(index, kilobyte));
    const build = { branch: ref.replace("refs/heads/", ""), commit };
    const input = { type: "github", label: `Bench ${index}`, secret, build };
    const { token } = await createTrigger(services, operator, { id: pipelineId, ...facts }, input);
    urls.push(endpointUrl(services.config, token));
  }
  const { url, ...provider } = await addRepository(services, operator, await make("provider"));
  return [
    { name: "trigger", pipelineId, urls, secret },
    { name: "provider", ...provider, urls: urls.map(() => url) },
  ];
}

function pushTo({ url, secret }: Pick<Door, "url" | "secret">, index: number, bytes: number): PlainRequest {
  const body = githubPush(index, bytes);
  return postJson(url, body, githubHeaders("push", secret, body));
}
