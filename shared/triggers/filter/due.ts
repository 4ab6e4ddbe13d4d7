import type { Services } from "../../services/services.ts";
import { Background } from "../../sharing/background.ts";
import { type EvaluateFilters, takeFilterTurn } from "./evaluator.ts";
import { type Evaluated, evaluateSlice } from "./slice.ts";

/** Evaluates the filters of due deliveries, organization by organization. */
export interface DueFilters {
  /** Evaluates what is due of an organization, unless this process does so already. */
  serve(organizationId: string): void;
  /** Resolves once nothing is evaluated or decided. */
  idle(): Promise<void>;
  /** Makes taken deliveries due again. */
  close(): Promise<void>;
}

/** Then as many as the last slice evaluated, or twice as many if it evaluated all. */
const firstSliceDeliveries = 20;

/** @param decide stores results. The next slice is evaluated meanwhile */
export function openDueFilters(
  services: Services,
  evaluate: EvaluateFilters,
  decide: (evaluated: Evaluated[]) => Promise<unknown>,
): DueFilters {
  /** By organization: whether it has to be looked at once more. */
  const served = new Map<string, boolean>();
  const background = new Background();
  const { signal } = background;

  const serveSlices = async (organizationId: string) => {
    let deciding: { ids: string[]; done: Promise<unknown> } = { ids: [], done: Promise.resolve() };
    for (let next = { limit: firstSliceDeliveries, bytes: 0 }; ; ) {
      served.set(organizationId, false);
      const options = { organizationId, ...next, deciding: deciding.ids, evaluate, signal };
      const evaluateNext = () => evaluateSlice(services, options);
      const slice = await takeFilterTurn(organizationId, next.bytes, evaluateNext, signal);
      await deciding.done;
      if (slice) next = slice;
      else if (!served.get(organizationId)) return;
      const evaluated = slice?.evaluated ?? [];
      deciding = { ids: evaluated.map(({ id }) => id), done: decide(evaluated) };
      deciding.done.catch(() => {}); // it is awaited once the next slice is evaluated
    }
  };
  const serve = async (organizationId: string) => {
    try {
      await serveSlices(organizationId);
    } catch (error) {
      if (!signal.aborted)
        services.log.warn({ err: error, organizationId }, "filters were not evaluated; they will be");
    }
    served.delete(organizationId);
  };
  return {
    serve(organizationId) {
      if (served.has(organizationId)) served.set(organizationId, true);
      else if (!signal.aborted) background.add(serve(organizationId));
    },
    idle: () => background.idle(),
    close: () => background.close(),
  };
}
