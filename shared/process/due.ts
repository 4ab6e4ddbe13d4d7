import type { TaskKind } from "../vocabulary.ts";

/** Work to do after a transaction: a row of `tasks`, `news` or `outbox` says the same. */
export interface Due {
  kind: TaskKind | "news";
  subjectId: string;
  organizationId: string;
}

/** Publishes what committed transactions have made due. If nobody listens, a worker reads the rows. */
export interface DueEvents {
  publish(due: Due[]): void;
  /** @returns ends it */
  listen(listener: (due: Due[]) => void): () => void;
}

export function openDueEvents(): DueEvents {
  const listeners = new Set<(due: Due[]) => void>();
  return {
    publish(due) {
      for (const listener of listeners) listener(due);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
