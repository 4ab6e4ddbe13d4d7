import { defineHandler } from "h3";
import { render } from "preact-render-to-string";
import { patterns } from "../../shared/paths.ts";
import type { Config } from "../../shared/settings/config.ts";
import { html, setHeaders } from "../http/respond.ts";
import { assetPath } from "../pages/assets/serve.ts";
import type { DocsAssets } from "./assets.ts";

/** GET /docs/api: the OpenAPI document in a renderer. Without scripts it links the document. */
export function docsPage(config: Config, assets: DocsAssets | undefined) {
  const openapi = config.baseUrl + patterns.openapi;
  const body = `<!doctype html>${render(<Docs scripts={assets?.scripts ?? []} openapi={openapi} />)}`;
  const policy = contentPolicy(config);
  return defineHandler((event) => {
    setHeaders(event, {
      "Content-Security-Policy": policy,
      // Cuts the renderer off from pages that it opens in a window.
      "Cross-Origin-Opener-Policy": "same-origin",
      "X-Frame-Options": "DENY",
      "Referrer-Policy": "same-origin",
      "Cache-Control": "no-cache",
    });
    return html(200, body);
  });
}

/**
 * The renderer is a large third-party program on the origin of the pages. The policy lets it call the API alone, at the
 * addresses of the settings: no page, no form, no other host.
 */
function contentPolicy({ baseUrl, authUrl, webhookUrl }: Config): string {
  const { deviceAuthorization, token, revoke, introspect, oauthMetadata, openidConfiguration } = patterns;
  const oauth = [deviceAuthorization, token, revoke, introspect, oauthMetadata, openidConfiguration];
  const callable = [
    ...[patterns.openapi, "/v2", "/v2/", "/v3/"].map((path) => baseUrl + path),
    ...oauth.map((path) => authUrl + path),
    `${webhookUrl}/deliver/`,
  ];
  return [
    "default-src 'none'",
    "script-src 'self'",
    // The renderer sets style attributes, which no nonce allows.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src ${callable.join(" ")}`,
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

/** @param props.openapi the document's address: the page may be open at another host, which the policy does not name */
function Docs({ scripts, openapi }: { scripts: string[]; openapi: string }) {
  const isShown = scripts.length > 0;
  const style = <link rel="stylesheet" href={assetPath("style.css")} />;
  const text = (
    <main id="main">
      <h1>Signalbox API</h1>
      <p>
        {isShown
          ? "This reference needs JavaScript."
          : "This installation has no renderer for its reference."}{" "}
        The same as an OpenAPI document: <a href={patterns.openapi}>{patterns.openapi}</a>. The guides are at{" "}
        <a href={patterns.docs}>{patterns.docs}</a>
      </p>
    </main>
  );
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>API · Signalbox</title>
        <link rel="icon" type="image/svg+xml" href={assetPath("icon.svg")} />
        {isShown ? <noscript>{style}</noscript> : style}
      </head>
      <body>
        {isShown ? <noscript>{text}</noscript> : text}
        <div id="reference" data-openapi={openapi} />
        {scripts.map((path) => (
          <script key={path} src={path} />
        ))}
      </body>
    </html>
  );
}
