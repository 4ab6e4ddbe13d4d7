/** A `problem` keeps the deployment from working as it should; a `warning` may. */
export type FindingState = "ok" | "warning" | "problem";

export interface Finding {
  check: string;
  state: FindingState;
  found: string;
  /** Tells the operator what to do. */
  fix?: string;
}

export function ok(check: string, found: string): Finding {
  return { check, state: "ok", found };
}

export function warning(check: string, found: string, fix: string): Finding {
  return { check, state: "warning", found, fix };
}

export function problem(check: string, found: string, fix: string): Finding {
  return { check, state: "problem", found, fix };
}
