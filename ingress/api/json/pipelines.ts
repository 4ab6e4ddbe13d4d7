import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { countWorkOfPipelines } from "../../../shared/builds/reading/pipeline-counts-store.ts";
import {
  listLargeUnparsedPipelines,
  listPipelineSizes,
  listUnparsedPipelines,
  type PipelineSize,
} from "../../../shared/pipelines/answer-store.ts";
import { listPipelineNamesById } from "../../../shared/pipelines/store.ts";
import { openStepSlices, writePipeline } from "../../../shared/presenters/pipeline.ts";
import { loadProviders } from "../../../shared/presenters/provider.ts";
import type { Services } from "../../../shared/services/services.ts";
import { longReads } from "../../../shared/sharing/resources.ts";
import { inBatches } from "../../http/transfers/json-stream.ts";

/** Pipelines of this many bytes together are read at once. A larger one is read alone, off the event loop. */
const maxBytes = 64 * 1024;
/** Small pipelines that are read together; with their counts, fewer. */
const maxAtOnce = 30;
const maxCountedAtOnce = 10;
const maxKeptLength = 2 * 1024 * 1024;

interface Shown {
  hasCounts: boolean;
  hasWebhooks: boolean;
}

/** Writes the pipelines of an answer as JSON, in parts. Reads a megabyte at a time, and keeps a few. */
export class PipelineTexts {
  readonly #services: Services;
  readonly #organization: Organization;
  readonly #hasCounts: boolean;
  readonly #hasWebhooks: boolean;
  /** In the order of the answer. */
  readonly #ids: readonly string[];
  readonly #sizes: ReadonlyMap<string, PipelineSize>;
  readonly #kept = new Map<string, string[]>();
  #keptLength = 0;

  private constructor(
    services: Services,
    organization: Organization,
    { ids, sizes, hasCounts, hasWebhooks }: Shown & { ids: string[]; sizes: readonly PipelineSize[] },
  ) {
    this.#services = services;
    this.#organization = organization;
    this.#hasCounts = hasCounts;
    this.#hasWebhooks = hasWebhooks;
    this.#ids = ids;
    this.#sizes = new Map(sizes.map((size) => [size.id, size]));
  }

  /**
   * @param ids of all pipelines of the answer, in its order
   * @param options.hasTexts false: only their slugs are wanted. Default: true
   * @param options.hasWebhooks shows the addresses of the providers' webhooks. Default: false
   * @param options.request its signal ends the wait for a turn
   * @throws the signal's reason
   */
  static async open(
    services: Services,
    organization: Organization,
    given: readonly string[],
    options: Partial<Shown> & { hasTexts?: boolean; request: { readonly signal: AbortSignal } },
  ): Promise<PipelineTexts> {
    const { hasTexts = true, hasCounts = false, hasWebhooks = false, request } = options;
    const { db } = services;
    const ids = [...new Set(given)];
    const measure = async () => listPipelineSizes(db, { ids });
    const list = async () =>
      (await listPipelineNamesById(db, ids)).map(({ id, slug }) => ({ id, slug, bytes: 0 }));
    // Postgres reads each text to measure it.
    const sizes = await (!hasTexts || ids.length === 0
      ? list()
      : ids.length > 1
        ? longReads.take(organization.id, measure, request.signal)
        : measure());
    return new PipelineTexts(services, organization, { ids, sizes, hasCounts, hasWebhooks });
  }

  /** The bytes of all pipelines of the answer, each once. */
  get bytes(): number {
    return [...this.#sizes.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Undefined if the pipeline was deleted. */
  slugOf(id: string): string | undefined {
    return this.#sizes.get(id)?.slug;
  }

  /** Undefined if the pipeline was deleted. */
  async find(id: string): Promise<string[] | undefined> {
    if (!this.#kept.has(id)) await this.#load(id);
    return this.#kept.get(id);
  }

  /** The items of a list of all pipelines, with commas between them. Leaves out deleted pipelines. */
  async *writeList(): AsyncGenerator<string> {
    let comma = "";
    for (const id of this.#ids) {
      const parts = await this.find(id);
      if (!parts) continue;
      yield comma;
      yield* parts;
      comma = ",";
    }
  }

  /** Loads a pipeline, and those behind it in the answer while they are small together. */
  async #load(first: string): Promise<void> {
    const { db, config, cipher } = this.#services;
    const index = this.#ids.indexOf(first);
    const end = index + (this.#hasCounts ? maxCountedAtOnce : maxAtOnce);
    const missing = this.#ids.slice(index, end).filter((id) => !this.#kept.has(id));
    const sizeOf = (id: string) => this.#sizes.get(id)?.bytes ?? 0;
    const [ids = []] = inBatches(missing, sizeOf, maxBytes);
    const isLarge = ids.some((id) => sizeOf(id) > maxBytes);

    if (this.#keptLength > maxKeptLength) this.#drop();
    const found = await (isLarge ? listLargeUnparsedPipelines : listUnparsedPipelines)(db, { ids });
    const counted = this.#hasCounts ? await countWorkOfPipelines(db, { ids }) : [];
    const countsOf = new Map(counted.map((counts) => [counts.id, counts]));
    const users = await listUsersById(
      db,
      found.map(({ createdById }) => createdById),
    );
    const shown = this.#hasWebhooks ? ids : [];
    const providers = await loadProviders(this.#services, this.#organization.id, shown);
    const takeSlice = openStepSlices();
    for (const pipeline of found) {
      const counts = countsOf.get(pipeline.id);
      const context = { config, cipher, users, providers };
      const parts = await writePipeline(context, this.#organization, { ...pipeline, counts }, takeSlice);
      this.#kept.set(pipeline.id, parts);
      this.#keptLength += parts.reduce((sum, part) => sum + part.length, 0);
    }
  }

  #drop(): void {
    this.#kept.clear();
    this.#keptLength = 0;
  }
}
