interface Payload {
  uid?: string;
  userCode?: string;
  grantId?: string;
  consumed?: number;
}

const secondMs = 1000;

/** Stores models without limit. The package's own adapter drops all but a thousand entries. */
export class MapAdapter {
  readonly #payloads = new Map<string, Payload>();
  /** By uid and user code. */
  readonly #ids = new Map<string, string>();
  readonly #idsByGrant = new Map<string, string[]>();

  async upsert(id: string, payload: Payload): Promise<void> {
    this.#payloads.set(id, payload);
    const { uid, userCode, grantId } = payload;
    for (const key of [uid, userCode]) if (key !== undefined) this.#ids.set(key, id);
    if (grantId === undefined) return;
    const ids = this.#idsByGrant.get(grantId);
    if (ids) ids.push(id);
    else this.#idsByGrant.set(grantId, [id]);
  }

  async find(id: string | undefined): Promise<Payload | undefined> {
    return this.#payloads.get(id ?? "");
  }

  findByUid(uid: string): Promise<Payload | undefined> {
    return this.find(this.#ids.get(uid));
  }

  findByUserCode(userCode: string): Promise<Payload | undefined> {
    return this.find(this.#ids.get(userCode));
  }

  async consume(id: string): Promise<void> {
    const payload = this.#payloads.get(id);
    if (payload) payload.consumed = Math.floor(Date.now() / secondMs);
  }

  async destroy(id: string): Promise<void> {
    const { uid, userCode } = this.#payloads.get(id) ?? {};
    this.#payloads.delete(id);
    for (const key of [uid, userCode]) if (key !== undefined) this.#ids.delete(key);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const id of this.#idsByGrant.get(grantId) ?? []) await this.destroy(id);
    this.#idsByGrant.delete(grantId);
  }
}
