import { endSession, findUserByPassword, startSession } from "../../../shared/accounts/sessions.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { readKnownBrowser, setSignInCookies, type Visitor } from "../../auth/session.ts";
import type { Bodies } from "../../http/body.ts";
import { clientIp } from "../../http/client-address.ts";
import { limitSignInFailures } from "../../http/limits.ts";
import { CsrfField, Field, FormError } from "../ui/form.tsx";
import { withNotice } from "../ui/notices.ts";
import { action, type PageContent, page } from "../ui/page.ts";
import type { FormProblems } from "../ui/problems.ts";
import { localPath } from "./return-path.ts";

/** GET /sign-in[?to=<path>] */
export function signInPage(services: Services) {
  return page(services, ({ event, visitor }) => {
    const to = localPath(event.url.searchParams.get("to"));
    return visitor.user ? alreadySignedIn(visitor, to) : signInForm(visitor, { to, email: "" });
  });
}

/** POST /sign-in {email, password, to}. Always starts a new session. */
export function signIn(services: Services, bodies: Bodies) {
  return action(services, bodies, async ({ event, visitor }, form) => {
    const email = form.get("email") ?? "";
    const to = localPath(form.get("to"));
    const password = form.get("password") ?? "";
    const knownBrowser = readKnownBrowser(services, event);
    const user = await limitSignInFailures(services, email, clientIp(event), (caller) =>
      findUserByPassword(services, { email, password, knownBrowser }, caller),
    );
    const token = user && (await startSession(services, user, visitor.token));
    if (!user || !token) return signInForm(visitor, { to, email, problems: [wrongPassword] });

    setSignInCookies(services, event, { token, user });
    return to;
  });
}

/** POST /sign-out */
export function signOut(services: Services, bodies: Bodies) {
  return action(services, bodies, async ({ visitor }) => {
    await endSession(services, visitor.token);
    return withNotice(patterns.home, "signed_out");
  });
}

/** Does not reveal which of the two is wrong. */
const wrongPassword = { field: "password", message: "The email address or password is wrong" };

function signInForm(
  visitor: Visitor,
  { to, email, problems }: { to: string; email: string; problems?: FormProblems },
): PageContent {
  return {
    title: "Sign in",
    status: problems ? 422 : 200,
    content: (
      <div class="narrow">
        <h1>Sign in</h1>
        {to.startsWith(patterns.enterCode) && <p>Sign in first, then connect your device.</p>}
        <form method="post" action={patterns.signIn}>
          <CsrfField visitor={visitor} />
          <input type="hidden" name="to" value={to} />
          <FormError problems={problems} />
          <Field
            label="Email address"
            name="email"
            type="email"
            value={email}
            autocomplete="username"
            required
            autofocus={!problems}
          />
          <Field
            label="Password"
            name="password"
            type="password"
            autocomplete="current-password"
            required
            problems={problems}
          />
          <p class="actions">
            <button type="submit">Sign in</button>
          </p>
        </form>
        <p class="quiet">No account, or password forgotten? Ask whoever operates this installation.</p>
      </div>
    ),
  };
}

function alreadySignedIn(visitor: Visitor, to: string): PageContent {
  return {
    title: "Signed in",
    content: (
      <div class="narrow">
        <h1>You are signed in</h1>
        <p>
          As {visitor.user?.name} ({visitor.user?.email}).
        </p>
        <p>
          <a class="button" href={to}>
            Go on
          </a>
        </p>
      </div>
    ),
  };
}
