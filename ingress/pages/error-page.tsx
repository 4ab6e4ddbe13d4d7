import { renderPage } from "./layout.tsx";

const titles: Record<number, string> = {
  403: "This was not accepted",
  404: "Page not found",
  429: "Too many attempts",
  500: "Something went wrong",
  503: "Temporarily unavailable",
};

/** What a person sees instead of the page that they asked for. */
export function errorPage(status: number, message: string): string {
  const title = titles[status] ?? "This did not work";
  const text =
    message === "Not Found" ? "There is nothing at this address. Check it for typing errors." : message;
  return renderPage({
    title,
    content: (
      <div class="narrow">
        <h1>{title}</h1>
        <p>{text}</p>
        <p class="actions">
          <a class="button secondary" href="/">
            Go to the start page
          </a>
        </p>
      </div>
    ),
  });
}
