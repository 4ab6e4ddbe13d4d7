import { dayMs } from "../durations.ts";
import { afterMs, expiring } from "../retention/expiring.ts";
import { deleteOpenRequestsBefore } from "./open-requests-store.ts";

/** A host may never say that a request was closed. */
export const oldOpenRequests = expiring("openRequests", afterMs(30 * dayMs), deleteOpenRequestsBefore);
