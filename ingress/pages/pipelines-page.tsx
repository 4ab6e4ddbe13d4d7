import { countPipelines, listPipelines } from "../../shared/builds/pipeline-store.ts";
import { pathTo, patterns } from "../../shared/paths.ts";
import type { Services } from "../../shared/services.ts";
import { memberPage } from "./member-page.ts";
import { readPageNumber } from "./page-number.ts";
import { Pager } from "./tables.tsx";

const perPage = 30;

/** GET /organizations/:org and /organizations/:org/pipelines */
export function pipelinesPage(services: Services) {
  const { db } = services;
  return memberPage(services, async ({ organization, event }) => {
    const total = await countPipelines(db, organization.id);
    const { page, pages, offset } = readPageNumber(event, total, perPage);
    const pipelines = await listPipelines(db, organization.id, { limit: perPage, offset });
    const org = organization.slug;
    return {
      title: "Pipelines",
      within: { organization, section: "pipelines" },
      content: (
        <>
          <h1>Pipelines</h1>
          {pipelines.length === 0 ? (
            <p>
              There is none yet. Create one with the REST API, or have the operator make one with{" "}
              <code>npm run -s admin -- pipeline create</code>.
            </p>
          ) : (
            <ul class="entries">
              {pipelines.map(({ id, name, slug, lastBuildNumber }) => (
                <li key={id} class="entry">
                  <div>
                    <h2>
                      <a href={pathTo(patterns.pipelinePage, { org, slug })}>{name}</a>
                    </h2>
                    <p class="quiet">
                      {lastBuildNumber === 0 ? "no build yet" : `last build #${lastBuildNumber}`}
                    </p>
                  </div>
                </li>
              ))}
            </ul>
          )}
          <Pager page={page} pages={pages} path={pathTo(patterns.pipelinesPage, { org })} />
        </>
      ),
    };
  });
}
