import type { Installation } from "../installation/installation.ts";
import type { Random } from "../random.ts";

/** A kind of fault, of processes of this machine unless told otherwise. */
export interface Fault<Place = Installation> {
  /** As `--faults` names it. */
  kind: string;
  /** Its share among the others, when a fault is drawn. */
  weight: number;
  summary: string;
  /** Returns undefined if its target is down already. @throws Error if the target did not take it */
  inject(place: Place, random: Random): Promise<Injected | undefined>;
  /** Returns why it cannot be injected here. */
  missing(place: Place): string | undefined;
}

export interface Injected {
  target: string;
  /** A fault that lasts: it is undone after this time, and also if another fault has hit its target since. */
  lasting?: { ms: number; undo(): void | Promise<void> };
}

export function faultOf<Place = Installation>(
  kind: string,
  weight: number,
  summary: string,
  inject: Fault<Place>["inject"],
  missing: Fault<Place>["missing"] = () => undefined,
): Fault<Place> {
  return { kind, weight, summary, inject, missing };
}

/**
 * Finds the faults that can be injected here, and the others with their reasons.
 * @param kinds undefined: all
 */
export function chooseFaults<Place>(faults: Fault<Place>[], kinds: string[] | undefined, place: Place) {
  const wanted = faults.filter(({ kind }) => kinds?.includes(kind) ?? true);
  return {
    faults: wanted.filter((fault) => !fault.missing(place)),
    missing: wanted.flatMap(({ kind, missing }) => {
      const reason = missing(place);
      return reason ? { kind, reason } : [];
    }),
  };
}
