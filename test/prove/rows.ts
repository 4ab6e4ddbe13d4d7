import assert from "node:assert/strict";
import { it } from "node:test";
import type { Run } from "../../scripts/prove/installation/marks.ts";
import type { Discrepancy } from "../../scripts/prove/ledger/discrepancy.ts";
import type { Ledger } from "../../scripts/prove/ledger/read.ts";
import type {
  Assignment,
  DispatchChange,
  Post,
  SignIn,
  Unblock,
} from "../../scripts/prove/traffic/observed.ts";

/** Parts of rows: a check reads no others. */
export type Rows = { [Name in keyof Ledger]?: object[] | string[] | Map<string, unknown> };

export function ledgerOf(rows: Rows): Ledger {
  return new Proxy(rows, { get: (given, name) => given[name as keyof Ledger] ?? [] }) as unknown as Ledger;
}

/** Declares a test for each case: it has the discrepancy with these words, or none. */
export function itFinds<Given extends unknown[]>(
  check: (...given: Given) => Discrepancy[],
  cases: Record<string, [expected: RegExp | undefined, ...given: Given]>,
): void {
  for (const [name, [expected, ...given]] of Object.entries(cases))
    it(`${expected ? "finds" : "accepts"} ${name}`, () => {
      const titles = check(...given).map(({ title }) => title);
      if (expected) assert.match(titles.join("; "), expected);
      else assert.deepEqual(titles, []);
    });
}

export function aPost(post: Partial<Post> = {}): Post {
  const sent = { number: 1, trigger: "plain", builds: true, isForged: false, key: undefined } as const;
  return { ...sent, attempts: [], ids: ["d1"], ...post };
}

export function aDelivery(delivery: object = {}) {
  return { id: "d1", status: "build_created", post: { number: 1, builds: true }, ...delivery };
}

export function aSignIn(signIn: Partial<SignIn> = {}): SignIn {
  return { userCode: "BCDF-GHJK", deviceCode: "sbdc_1", attempts: [], tokens: ["sbat_1"], ...signIn };
}

export function anUnblock(unblock: Partial<Unblock> = {}): Unblock {
  const sent = { jobId: "j1", value: "minor", isDone: true, sentAt: 10, answeredAt: 11 };
  return { ...sent, attempts: [], ...unblock };
}

export function aChange(
  action: DispatchChange["action"],
  [fromMs, untilMs]: [number, number],
  isDone = true,
): DispatchChange {
  return { queueId: "q1", action, fromMs, untilMs, isDone, waitingJobs: 3, request: action, answer: "" };
}

export function anAssignment(fromMs: number, untilMs: number): Assignment {
  return { queueId: "q1", jobId: "j1", fromMs, untilMs };
}

export function aRun(jobId: string, beganAt: number, endedAt?: number, token = ""): Run {
  const isWhole = endedAt !== undefined;
  return { jobId, session: 1, agentPid: 1, token, isWhole, beganAt, endedAt };
}
