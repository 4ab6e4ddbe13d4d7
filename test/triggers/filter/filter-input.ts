import type { FilterInput } from "../../../shared/triggers/filter/evaluate.ts";
import type { StoredHeader } from "../../../shared/vocabulary.ts";

export function filterInput(
  expression: string,
  { payload = {}, text, headers = [] }: { payload?: unknown; text?: string; headers?: StoredHeader[] } = {},
): FilterInput {
  const body = Buffer.from(text ?? JSON.stringify(payload));
  return {
    expression,
    id: "01a1f8cc-9aab-75ef-a9a4-b4fea8495ff8",
    receivedAt: new Date("2026-08-01T12:30:00.000Z"),
    headers,
    body,
    codec: "identity",
    size: body.length,
  };
}
