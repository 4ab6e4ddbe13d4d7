import type { Attempt } from "../traffic/call.ts";

/** A difference between the ledger and what callers were answered, or should find. */
export interface Discrepancy {
  /** Such as `deliveries`: a report has the first few of each. */
  check: Check;
  title: string;
  /** Its requests, for the story; none if it is of no request. */
  attempts: Attempt[];
}

export type Check =
  | "deliveries"
  | "builds"
  | "devices"
  | "assignments"
  | "jobs"
  | "dependencies"
  | "leases"
  | "commands"
  | "fan-out"
  | "triggers"
  | "groups"
  | "unblocks"
  | "artifacts"
  | "structure"
  | "processes"
  | "traffic"
  | "convergence"
  | "growth";

export function discrepancy(check: Check, title: string, attempts: Attempt[] = []): Discrepancy {
  return { check, title, attempts };
}
