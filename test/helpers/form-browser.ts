/** What a page answered: the place to go on to, or its text. */
export interface Page {
  status: number;
  location: string | null;
  text: string;
}

export type Browser = ReturnType<typeof openBrowser>;

/** A browser at the pages: keeps the cookie, and sends the token of the page before with every form. */
export function openBrowser(url: string, headers: Record<string, string> = {}) {
  let cookie = "";
  let csrfToken = "";

  const send = async (path: string, init: RequestInit): Promise<Page> => {
    const response = await fetch(url + path, {
      ...init,
      redirect: "manual",
      headers: { ...headers, Cookie: cookie },
    });
    cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    const text = await response.text();
    csrfToken = /name="csrf_token" value="([^"]+)"/.exec(text)?.[1] ?? csrfToken;
    return { status: response.status, location: response.headers.get("location"), text };
  };
  const get = (path: string) => send(path, {});
  const post = (path: string, fields: Record<string, string>) =>
    send(path, { method: "POST", body: new URLSearchParams({ csrf_token: csrfToken, ...fields }) });

  return {
    get,
    post,
    async signIn(email: string, password = "correct horse battery") {
      await get("/sign-in");
      const answer = await post("/sign-in", { email, password });
      await get("/");
      return answer;
    },
    isSignedIn: async () => (await get("/user/password")).status === 200,
  };
}
