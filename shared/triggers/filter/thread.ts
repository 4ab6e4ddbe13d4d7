import { handleRequests } from "../../runtime/thread.ts";
import { evaluateFilter } from "./evaluate.ts";

handleRequests(evaluateFilter);
