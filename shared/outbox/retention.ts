import { afterDays, expiring } from "../retention/expiring.ts";
import { deleteMessagesBefore } from "./store.ts";

export const oldMessages = expiring("messages", afterDays("outboxRetentionDays"), deleteMessagesBefore);
