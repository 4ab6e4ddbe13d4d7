import { Refusal } from "../../shared/refusal.ts";
import type { EnabledTrigger } from "../../shared/triggers/deliveries/intake.ts";

/** A trigger that may be a hint. A hint may let a request pass; only the row may refuse it. */
export class HintedTrigger {
  current: EnabledTrigger;
  readonly #readRow: () => Promise<EnabledTrigger>;

  constructor(hint: EnabledTrigger, readRow: () => Promise<EnabledTrigger>) {
    this.current = hint;
    this.#readRow = readRow;
  }

  async refresh(): Promise<void> {
    this.current = await this.#readRow();
  }

  /** Runs a rule; if it refuses on a hint, again on the row. */
  async check(rule: (trigger: EnabledTrigger) => void | Promise<void>): Promise<void> {
    try {
      await rule(this.current);
    } catch (error) {
      if (!(error instanceof Refusal) || !this.current.isHint) throw error;
      await this.refresh();
      await rule(this.current);
    }
  }
}
