import { deviceGrantType } from "../../../shared/device/device-code.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { visitor } from "../../scratch/visitor.ts";
import { type Attempt, call, formOf, visit } from "./call.ts";
import type { Lane } from "./lane.ts";
import type { SignIn } from "./observed.ts";

const pollers = 3;
/** Longer than the server's interval, which early polls lengthen. */
const pollEveryMs = 1200;
const maxPolls = 25;
const maxTries = 10;
const endings = ["access_denied", "expired_token", "invalid_grant"];

export async function signDevicesIn(lane: Lane): Promise<void> {
  while (!lane.signal.aborted) {
    const signIn = await authorize(lane);
    if (!signIn) {
      await lane.pause(500);
      continue;
    }
    lane.observed.signIns.push(signIn);
    await Promise.all([approve(lane, signIn), ...Array.from({ length: pollers }, () => poll(lane, signIn))]);
  }
}

async function authorize(lane: Lane): Promise<SignIn | undefined> {
  const attempts: Attempt[] = [];
  const form = formOf({ client_id: lane.installation.organization.clientId, scope: "read_user" });
  const url = lane.url() + patterns.deviceAuthorization;
  const outcome = await call({ ...lane, attempts }, url, { name: "device_authorization", ...form });
  if (outcome.status !== 200) return undefined;
  return {
    userCode: outcome.body.user_code,
    deviceCode: outcome.body.device_code,
    attempts,
    tokens: [],
  };
}

/** Enters the code at the pages, as a person does. Each try is at some ingress process. */
async function approve(lane: Lane, signIn: SignIn): Promise<void> {
  for (let attempt = 0; attempt < maxTries && !lane.signal.aborted; attempt++) {
    await lane.pause(300);
    if (await approveOnce(lane, signIn)) return;
  }
}

async function approveOnce(lane: Lane, { userCode, attempts }: SignIn): Promise<boolean> {
  const { cookie, id } = lane.installation.organization;
  const url = lane.url();
  const answer = await visit({ ...lane, attempts }, url, "approval", async () => {
    const person = visitor(url, cookie);
    const entered = await person.post(patterns.enterCode, { user_code: userCode });
    if (entered.status !== 303) return `${entered.status} for the code`;
    const form = { organization: id, decision: "authorize" };
    const decided = await person.post(pathTo(patterns.reviewDevice, { code: userCode }), form);
    return String(decided.status);
  });
  return answer === "303";
}

async function poll(lane: Lane, signIn: SignIn): Promise<void> {
  const { clientId: client_id } = lane.installation.organization;
  const form = { grant_type: deviceGrantType, client_id, device_code: signIn.deviceCode };
  for (let polls = 0; polls < maxPolls && !lane.signal.aborted; polls++) {
    await lane.pause(pollEveryMs);
    const caller = { timeline: lane.timeline, attempts: signIn.attempts };
    const outcome = await call(caller, lane.url() + patterns.token, { name: "token", ...formOf(form) });
    if (outcome.status === 200) signIn.tokens.push(outcome.body.access_token);
    if (outcome.status === 200 || (outcome.status === 400 && endings.includes(outcome.body.error))) return;
  }
}
