import type { Ledger } from "../../scripts/prove/ledger/read.ts";
import type {
  Assignment,
  DispatchChange,
  Post,
  SignIn,
  Unblock,
} from "../../scripts/prove/traffic/observed.ts";

/** Parts of rows: a check reads no others. */
export function ledgerOf(
  rows: { [Name in keyof Ledger]?: object[] | string[] | Map<string, unknown> },
): Ledger {
  const none = {
    ...{ deliveries: [], builds: [], jobs: [], queues: [], pipelines: [] },
    ...{ members: [], tasks: [], answers: [], unblockings: [] },
    ...{ artifacts: [], blobs: undefined },
    ...{ agents: [], jobTokens: [], logs: new Map(), lateRows: [] },
    ...{ deviceCodes: [], grants: [], tokenHashes: [] },
  };
  return { ...none, ...rows } as Ledger;
}

export function aPost(post: Partial<Post> = {}): Post {
  return {
    number: 1,
    trigger: "plain",
    builds: true,
    isForged: false,
    key: undefined,
    attempts: [],
    ids: ["d1"],
    ...post,
  };
}

export function aDelivery(delivery: object = {}) {
  return { id: "d1", status: "build_created", post: { number: 1, builds: true }, ...delivery };
}

export function aSignIn(signIn: Partial<SignIn> = {}): SignIn {
  return { userCode: "BCDF-GHJK", deviceCode: "sbdc_1", attempts: [], tokens: ["sbat_1"], ...signIn };
}

export function anUnblock(unblock: Partial<Unblock> = {}): Unblock {
  return {
    ...{ jobId: "j1", value: "minor", isDone: true, sentAt: 10, answeredAt: 11, attempts: [] },
    ...unblock,
  };
}

export function aChange(
  action: DispatchChange["action"],
  [fromMs, untilMs]: [number, number],
  isDone = true,
): DispatchChange {
  return { queueId: "q1", action, fromMs, untilMs, isDone, waitingJobs: 3, request: action, answer: "" };
}

export function anAssignment([fromMs, untilMs]: [number, number], jobId = "j1"): Assignment {
  return { queueId: "q1", jobId, fromMs, untilMs };
}
