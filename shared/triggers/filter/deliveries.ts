import type { FilteredDelivery } from "../deliveries/store.ts";
import type { EncodedPayload } from "../payloads/store.ts";
import type { FilterOutcome } from "./compile.ts";
import type { FilterInput } from "./evaluate.ts";

export interface FilterResult {
  /** The result is stale once the trigger's filter differs. */
  filter: string;
  outcome: FilterOutcome;
}

export function toFilterInput(
  expression: string,
  delivery: Pick<FilteredDelivery["delivery"], "id" | "receivedAt" | "size">,
  payload: EncodedPayload,
): FilterInput {
  const { id, receivedAt, size } = delivery;
  const { codec, bytes } = payload.body;
  return { expression, id, receivedAt, headers: payload.headers, body: bytes, codec, size };
}
