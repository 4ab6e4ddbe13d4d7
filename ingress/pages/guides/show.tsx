import { getRouterParam } from "h3";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";
import { loadLastOrganization } from "../ui/member-page.ts";
import { page, signInAndReturnTo } from "../ui/page.ts";
import { type GuideName, guides, isGuide } from "./list.ts";
import type { Guide } from "./render.ts";

/** GET /docs */
export const guidesPage = page(async (services, request) => {
  await loadLastOrganization(services, request);
  return {
    title: "Docs",
    content: (
      <div class="guide">
        <Contents />
        <article>
          <h1>Docs</h1>
          <p>
            New here? First read how to <a href={guidePath("steps")}>write steps</a>. Then connect your source
            host: the button with its name on the pipeline’s page shows what to do there. Any other program
            posts its <a href={guidePath("webhooks")}>webhooks</a> to a trigger of the pipeline.
          </p>
          <p>
            Programs use the <a href={patterns.apiReference}>REST API</a>.
          </p>
        </article>
      </div>
    ),
  };
});

/** GET /docs/:page */
export const guidePage = page(async (services, { event, visitor }) => {
  const name = getRouterParam(event, "page") ?? "";
  if (!isGuide(name)) throw new Refusal(404, "Not Found");
  // Few ask for guides, and the reader of Markdown takes memory.
  const { findGuide, forReader } = await import("./render.ts");
  const guide = findGuide(name);
  const organization = await loadLastOrganization(services, { event, visitor });
  const leadElsewhere = (example: string) =>
    visitor.user ? patterns.home : signInAndReturnTo(`${guidePath(name)}#${example}`);
  const html = forReader(guide, organization?.slug, leadElsewhere);
  return {
    title: `${guides[name].title} · Docs`,
    content: (
      <div class="guide">
        <Contents present={name} guide={guide} />
        <article dangerouslySetInnerHTML={{ __html: html }} />
      </div>
    ),
  };
});

function Contents({ present, guide }: { present?: GuideName; guide?: Guide }) {
  return (
    <nav aria-label="Docs">
      <ul>
        {Object.entries(guides).map(([name, { title }]) => (
          <li key={name}>
            <a href={guidePath(name)} aria-current={name === present ? "page" : undefined}>
              {title}
            </a>
            {name === present && guide && <Sections sections={guide.sections} />}
          </li>
        ))}
        <li>
          <a href={patterns.apiReference}>REST API</a>
        </li>
      </ul>
    </nav>
  );
}

function Sections({ sections }: Pick<Guide, "sections">) {
  return (
    <ul>
      {sections.map(({ id, title }) => (
        <li key={id}>
          <a href={`#${id}`}>{title}</a>
        </li>
      ))}
    </ul>
  );
}

function guidePath(name: string): string {
  return pathTo(patterns.guide, { page: name });
}
