import assert from "node:assert/strict";
import { before, it } from "node:test";
import { describeWorld } from "../helpers/databases.ts";
import { setUpClient, startDevice } from "../helpers/device.ts";
import { assertHonest } from "./answers.ts";
import { crawl, openSession } from "./crawl.ts";
import { fuzz, partOn } from "./fuzz.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { type PageInput, pageRequests, type Site } from "./page-requests.ts";
import { describeExchange, type Response, send } from "./send.ts";

const closedEarly = /ECONNRESET|EPIPE|socket hang up|Parse Error: Data after/;

describeWorld("any request to any page or form", startInstallation, (installation, database) => {
  let site: Site;

  before(async () => {
    site = await readSite(installation);
  });

  it("gets an honest page, and changes nothing without the session's token", async (context) => {
    context.diagnostic(`${site.pages.length} pages, ${site.forms.length} forms`);
    const statuses: Record<string, number> = {};

    await fuzz(context, { share: 0.25 * partOn(database), input: pageRequests(site) }, async (each) => {
      const answer = await exchange(installation.url, each);
      if (!answer) return;
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      try {
        assertHonest(answer, each.isPlain ? "page" : "any", each.visitor === "stranger");
        assertAllowed(each, answer);
      } catch (error) {
        throw new Error(
          `${error instanceof Error ? error.message : error}\n${describeExchange(each.request, answer)}`,
        );
      }
    });

    context.diagnostic(`answers by status: ${JSON.stringify(statuses)}`);
    await installation.assertSound();
  });
});

async function readSite(installation: Installation): Promise<Site> {
  const { own, foreign, url, world } = installation;
  const at = { services: world.services, url };
  const sessions = {
    admin: await openSession(at, own.user),
    reader: await openSession(at, own.reader),
    stranger: await openSession(at, foreign.user),
    nobody: await openSession(at),
  };
  const device = await startDevice({ url }, await setUpClient(world, { clientId: "cli" }));
  const start = [
    "/",
    "/sign-in",
    "/docs",
    "/user/password",
    "/user/keyboard",
    "/oauth/device",
    `/oauth/device/${device.userCode}`,
  ];
  const { pages, forms } = await crawl(url, sessions.admin, start);
  const outside = await crawl(url, sessions.nobody, ["/sign-in", "/oauth/device"]);
  assert.ok(pages.length > 30 && forms.length > 15, `${pages.length} pages, ${forms.length} forms`);
  return { pages, forms: [...forms, ...outside.forms], sessions };
}

async function exchange(url: string, { request, isPlain }: PageInput): Promise<Response | undefined> {
  try {
    return await send(url, request);
  } catch (error) {
    if (!isPlain && closedEarly.test(String(error))) return undefined;
    throw new Error(`${error}\n${describeExchange(request)}`);
  }
}

function assertAllowed({ visitor, request, isOwnForm, isPlain }: PageInput, answer: Response): void {
  const { status, headers, text } = answer;
  // A file, such as the audit log, has text as people wrote it.
  const isPage = String(headers["content-type"]).startsWith("text/html");
  if (isPage) assert.doesNotMatch(text, /<script>alert/, "escapes");
  const location = String(headers.location ?? "/");
  assert.match(location, /^\/([^/\\]|$)/, "leads to our own pages");
  const isToSignIn = status === 303 && location.startsWith("/sign-in");
  if (request.method === "POST" && !isOwnForm) assert.ok(status >= 400 || isToSignIn, "a foreign form");
  const isOfOwnTenant = request.target.startsWith("/organizations/acme");
  if (isOfOwnTenant && visitor !== "admin" && visitor !== "reader" && isPlain)
    assert.ok(status >= 400 || isToSignIn, "another tenant");
}
