import type { StoredHeader } from "../db/schema.ts";
export type FilterOutcome = { verdict: boolean } | { error: string };
export interface FilterQuestion {
  expression: string;
  id: string;
  receivedAt: Date;
  headers: StoredHeader[];
  body: Buffer;
}
export interface Filters {
  evaluate(question: FilterQuestion): Promise<FilterOutcome>;
  close(): Promise<void>;
}
export function openFilters(): Filters {
  return { evaluate: async () => ({ verdict: true }), close: async () => {} };
}
