/**
 * Why a request got no answer. `refused`: it was not sent. The others may pass: `late`, `unreachable`, `untrusted` (its
 * certificate).
 */
export type OutgoingFailure = "refused" | "late" | "unreachable" | "untrusted";

/** A request without an answer. The message is a sentence for people: it has no secret and no address of a network inside. */
export class OutgoingProblem extends Error {
  override readonly name = "OutgoingProblem";
  readonly failure: OutgoingFailure;

  constructor(failure: OutgoingFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

export function refused(message: string): OutgoingProblem {
  return new OutgoingProblem("refused", message);
}

/** Returns the problem of a host that is not on the public internet. */
export function notPublic(host: string): OutgoingProblem {
  return refused(
    `${host} has no public address. The operator can open its network with OUTBOUND_ALLOWED_NETWORKS, such as 10.0.0.0/8`,
  );
}

export function tooLate(host: string, timeoutMs: number): OutgoingProblem {
  return new OutgoingProblem("late", `${host} did not answer within ${timeoutMs / 1000} seconds`);
}

/** Returns the problem of a host that only announces its answer. */
export function endless(host: string): OutgoingProblem {
  return new OutgoingProblem("unreachable", `${host} sent too many interim answers (1xx)`);
}

/** Says what an error of a connection means. Its own text may name addresses inside: it is left out. */
export function problemOf(error: unknown, host: string): OutgoingProblem {
  if (error instanceof OutgoingProblem) return error;
  const { code = "unknown error" } = error as { code?: string };
  if (/^(ENOTFOUND|EAI_\w+|ENODATA)$/.test(code))
    return new OutgoingProblem("unreachable", `No address of ${host} was found (${code})`);
  if (/CERT|LEAF_SIGNATURE|HOSTNAME_MISMATCH/.test(code))
    return new OutgoingProblem(
      "untrusted",
      `The certificate of ${host} is not trusted (${code}). The operator can name its authority with NODE_EXTRA_CA_CERTS`,
    );
  return new OutgoingProblem("unreachable", `${host} could not be reached (${code})`);
}
