import { sizeInWords } from "../../../shared/refusal.ts";
import { requireRefusedRequest } from "../../../shared/triggers/deliveries/refused-requests.ts";
import { loadReceiver } from "../address/provider.ts";
import { causeWords } from "../deliveries/causes.ts";
import { memberPage } from "../ui/member-page.ts";
import { Fact } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";

/** GET …/triggers/:trigger/refused/:request: the request, without secrets. */
export const refusedRequestPage = memberPage(async (services, request) => {
  const { trigger } = await loadReceiver(services, request);
  const refused = await requireRefusedRequest(services, trigger.id, request.parameter("request"));
  const [cause, remedy] = causeWords[refused.cause];
  return {
    title: "Refused request",
    section: "pipelines",
    content: (
      <>
        <h1>Refused request</h1>
        <dl class="facts panel">
          <dt>Cause</dt>
          <dd>
            {cause}. {remedy}
          </dd>
          <Fact name="Received" value={<Time at={refused.receivedAt} />} />
          <Fact name="From" value={refused.network} />
          <Fact name="Query" value={refused.query !== "" && <code>{refused.query}</code>} class="wide" />
        </dl>
        <section aria-labelledby="headers">
          <h2 id="headers">Headers</h2>
          <p class="quiet">Values that may be secrets are not kept, nor are those of the query.</p>
          <dl class="facts">
            {refused.headers.map(([name, value]) => (
              <>
                <dt>
                  <code>{name}</code>
                </dt>
                <dd class="wide">{value ?? <span class="quiet">not kept</span>}</dd>
              </>
            ))}
          </dl>
        </section>
        <Body size={refused.size} body={refused.body} />
      </>
    ),
  };
});

function Body({ size, body }: { size: number | null; body: Buffer | null }) {
  return (
    <section aria-labelledby="body">
      <h2 id="body">Body</h2>
      {size === null ? (
        <p class="empty">It was refused before its body was read.</p>
      ) : body === null ? (
        <p class="empty">
          {sizeInWords(size)}, not kept. It may hold secrets: the trigger’s page switches bodies on for an
          hour.
        </p>
      ) : (
        <>
          <p class="quiet">
            {sizeInWords(size)}
            {size > body.length && `, of which the first ${sizeInWords(body.length)} are kept`}
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling area */}
          <pre class="payload" tabIndex={0}>
            {body.toString("utf8").replaceAll("\0", "�")}
          </pre>
        </>
      )}
    </section>
  );
}
