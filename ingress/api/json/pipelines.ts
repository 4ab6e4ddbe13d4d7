import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { countWorkOfPipelines } from "../../../shared/builds/pipeline-counts-store.ts";
import { listUnparsedPipelines } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/process/services.ts";
import { writePipeline } from "./pipeline.ts";

/** A pipeline may have more than a megabyte. */
const maxRead = 4;
/** While pipelines are smaller than this together, more are read at once. */
const smallLength = 64 * 1024;
const maxKeptLength = 2 * 1024 * 1024;

/** The JSON of pipelines of an answer: reads a few megabytes at a time, and keeps no more. */
export class PipelineTexts {
  readonly #services: Services;
  readonly #organization: Organization;
  readonly #hasCounts: boolean;
  readonly #kept = new Map<string, string>();
  #keptLength = 0;
  #read = 1;

  constructor(services: Services, organization: Organization, { hasCounts = false } = {}) {
    this.#services = services;
    this.#organization = organization;
    this.#hasCounts = hasCounts;
  }

  /**
   * Undefined if the pipeline was deleted.
   * @param next ids of pipelines that are asked for after this one
   */
  async find(id: string, next: readonly string[]): Promise<string | undefined> {
    if (!this.#kept.has(id)) await this.#load(id, next);
    return this.#kept.get(id);
  }

  async #load(id: string, next: readonly string[]): Promise<void> {
    const missing = new Set([id]);
    for (const other of next) {
      if (missing.size >= this.#read) break;
      if (!this.#kept.has(other)) missing.add(other);
    }
    if (this.#keptLength > maxKeptLength) this.#drop();
    const { db } = this.#services;
    const found = await listUnparsedPipelines(db, { ids: [...missing] });
    const counted = this.#hasCounts ? await countWorkOfPipelines(db.offLoop, [...missing]) : [];
    const countsOf = new Map(counted.map((counts) => [counts.id, counts]));
    const before = this.#keptLength;
    for (const pipeline of found) {
      const counts = countsOf.get(pipeline.id);
      const text = writePipeline(this.#services, this.#organization, { ...pipeline, counts });
      this.#kept.set(pipeline.id, text);
      this.#keptLength += text.length;
    }
    this.#read = this.#keptLength - before < smallLength ? Math.min(2 * this.#read, maxRead) : 1;
  }

  #drop(): void {
    this.#kept.clear();
    this.#keptLength = 0;
  }
}

/** The items of a list, with counts and with commas between them. Leaves out pipelines that were deleted. */
export async function* writeCounted(
  services: Services,
  organization: Organization,
  ids: readonly string[],
): AsyncGenerator<string> {
  const texts = new PipelineTexts(services, organization, { hasCounts: true });
  let comma = "";
  for (const [index, id] of ids.entries()) {
    const text = await texts.find(id, ids.slice(index + 1, index + maxRead));
    if (text === undefined) continue;
    yield comma + text;
    comma = ",";
  }
}
