import { listLastBuilds } from "../../../shared/builds/store.ts";
import { listPipelineNames } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/process/services.ts";
import { readPageOf, readWithin } from "../../http/number-pager.ts";
import type { MemberRequest } from "../ui/member-page.ts";

const perPage = 30;

/** One page of the organization's pipelines, with the last build of each. */
export async function loadPipelines({ db }: Services, { organization, event }: MemberRequest) {
  const list = await readWithin(readPageOf(event, perPage), (page) =>
    listPipelineNames(db, organization.id, page),
  );
  return { list, builds: await listLastBuilds(db, list.rows) };
}
