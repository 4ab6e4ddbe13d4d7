const secondMs = 1000;

/**
 * Stores models without limit, for what the device flow asks. The package's own adapter drops all but a thousand
 * entries.
 */
export class MapAdapter {
  readonly #payloads = new Map<string, { consumed?: number }>();

  async upsert(id: string, payload: object): Promise<void> {
    this.#payloads.set(id, payload);
  }

  async find(id: string | undefined): Promise<object | undefined> {
    return this.#payloads.get(id ?? "");
  }

  async consume(id: string): Promise<void> {
    const payload = this.#payloads.get(id);
    if (payload) payload.consumed = Math.floor(Date.now() / secondMs);
  }

  async destroy(id: string): Promise<void> {
    this.#payloads.delete(id);
  }
}
