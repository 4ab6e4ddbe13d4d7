const replacement = Buffer.from("[REDACTED]");
/** Shorter values appear by chance. */
const minLength = 6;
const secretName = /_(?:TOKEN|SECRET|PASSWORD|KEY)$/;
/** Names of the server that end like those of secrets, but hold none. */
const plainName = /_(?:STEP|QUEUE|CLUSTER_QUEUE)_KEY$/;

/** Returns the values that the log must not show, by the names of their variables. */
export function secretsOf(env: Record<string, string>): string[] {
  return Object.entries(env)
    .filter(([name]) => secretName.test(name) && !plainName.test(name))
    .map(([, value]) => value.trim());
}

/**
 * Replaces secrets in a stream of bytes, also those split over two pushes. Keeps back only the end of the
 * stream that may be the start of a secret: less than the longest secret.
 */
export class Redactor {
  readonly #secrets: Buffer[] = [];
  #rest = Buffer.alloc(0);
  /** The rest's first bytes that belong to a secret already replaced. */
  #covered = 0;

  constructor(secrets: string[]) {
    this.add(secrets);
  }

  /** Replaces these too in what is pushed from now on. */
  add(secrets: string[]): void {
    const unique = new Set(secrets.filter((secret) => secret.length >= minLength));
    const added = [...unique].map((secret) => Buffer.from(secret));
    this.#secrets.push(...added.filter((secret) => !this.#secrets.some((known) => known.equals(secret))));
  }

  push(input: Buffer): Buffer {
    if (this.#secrets.length === 0) return input;
    const data = this.#rest.length > 0 ? Buffer.concat([this.#rest, input]) : input;
    return this.#redact(data, this.#findPartial(data));
  }

  /** Returns what was kept back. */
  end(): Buffer {
    return this.#redact(this.#rest, this.#rest.length);
  }

  /** Redacts everything before `end` and keeps the rest. */
  #redact(data: Buffer, end: number): Buffer {
    const pieces: Buffer[] = [];
    let position = Math.min(this.#covered, end);
    let coveredUntil = this.#covered;
    for (const { from, to } of this.#findSecrets(data)) {
      if (from >= end) break;
      // Overlapping secrets are one: their remainders would show otherwise.
      if (from >= coveredUntil) pieces.push(data.subarray(position, from), replacement);
      coveredUntil = Math.max(coveredUntil, to);
      position = Math.min(coveredUntil, end);
    }
    pieces.push(data.subarray(position, end));
    this.#rest = Buffer.from(data.subarray(end));
    this.#covered = Math.max(coveredUntil - end, 0);
    return Buffer.concat(pieces);
  }

  #findSecrets(data: Buffer): { from: number; to: number }[] {
    const found = this.#secrets.flatMap((secret) => {
      const places: { from: number; to: number }[] = [];
      for (let from = data.indexOf(secret); from >= 0; from = data.indexOf(secret, from + 1)) {
        places.push({ from, to: from + secret.length });
      }
      return places;
    });
    return found.sort((a, b) => a.from - b.from);
  }

  /** Returns where the longest end begins that is the start of a secret. */
  #findPartial(data: Buffer): number {
    return Math.min(...this.#secrets.map((secret) => partialOf(data, secret)), data.length);
  }
}

function partialOf(data: Buffer, secret: Buffer): number {
  const first = secret[0] ?? 0;
  let from = data.indexOf(first, Math.max(data.length - secret.length + 1, 0));
  while (from >= 0) {
    const end = data.subarray(from);
    if (end.equals(secret.subarray(0, end.length))) return from;
    from = data.indexOf(first, from + 1);
  }
  return data.length;
}
