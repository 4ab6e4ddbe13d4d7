import type { MessageKinds } from "../shared/outbox/kind.ts";

/** What the outbox sends. */
export const messageKinds: MessageKinds = {};
