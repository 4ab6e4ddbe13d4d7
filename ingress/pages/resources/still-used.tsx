import { Fragment } from "preact";
import {
  type Dependents,
  listDependents,
  type NamedPipeline,
} from "../../../shared/clusters/dependents-store.ts";
import type { Db } from "../../../shared/db/database.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";

const maxNamed = 10;

/** Says which pipelines need a cluster or queue. Undefined if there are none. */
export async function describeStillUsed(db: Db, dependents: Dependents, org: string) {
  const found = await listDependents(db, dependents);
  if (found.length === 0) return undefined;
  const byName = found.toSorted((one, other) => one.name.localeCompare(other.name));
  return <StillUsed named={byName.slice(0, maxNamed)} total={found.length} org={org} />;
}

/** `2 pipelines still use it: Site, Web.`, with links. */
function StillUsed({ named, total, org }: { named: NamedPipeline[]; total: number; org: string }) {
  const more = total - named.length;
  return (
    <>
      {total === 1 ? "1 pipeline still uses it" : `${total} pipelines still use it`}:{" "}
      {named.map(({ id, slug, name }, i) => (
        <Fragment key={id}>
          {i > 0 && ", "}
          <a href={pathTo(patterns.pipelinePage, { org, slug })}>{name}</a>
        </Fragment>
      ))}
      {more > 0 && ` and ${more} more`}.
    </>
  );
}
