import type { ComponentChildren } from "preact";
import { render } from "preact-render-to-string";

/** The one frame of every page. */
function Layout({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Signalbox`}</title>
      </head>
      <body>
        <main>{children}</main>
      </body>
    </html>
  );
}

/** A whole page as text. */
export function renderPage(title: string, content: ComponentChildren): string {
  return `<!doctype html>${render(<Layout title={title}>{content}</Layout>)}`;
}
