import type { Queue } from "../../../shared/queues/store.ts";
import type { LoadedAgents } from "../agents/load.ts";
import { State } from "../states/state.tsx";

/**
 * Red if jobs wait and no agent is connected, as on the home page.
 * @param waiting jobs
 * @param connected agents. undefined: unknown
 */
export function QueueState({
  queue,
  waiting,
  connected,
}: {
  queue: Pick<Queue, "dispatchPausedAt">;
  waiting: number;
  connected: number | undefined;
}) {
  if (queue.dispatchPausedAt) return <State state="paused" />;
  if (waiting > 0 && connected === 0) return <State state="no_agent" />;
  return <State state="active" />;
}

/** Counts connected agents of a queue on a page of a list. undefined: the page has none, and the list has others. */
export function connectedOf({ id }: Pick<Queue, "id">, { rows, total }: LoadedAgents): number | undefined {
  const connected = rows.filter(({ queueId, state }) => queueId === id && state === "connected").length;
  return connected > 0 || total === rows.length ? connected : undefined;
}
