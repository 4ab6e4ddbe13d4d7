import type { Db, Reader } from "../../db/database.ts";
import {
  capTotal,
  type ListedRows,
  type ListPage,
  listedRows,
  maxCounted,
  readerFor,
} from "../../db/list-page.ts";
import { secondMs } from "../../durations.ts";
import { hasDeletedPipelines } from "../../pipelines/store.ts";
import { Refusal } from "../../refusal.ts";
import type { BuildState } from "../../vocabulary.ts";
import { allColumns, type Build, type ListedBuild, listedColumns } from "../rows/build-store.ts";
import { type BuildFilter, type BuildListPlan, planBuildList } from "./list-plan-store.ts";
import { countSlice, findEndOfSlice, keyOfCursor, type ListSlice, listSliceOf } from "./list-store.ts";

/** One statement reads this many builds at most, so that others get their turn. */
const maxSlice = 5000;
const defaultDeadlineMs = 2 * secondMs;

/**
 * A page of builds, newest first.
 * @throws Refusal 503 if it has to look at too many builds
 */
export function listBuilds(
  db: Db,
  filter: BuildFilter,
  page: ListPage,
  options: { deadlineMs?: number } = {},
): Promise<ListedRows<Build>> {
  return listRows(db, filter, page, { ...options, listSlice: listWhole });
}

const listWhole = listSliceOf<Build>(allColumns);
const listInBrief = listSliceOf<ListedBuild>(listedColumns);
const listAddresses = listSliceOf<BuildAddress>(({ tables: { builds } }) => {
  const { id, pipelineId, number, createdAt } = builds;
  return { id, pipelineId, number, createdAt };
});

/** Like `listBuilds`, for a caller that reads them by their ids. @throws Refusal 503 */
export function listBuildAddresses(
  db: Db,
  filter: BuildFilter,
  page: ListPage,
): Promise<ListedRows<BuildAddress>> {
  return listRows(db, filter, page, { listSlice: listAddresses });
}

/** Like `listBuilds`, as pages show them. @throws Refusal 503 */
export function listBuildsInBrief(
  db: Db,
  filter: BuildFilter,
  page: ListPage,
  options: { deadlineMs?: number } = {},
): Promise<ListedRows<ListedBuild>> {
  return listRows(db, filter, page, { ...options, listSlice: listInBrief });
}

type BuildAddress = Pick<Build, "id" | "pipelineId" | "number" | "createdAt">;

interface Rows<Row> {
  listSlice: ListSlice<Row>;
}

async function listRows<Row extends BuildAddress>(
  db: Db,
  filter: BuildFilter,
  page: ListPage,
  { listSlice, deadlineMs = defaultDeadlineMs }: Rows<Row> & { deadlineMs?: number },
): Promise<ListedRows<Row>> {
  if (filter.states?.length === 0) return { rows: [], next: undefined, total: 0 };
  const isOfPipeline = filter.pipelineId !== undefined;
  const mayBeDeleted = !isOfPipeline && (await hasDeletedPipelines(db, filter.organizationId));
  const plan = planBuildList(db, filter, mayBeDeleted);
  const total = await countBuilds(db, plan);
  if (total !== undefined && !page.after && page.offset >= total) return { rows: [], next: undefined, total };

  const deadlineAt = performance.now() + deadlineMs;
  const rows = await findRows(db, plan, { ...page, listSlice, deadlineAt });
  const cursorOf = ({ id, number, createdAt }: BuildAddress) => ({
    id,
    number: isOfPipeline ? number : createdAt.getTime(),
  });
  return listedRows(rows, page, { total, cursorOf });
}

/**
 * Counts the builds of a filter in each group of states, up to `max`. Undefined for a group where that takes too long:
 * few of many builds match.
 */
export async function countBuildsByStates(
  db: Db,
  filter: BuildFilter,
  groups: BuildState[][],
  max: number,
): Promise<(number | undefined)[]> {
  const mayBeDeleted = !filter.pipelineId && (await hasDeletedPipelines(db, filter.organizationId));
  const counts: (number | undefined)[] = [];
  for (const states of groups) {
    const plan = planBuildList(db, { ...filter, states }, mayBeDeleted);
    const isExact = plan.rest.length === 0;
    const slice = { after: undefined, size: isExact ? max : maxCounted };
    const reader = readerFor(db, plan.streams.length * slice.size);
    const count = Math.min(max, await countSlice(reader, plan, slice));
    const isWhole = isExact || count === max || (await findEndOfSlice(reader, plan, slice)) === undefined;
    counts.push(isWhole ? count : undefined);
  }
  return counts;
}

/** Undefined if there are more builds to count than `maxCounted`. */
async function countBuilds(db: Db, plan: BuildListPlan): Promise<number | undefined> {
  const slice = { after: undefined, size: maxCounted + 1 };
  const reader = readerFor(db, plan.streams.length * slice.size);
  if (plan.rest.length === 0) return capTotal(await countSlice(reader, plan, slice));
  const end = await findEndOfSlice(reader, plan, slice);
  return end === undefined ? countSlice(reader, plan, slice) : undefined;
}

/** The rows of the page, and one more if there is one. */
async function findRows<Row>(
  db: Db,
  plan: BuildListPlan,
  page: ListPage & Rows<Row> & { deadlineAt: number },
): Promise<Row[]> {
  const wanted = page.limit + 1;
  const { listSlice } = page;
  const rows: Row[] = [];
  let after = page.after && keyOfCursor(db, plan, page.after);
  let skip = page.after ? 0 : page.offset;
  let reader: Reader | undefined;

  for (let size = 4 * wanted; ; size = Math.min(4 * size, maxSlice)) {
    if (plan.rest.length === 0 && skip + wanted <= maxSlice) {
      const last = { after, size: skip + wanted };
      const lastReader = readerFor(db, plan.streams.length * last.size);
      return listSlice(lastReader, plan, { ...last, limit: wanted, offset: skip });
    }
    page.checkCaller?.();
    if (performance.now() > page.deadlineAt) throw tooManyBuilds(plan);

    // The first slice mostly does. It is small; what follows must not block the event loop.
    reader = reader ? db.offLoop : readerFor(db, plan.streams.length * size);
    const slice = { after, size };
    const end = await findEndOfSlice(reader, plan, slice);
    const passed = skip === 0 ? undefined : await countSlice(reader, plan, slice);
    if (passed !== undefined && passed <= skip) skip -= passed;
    else {
      const limit = wanted - rows.length;
      rows.push(...(await listSlice(reader, plan, { ...slice, limit, offset: skip })));
      skip = 0;
    }
    if (end === undefined || rows.length === wanted) return rows;
    after = end;
  }
}

function tooManyBuilds({ rest }: BuildListPlan): Refusal {
  const filters = rest.map(({ name }) => name).filter((name) => name !== "organization");
  const names = filters.join(", ") || "page";
  return new Refusal(
    503,
    `Too many builds to look through for ${names}. Add state, branch or commit, or follow the links of the list.`,
  );
}
