import { listScheduledJobs } from "../../../shared/agents/stacks/job-store.ts";
import { patterns } from "../../../shared/paths.ts";
import type { PlainRequest } from "../load/request.ts";
import { pathOf } from "../servers/tenant.ts";
import type { Server } from "./servers.ts";

// The calls of a stack, such as a Kubernetes cluster, for which jobs of an organization beside the others wait.

const key = "bench";
const idsOfReservation = 4;
const idsOfStates = 100;

/** Cases, as `cases.ts` has them. */
export const stackCases = [
  {
    title: "scheduled jobs, a page of 100",
    status: 200,
    requests: async (server: Server) => {
      await register(server);
      return [callOf(server, "GET", `${patterns.scheduledJobs}?queue_key=default&limit=100`)];
    },
  },
  {
    title: `reserve ${idsOfReservation} jobs`,
    status: 200,
    isOnce: true as const,
    requests: async (server: Server, count: number) => {
      const ids = await listIds(server, count * idsOfReservation);
      return Array.from({ length: count }, (_, index) => {
        const job_uuids = ids.slice(index * idsOfReservation, (index + 1) * idsOfReservation);
        return callOf(server, "PUT", patterns.reserveJobs, { job_uuids });
      });
    },
  },
  {
    title: `states of ${idsOfStates} jobs`,
    status: 200,
    requests: async (server: Server) => {
      const job_uuids = await listIds(server, idsOfStates);
      return [callOf(server, "POST", patterns.jobStates, { job_uuids })];
    },
  },
];

function callOf(
  { url, seed: { stacks } }: Server,
  method: "GET" | "POST" | "PUT",
  path: string,
  body?: object,
): PlainRequest {
  const headers = { Authorization: `Token ${stacks.agentToken}`, "Content-Type": "application/json" };
  const request = { method, url: url + pathOf(path, { key }), headers };
  return body ? { ...request, body: JSON.stringify(body) } : request;
}

/** A stack without a call for minutes is lost: other cases have their turns between. */
async function register(server: Server): Promise<void> {
  const stack = { key, type: "kubernetes", queue_key: "default", metadata: {} };
  const { url, ...request } = callOf(server, "POST", patterns.registerStack, stack);
  const answer = await fetch(url, request as RequestInit);
  if (!answer.ok) throw new Error(`The stack of the bench is refused: ${await answer.text()}`);
}

/** The jobs that have waited longest. */
async function listIds(server: Server, limit: number): Promise<string[]> {
  await register(server);
  const first = { scheduledAt: new Date(0), id: "00000000-0000-0000-0000-000000000000" };
  const { queueId } = server.seed.stacks;
  const jobs = await server.withServices(async ({ db }) =>
    listScheduledJobs(db, { queueId, limit, ...first }),
  );
  return jobs.map(({ id }) => id);
}
