import assert from "node:assert/strict";
import { it } from "node:test";
import { type Visitor, visitor } from "../../../../scripts/scratch/visitor.ts";
import { changePassword, findUserByPassword, startSession } from "../../../../shared/accounts/sessions.ts";
import { setPassword } from "../../../../shared/accounts/users.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { openAcme } from "../../../helpers/organization.ts";

const first = "correct horse battery";
const second = "another password";

describeWorldOn(sqlite, "POST /user/password", openAcme, (world) => {
  const isSignedIn = async ({ get }: Visitor) => (await get("/user/password")).status === 200;

  it("signs the user out everywhere else", async () => {
    const [here, there] = [visitor(world.url), visitor(world.url)];
    await here.signIn(world.acme.user.email);
    await there.signIn(world.acme.user.email);

    const answer = await here.post("/user/password", { present: first, wanted: second, again: second });

    assert.equal(answer.status, 303, answer.text);
    assert.ok(await isSignedIn(here));
    assert.ok(!(await isSignedIn(there)));
    await setPassword(world.services, world.acme.user.email, first);
  });

  const caller = { network: "192.0.2.1", wideNetwork: "192.0.2.0/24" };
  const findByPassword = (password: string) =>
    findUserByPassword(world.services, { email: world.acme.user.email, password }, caller);

  it("starts no session with a password replaced during the check", async () => {
    const user = await findByPassword(first);
    assert.ok(user);
    await setPassword(world.services, world.acme.user.email, second);

    assert.equal(await startSession(world.services, user, ""), undefined);
    await setPassword(world.services, world.acme.user.email, first);
  });

  it("does not replace a password set by the operator during the request", async () => {
    const user = await findByPassword(first);
    assert.ok(user);
    await setPassword(world.services, world.acme.user.email, second);

    const passwords = { current: first, next: "a third password" };
    const outcome = await changePassword(world.services, user, passwords, caller);

    assert.equal(outcome, "wrong");
    assert.ok(await findByPassword(second));
  });
});
