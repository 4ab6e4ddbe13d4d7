import { handleRequests } from "../../process/thread.ts";
import { renderMarkdown } from "./render.ts";

handleRequests(({ body }: { body: string }): string => renderMarkdown(body));
