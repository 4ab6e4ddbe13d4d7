import { Refusal } from "../../shared/refusal.ts";
import type { DataCaller } from "../auth/callers.ts";

/** @throws Refusal 403 of a token for reading by hand */
export function refuseReadOnly({ lease }: Pick<DataCaller, "lease">): void {
  if (!lease) throw new Refusal(403, "This token may only read");
}
