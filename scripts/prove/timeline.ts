/** One injected fault, for the stories of discrepancies. Times are milliseconds since the start. */
export interface InjectedFault {
  kind: string;
  target: string;
  fromMs: number;
  /** Undefined while it lasts. */
  untilMs: number | undefined;
}

/** The run's own clock, which no fault moves, and what was injected when. */
export class Timeline {
  readonly faults: InjectedFault[] = [];
  readonly #startedAt = performance.now();

  nowMs(): number {
    return performance.now() - this.#startedAt;
  }

  begin(kind: string, target: string): InjectedFault {
    const fault: InjectedFault = { kind, target, fromMs: this.nowMs(), untilMs: undefined };
    this.faults.push(fault);
    return fault;
  }

  end(fault: InjectedFault): void {
    fault.untilMs = this.nowMs();
  }

  /** Lists the faults that lasted into a period. */
  near(fromMs: number, untilMs: number): InjectedFault[] {
    return this.faults.filter(
      (fault) => fault.fromMs <= untilMs && (fault.untilMs ?? Number.POSITIVE_INFINITY) >= fromMs,
    );
  }
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
