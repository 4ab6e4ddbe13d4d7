import { Fragment } from "preact";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";

const maxNamed = 10;

/** `2 pipelines still use it: Site, Web.`, with links. */
export function StillUsed({ pipelines, org }: { pipelines: Pipeline[]; org: string }) {
  const byName = pipelines.toSorted((one, other) => one.name.localeCompare(other.name));
  const named = byName.slice(0, maxNamed);
  const more = pipelines.length - named.length;
  return (
    <>
      {pipelines.length === 1 ? "1 pipeline still uses it" : `${pipelines.length} pipelines still use it`}:{" "}
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
