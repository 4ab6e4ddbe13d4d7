import { endSession, findUserByPassword, startSession } from "../../../shared/accounts/sessions.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { readKnownBrowser, setSignInCookies, type Visitor } from "../../auth/session.ts";
import { clientIp } from "../../http/client-address.ts";
import { limitSignInFailures } from "../../http/limits/limits.ts";
import { Field, LinkButton, PostForm } from "../ui/form.tsx";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import { action, type PageContent, page } from "../ui/page.ts";
import type { FormProblems } from "../ui/problems.ts";
import { localPath } from "./return-path.ts";

/** GET /sign-in[?to=<path>] */
export const signInPage = page((services, { event, visitor }) => {
  const to = localPath(event.url.searchParams.get("to"));
  return visitor.user ? alreadySignedIn(visitor, to) : signInForm(services, { to, email: "" });
});

/** POST /sign-in {email, password, to}. Always starts a new session. */
export const signIn = action(async (services, { event, visitor }, form) => {
  const email = form.get("email") ?? "";
  const to = localPath(form.get("to"));
  const password = form.get("password") ?? "";
  const knownBrowser = readKnownBrowser(services, event);
  const user = await limitSignInFailures(services, email, clientIp(event), (caller) =>
    findUserByPassword(services, { email, password, knownBrowser }, caller),
  );
  const token = user && (await startSession(services, user, visitor.token));
  if (!user || !token) return signInForm(services, { to, email, problems: [wrongPassword] });

  setSignInCookies(services, event, { token, user });
  return to;
});

/** POST /sign-out */
export const signOut = action(async (services, { visitor }) => {
  await endSession(services, visitor.token);
  return withNotice(patterns.home, "signed_out");
});

/** Does not reveal which of the two is wrong. */
const wrongPassword = { field: "password", message: "The email address or password is wrong" };

function signInForm(
  { config: { demoFile } }: Services,
  { to, email, problems }: { to: string; email: string; problems?: FormProblems },
): PageContent {
  return narrowPage({
    title: "Sign in",
    problems,
    content: (
      <>
        {to.startsWith(patterns.enterCode) && <p>Sign in first, then connect your device.</p>}
        <PostForm path={patterns.signIn} problems={problems} button="Sign in">
          <input type="hidden" name="to" value={to} />

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
        </PostForm>
        {demoFile && (
          <p class="quiet">
            The email address and password of the demo are in <code>{demoFile}</code>, in the folder of
            Signalbox.
          </p>
        )}
        <p class="quiet">No account, or password forgotten? Ask whoever operates this installation.</p>
      </>
    ),
  });
}

function alreadySignedIn(visitor: Visitor, to: string): PageContent {
  return narrowPage({
    title: "Signed in",
    heading: "You are signed in",
    content: (
      <>
        <p>
          As {visitor.user?.name} ({visitor.user?.email}).
        </p>
        <p>
          <LinkButton href={to} text="Go on" />
        </p>
      </>
    ),
  });
}
