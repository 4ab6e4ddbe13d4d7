import { deviceGrantType } from "../../../shared/device/device-code.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { visitor } from "../../scratch/visitor.ts";
import { type Attempt, call, visit } from "./call.ts";
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
    if (signIn) {
      lane.observed.signIns.push(signIn);
      const polling = Array.from({ length: pollers }, () => poll(lane, signIn));
      await Promise.all([approve(lane, signIn), ...polling]);
    } else await lane.pause(500);
  }
}

async function authorize(lane: Lane): Promise<SignIn | undefined> {
  const attempts: Attempt[] = [];
  const form = { client_id: lane.installation.organization.clientId, scope: "read_user" };
  const outcome = await sendForm(lane, patterns.deviceAuthorization, "device_authorization", form, attempts);
  if (outcome.status !== 200) return undefined;
  const { user_code: userCode, device_code: deviceCode } = outcome.body;
  return { userCode, deviceCode, attempts, tokens: [] };
}

/** Enters the code at the pages, as a person does. Each try is at some ingress process. */
async function approve(lane: Lane, { userCode, attempts }: SignIn): Promise<void> {
  const { cookie, id } = lane.installation.organization;
  let answer = "";
  for (let tries = 0; tries < maxTries && answer !== "303" && !lane.signal.aborted; tries++) {
    await lane.pause(300);
    const url = lane.url();
    answer = await visit({ ...lane, attempts }, url, "approval", async () => {
      const person = visitor(url, cookie);
      const entered = await person.post(patterns.enterCode, { user_code: userCode });
      if (entered.status !== 303) return `${entered.status} for the code`;
      const form = { organization: id, decision: "authorize" };
      return String((await person.post(pathTo(patterns.reviewDevice, { code: userCode }), form)).status);
    });
  }
}

async function poll(lane: Lane, { deviceCode: device_code, attempts, tokens }: SignIn): Promise<void> {
  const { clientId: client_id } = lane.installation.organization;
  const form = { grant_type: deviceGrantType, client_id, device_code };
  for (let polls = 0; polls < maxPolls && !lane.signal.aborted; polls++) {
    await lane.pause(pollEveryMs);
    const outcome = await sendForm(lane, patterns.token, "token", form, attempts);
    if (outcome.status === 200) tokens.push(outcome.body.access_token);
    if (outcome.status === 200 || (outcome.status === 400 && endings.includes(outcome.body.error))) return;
  }
}

function sendForm(lane: Lane, path: string, name: string, form: Record<string, string>, attempts: Attempt[]) {
  const body = new URLSearchParams(form);
  return call({ ...lane, attempts }, lane.url() + path, { name, method: "POST", body });
}
