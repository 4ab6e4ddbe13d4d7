import { z } from "zod";
import { secondMs } from "../../../shared/durations.ts";
import { AgentError } from "../terminal.ts";
import { describe } from "../wire/client.ts";

const answerWithinMs = 60 * secondMs;
const shapeSchema = z.object({
  name: z.string(),
  machine_type: z.string(),
  architecture: z.string(),
  cpu: z.number(),
  memory: z.number(),
});
const platformSchema = z.object({ linux: z.object({ agent_image_ref: z.string().nullish() }).nullish() });
const queueSchema = z.object({
  id: z.string(),
  key: z.string(),
  hosted_agents: z
    .object({ instance_shape: shapeSchema, platform_settings: platformSchema.nullish() })
    .nullish(),
});

export interface HostedQueue {
  id: string;
  key: string;
  shape: z.infer<typeof shapeSchema>;
  image: string | undefined;
}

export interface Rest {
  /** Address of the REST API, without `/v2`. */
  api: string;
  apiToken: string;
  organization: string;
  clusterId: string;
}

/** Reads the hosted queues of a cluster by REST. @throws AgentError */
export async function listHostedQueues({
  api,
  apiToken,
  organization,
  clusterId,
}: Rest): Promise<HostedQueue[]> {
  const path = [organization, "clusters", clusterId, "queues"].map(encodeURIComponent).join("/");
  const found: HostedQueue[] = [];
  for (let url: string | undefined = `${api}/v2/organizations/${path}?per_page=100`; url; ) {
    const response: Response = await fetchPage(url, apiToken);
    const queues = z.array(queueSchema).parse(await response.json());
    for (const { id, key, hosted_agents: hosted } of queues) {
      if (!hosted) continue;
      const image = hosted.platform_settings?.linux?.agent_image_ref ?? undefined;
      found.push({ id, key, shape: hosted.instance_shape, image });
    }
    url = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  }
  return found;
}

async function fetchPage(url: string, token: string): Promise<Response> {
  const options = {
    headers: { Authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(answerWithinMs),
  };
  const response = await fetch(url, options).catch((error: unknown) => {
    throw new AgentError(`The queues cannot be read: ${describe(error)}.`);
  });
  if (response.ok) return response;
  const text = await response.text();
  throw new AgentError(`The queues cannot be read: status ${response.status} ${text.slice(0, 200)}`);
}
