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
  readonly #idsByUid = new Map<string, string>();
  readonly #idsByUserCode = new Map<string, string>();
  readonly #idsByGrant = new Map<string, Set<string>>();

  async upsert(id: string, payload: Payload): Promise<void> {
    this.#payloads.set(id, payload);
    const { uid, userCode, grantId } = payload;
    if (uid !== undefined) this.#idsByUid.set(uid, id);
    if (userCode !== undefined) this.#idsByUserCode.set(userCode, id);
    if (grantId === undefined) return;
    const ids = this.#idsByGrant.get(grantId);
    if (ids) ids.add(id);
    else this.#idsByGrant.set(grantId, new Set([id]));
  }

  async find(id: string | undefined): Promise<Payload | undefined> {
    return id === undefined ? undefined : this.#payloads.get(id);
  }

  async findByUid(uid: string): Promise<Payload | undefined> {
    return this.find(this.#idsByUid.get(uid));
  }

  async findByUserCode(userCode: string): Promise<Payload | undefined> {
    return this.find(this.#idsByUserCode.get(userCode));
  }

  async consume(id: string): Promise<void> {
    const payload = this.#payloads.get(id);
    if (payload) payload.consumed = Math.floor(Date.now() / secondMs);
  }

  async destroy(id: string): Promise<void> {
    const { uid, userCode, grantId } = this.#payloads.get(id) ?? {};
    this.#payloads.delete(id);
    if (uid !== undefined) this.#idsByUid.delete(uid);
    if (userCode !== undefined) this.#idsByUserCode.delete(userCode);
    if (grantId !== undefined) this.#idsByGrant.get(grantId)?.delete(id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const ids = this.#idsByGrant.get(grantId) ?? [];
    this.#idsByGrant.delete(grantId);
    for (const id of ids) await this.destroy(id);
  }
}
