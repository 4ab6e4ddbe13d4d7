import { textOf } from "../../../shared/agents/logs/parse.ts";
import type { LogText } from "../../../shared/agents/logs/row.ts";
import type { MarkedText } from "../../logs/texts.tsx";

interface Span {
  start: number;
  end: number;
  href?: string;
  mark?: "hit" | "place";
}

/** No search begins within a name: one of 16 KB would take seconds. */
const addressOrPlace = /(?<!\w)https?:\/\/[^\s<>"'`]+|(?<![\w@./+-])[\w@./+-]+:\d+(?::\d+)?(?![\w/])/g;
const endOfSentence = /[.,:;!?)\]}]+$/;
const fileName = /(?:^|\/)[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,9}:/;

/** Makes links of addresses, and marks places in files and what is searched for. */
export function markTexts(texts: LogText[], needle: string): MarkedText[] {
  const plain = textOf({ texts });
  const marked = split(texts, plain.includes(":") ? findAddresses(plain) : []);
  return needle === "" ? marked : split(marked, findHits(plain, needle));
}

function findAddresses(plain: string): Span[] {
  return [...plain.matchAll(addressOrPlace)].flatMap(({ 0: found, index: start }): Span[] => {
    if (!/^https?:\/\//.test(found))
      return fileName.test(found) ? [{ start, end: start + found.length, mark: "place" }] : [];
    const address = found.replace(endOfSentence, "");
    return URL.canParse(address) ? [{ start, end: start + address.length, href: address }] : [];
  });
}

/** Letters whose small form has another length are not marked. */
function findHits(plain: string, needle: string): Span[] {
  const [text, word] = [plain.toLowerCase(), needle.toLowerCase()];
  const spans: Span[] = [];
  if (text.length !== plain.length) return spans;
  for (let start = text.indexOf(word); start !== -1; start = text.indexOf(word, start + word.length))
    spans.push({ start, end: start + word.length, mark: "hit" });
  return spans;
}

/** Cuts texts at the ends of spans, which follow each other. */
function split(texts: MarkedText[], spans: Span[]): MarkedText[] {
  if (spans.length === 0) return texts;
  const parts: MarkedText[] = [];
  let place = 0;
  let next = 0;
  for (const each of texts) {
    const end = place + each.text.length;
    const start = place;
    while (place < end) {
      while ((spans[next]?.end ?? Number.POSITIVE_INFINITY) <= place) next++;
      const span = spans[next];
      const isWithin = span !== undefined && span.start <= place;
      const until = Math.min(end, isWithin ? span.end : (span?.start ?? end));
      const text = each.text.slice(place - start, until - start);
      parts.push(isWithin ? { ...each, ...reasonOf(span, each), text } : { ...each, text });
      place = until;
    }
  }
  return parts;
}

/** A link of the job's own goes before one that is found in its text. */
function reasonOf({ href, mark }: Span, text: MarkedText): Partial<MarkedText> {
  return { href: text.href ?? href, ...(mark && { mark }) };
}
