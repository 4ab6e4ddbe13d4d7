import type { ComponentChildren } from "preact";
import { render } from "preact-render-to-string";
import { patterns } from "../../../shared/paths.ts";
import { assetPath, iconOf } from "../assets/serve.ts";
import { signOf } from "../states/tones.ts";
import { Head, type HeadProps } from "./head.tsx";
import { noticeText } from "./notices.ts";
import type { Crumb } from "./page-context.ts";
import { Rendering } from "./rendering.ts";
import { Trail, titleInFull } from "./trail.tsx";

export type Script = "copy.js" | "fill.js" | "filter.js" | "log.js" | "once.js";

interface PageProps extends HeadProps {
  title: string;
  /** Of the page's subject. Tabs show it before the title and in the icon. */
  state?: string | undefined;
  content: ComponentChildren;
  trail?: Crumb[];
  /** The last name of the title. Default: the organization, else the program. */
  owner?: string;
  /** Address of its events. */
  events?: string;
  /** For `live.js`, which takes the title, its icon and the content only. */
  isRefresh?: boolean;
  script?: Script | Script[];
  /** The field in the head finds as one types, and keys lead to it and through the page. */
  hasSearch?: boolean;
  /** Absent on error pages, which name no time. */
  now?: Date;
  notice?: string | null;
  outage?: string | undefined;
  /** A sentence while the organization has little room. */
  storage?: string | undefined;
}

/** A whole HTML document. */
export function renderPage(props: PageProps): string {
  const { now = new Date(0), visitor } = props;
  const page = (
    <Rendering.Provider value={{ now, visitor }}>
      <Layout {...props} />
    </Rendering.Provider>
  );
  return `<!doctype html>${render(page)}`;
}

function Layout(props: PageProps) {
  const {
    title,
    state,
    within,
    owner = within?.organization.name ?? "Signalbox",
    trail = [],
    events,
    script,
    hasSearch,
    isRefresh,
    visitor,
  } = props;
  const sign = state ? `${signOf(state)} ` : "";
  const name = sign + titleInFull(title, trail, owner);
  const icon = <link rel="icon" type="image/svg+xml" href={assetPath(state ? iconOf(state) : "icon.svg")} />;
  if (isRefresh)
    return (
      <html lang="en">
        <head>
          <title>{name}</title>
          {icon}
        </head>
        <body>
          <Main {...props} />
        </body>
      </html>
    );
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{name}</title>
        {icon}
        <link rel="stylesheet" href={assetPath("style.css")} />
        {hasSearch && <script type="module" src={assetPath("keys.js")} />}
        {events && <script type="module" src={assetPath("live.js")} />}
        {events && <script type="module" src={assetPath("times.js")} />}
        {[script ?? []].flat().map((name) => (
          <script key={name} type="module" src={assetPath(name)} />
        ))}
      </head>
      <body
        data-events={events}
        data-keys={hasSearch && visitor?.user?.hasShortcuts ? patterns.keyboard : undefined}
      >
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <Head {...props} />
        <Trail crumbs={trail} />
        <Main {...props} />
      </body>
    </html>
  );
}

function Main({ content, outage, storage, notice = null }: PageProps) {
  const text = noticeText(notice);
  return (
    <main id="main" tabIndex={-1}>
      {outage && (
        <p class="warning" role="status">
          {outage}
        </p>
      )}
      {storage && (
        <p class="warning" role="status">
          {storage}
        </p>
      )}
      {text && (
        <p class="notice" role="status">
          {text}
        </p>
      )}
      {content}
    </main>
  );
}
