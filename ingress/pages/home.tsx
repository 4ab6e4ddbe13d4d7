import { defineHandler } from "h3";
import type { Config } from "../../shared/config.ts";
import { html } from "../respond.ts";
import { renderPage } from "./layout.tsx";

/** GET /: what is here, for whoever opens the address in a browser. */
export function home(config: Config) {
  const page = renderPage(
    "Welcome",
    <>
      <h1>Signalbox</h1>
      <p>Webhooks become builds. This is the front office of a continuous-integration service.</p>
      <ul>
        <li>
          Webhooks are posted to <code>{config.webhookUrl}/deliver/…</code>
        </li>
        <li>
          The REST API answers at <code>{config.baseUrl}/v2</code>
        </li>
        <li>
          Is everything well? <a href="/readyz">/readyz</a>
        </li>
      </ul>
    </>,
  );
  return defineHandler(() => html(200, page));
}
