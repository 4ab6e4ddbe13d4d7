import { handleRequests } from "../../process/thread.ts";
import { type Configuration, parseConfiguration } from "./parse.ts";

handleRequests(({ text }: { text: string }): Configuration => parseConfiguration(text));
