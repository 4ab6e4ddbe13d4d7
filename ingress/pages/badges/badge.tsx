import { defineHandler, getRouterParam } from "h3";
import { render } from "preact-render-to-string";
import { findLastResult } from "../../../shared/builds/reading/last-result.ts";
import { isId } from "../../../shared/ids.ts";
import { findPipelineFactsById } from "../../../shared/pipelines/store.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { clientIp } from "../../http/client-address.ts";
import { limitCalls } from "../../http/limits/limits.ts";
import { wideNetworkOf } from "../../http/network.ts";
import { fileResponse } from "../assets/serve.ts";

const caching = "public, max-age=30";
const colors = { passing: "#2a7d3f", failing: "#b3261e", unknown: "#5f6368" };

/**
 * GET /badges/:file: the last result on a branch, as a picture. A page of another site has it, so nobody signs in: the
 * pipeline's id in the address cannot be guessed, and the picture names nothing.
 */
export function badge(services: Services) {
  return defineHandler(async (event) => {
    await limitCalls(services, "badges", wideNetworkOf(clientIp(event)));
    const id = /^(.+)\.svg$/.exec(getRouterParam(event, "file", { decode: true }) ?? "")?.[1] ?? "";
    const pipeline = isId(id) ? await findPipelineFactsById(services.db, { id }) : undefined;
    if (!pipeline) throw new Refusal(404, "Not Found");
    const branch = event.url.searchParams.get("branch") || pipeline.defaultBranch;
    const result = (await findLastResult(services.db, pipeline, branch)) ?? "unknown";
    return fileResponse(render(<Badge result={result} />), "image/svg+xml", caching);
  });
}

function Badge({ result }: { result: keyof typeof colors }) {
  return (
    <svg xmlns="http://www.w3.org/2000/svg" width="98" height="20" role="img" aria-label={`build: ${result}`}>
      <title>{`build: ${result}`}</title>
      <clipPath id="round">
        <rect width="98" height="20" rx="3" />
      </clipPath>
      <g clip-path="url(#round)">
        <rect width="38" height="20" fill="#444" />
        <rect x="38" width="60" height="20" fill={colors[result]} />
      </g>
      <g fill="#fff" font-family="system-ui, sans-serif" font-size="11" text-anchor="middle">
        <text x="19" y="14">
          build
        </text>
        <text x="68" y="14">
          {result}
        </text>
      </g>
    </svg>
  );
}
