import { renderPage } from "./layout.tsx";

const titles: Record<number, string> = {
  404: "Page not found",
  500: "Something went wrong",
  503: "Temporarily unavailable",
};

/** What a person sees instead of the page that they asked for. */
export function errorPage(status: number, message: string): string {
  const title = titles[status] ?? "This did not work";
  const text = status === 404 ? "There is nothing at this address. Check it for typing errors." : message;
  return renderPage(
    title,
    <>
      <h1>{title}</h1>
      <p>{text}</p>
      <p>
        <a href="/">Go to the start page</a>
      </p>
    </>,
  );
}
