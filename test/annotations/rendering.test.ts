import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { renderMarkdown } from "../../shared/annotations/rendering/render.ts";
import { renderAsText } from "../../shared/annotations/rendering/render-as-text.ts";
import { renderOffLoop } from "../../shared/annotations/rendering/renderer.ts";

const rel = 'rel="nofollow noopener noreferrer"';

describe("the HTML of an annotation", () => {
  const cases: Record<string, [markdown: string, html: string]> = {
    "has tables, with the alignment as a class": [
      "|a|b|\n|:-:|-:|\n|1|2|",
      '<table>\n<thead>\n<tr>\n<th class="center">a</th>\n<th class="right-align">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td class="center">1</td>\n<td class="right-align">2</td>\n</tr>\n</tbody>\n</table>\n',
    ],
    "has strikethrough and links, not of names of files": [
      "~~a~~ https://a.example/x README.md",
      `<p><s>a</s> <a href="https://a.example/x" ${rel}>https://a.example/x</a> README.md</p>\n`,
    ],
    "has no boxes for tasks": ["- [ ] a", "<ul>\n<li>[ ] a</li>\n</ul>\n"],
    "keeps allowed elements, and Markdown in them": [
      "<details open><summary>more</summary>\n\n**b**\n\n</details>\n<dl><dt>t</dt><dd>d</dd></dl>",
      "<details open><summary>more</summary>\n<p><strong>b</strong></p>\n</details>\n<dl><dt>t</dt><dd>d</dd></dl>",
    ],
    "keeps classes of its list only": [
      '<span class="term-fg31 bold danger x">a</span>',
      '<p><span class="term-fg31 bold">a</span></p>\n',
    ],
    "shows the output of a terminal with its colors, and without its other controls": [
      "```term\n\x1b[31;1mred\x1b[0m <b>&\x1b[?25l\n--- \x1b[38;5;9;44mbright\n\x1b[7mon\x1b[0m\n```\n~~~ terminal x\n\x1b]8;;https://a.example\x07a\x1b]8;;\x07\n~~~",
      `<pre><code><span class="term-fg1 term-fg31">red</span> &lt;b&gt;&amp;\n--- <span class="term-fgi91 term-bg44">bright</span>\n<span class="term-fgi91 term-bg44">on</span>\n</code></pre>\n<pre><code><a href="https://a.example/" ${rel}>a</a>\n</code></pre>\n`,
    ],
    "shows other code as it is": [
      "```sh\n\x1b[31mx\n```\n```terms\n<a>\n```",
      "<pre><code>\x1b[31mx\n</code></pre>\n<pre><code>&lt;a&gt;\n</code></pre>\n",
    ],
    "has no style, id or handler": [
      '<div style="position:fixed" id="main" onclick="x()" data-events="/e">a</div>',
      "<div>a</div>",
    ],
    "has no script or form; the text of other elements stays": [
      "<script>x()</script><style>x</style><form action=/x><button>b</button></form><iframe src=x></iframe>",
      "b",
    ],
    "has relative links, and links to mail": [
      '<a href="/a">a</a> <a href="b#c">b</a> <a href="mailto:a@b.example">c</a>',
      `<p><a href="/a" ${rel}>a</a> <a href="b#c" ${rel}>b</a> <a href="mailto:a@b.example" ${rel}>c</a></p>\n`,
    ],
    "has no address of another scheme": [
      '<a href="javascript:x()">a</a> <a href=" java&#10;script:x()">b</a> <a href="data:text/html,x">c</a> <a href="//d.example">d</a>',
      `<p><a ${rel}>a</a> <a ${rel}>b</a> <a ${rel}>c</a> <a ${rel}>d</a></p>\n`,
    ],
    "makes links of pictures from elsewhere": [
      '![alt](https://a.example/x.png) <img src="http://a.example/y.png">',
      `<p><a href="https://a.example/x.png" ${rel}>alt</a> <a href="http://a.example/y.png" ${rel}>http://a.example/y.png</a></p>\n`,
    ],
    "has the text of a picture in a link, and of one without an address of its own": [
      '[![alt](https://a.example/x.png)](https://b.example) <img src="/sign-out" alt="<b>"> <img src="data:image/png;base64,x" alt="c">',
      `<p><a href="https://b.example" ${rel}>alt</a> &lt;b&gt; c</p>\n`,
    ],
    "keeps addresses of artifacts": [
      '![a](artifact://x/a.png) <img src="artifact://x/b c.png" onerror="x()"> [c](artifact://c.html)',
      `<p><img src="artifact://x/a.png" alt="a" /> <img src="artifact://x/b c.png" /> <a href="artifact://c.html" ${rel}>c</a></p>\n`,
    ],
  };
  for (const [title, [markdown, html]] of Object.entries(cases))
    it(title, () => {
      assert.equal(renderMarkdown(markdown), html);
    });

  it("never leaves its place: what it opens it closes, and it closes nothing else", () => {
    const html = renderMarkdown("</section></main><ul><li><table><tr><td>x</div></article>");
    assert.equal(html, "<ul><li><table><tr><td>x</td></tr></table></li></ul>");
  });

  it("is text if it would have over 3 characters a byte of a large body", () => {
    assert.match(renderMarkdown("-\n".repeat(400_000)), /<pre>-\n-\n/);
  });

  it("is text if the output of a terminal has too many lines or colors", () => {
    for (const output of ["\n".repeat(300_000), "\x1b[1m.\x1b[m.\n".repeat(100_000)])
      assert.match(renderMarkdown(`\`\`\`term\n${output}\n\`\`\``), /<pre>`/);
  });

  it("is text if the parsers would build too much, or if addresses would be repeated without end", () => {
    const megabyte = 1024 * 1024;
    const fill = (text: string) => text.repeat(megabyte / text.length);
    const bodies = {
      emphasis: fill("*a **b "),
      rows: `|a|b|\n|-|-|\n${fill("|a|b|\n")}`,
      elements: fill("<b>"),
      addresses: `[a]: /${"x".repeat(megabyte / 2)}\n\n${"[a]".repeat(megabyte / 6)}`,
    };
    for (const [name, body] of Object.entries(bodies))
      assert.equal(renderMarkdown(body), renderAsText(body), name);
  });

  it("has only elements and attributes of the lists, whatever the body is", () => {
    const part = fc.constantFrom(
      ...[
        "<",
        ">",
        "</",
        "/>",
        '"',
        "'",
        "=",
        " ",
        "\n",
        "\n\n",
        "`",
        "```\n",
        "![",
        "](",
        ")",
        "[",
        "&lt;",
        "&#60;",
        "&",
        ";",
      ],
      ...[
        "a",
        "img",
        "script",
        "svg",
        "math",
        "style",
        "table",
        "td",
        "div",
        "details",
        "textarea",
        "title",
        "noscript",
      ],
      ...[
        "href",
        "src",
        "alt",
        "onerror",
        "class",
        "style",
        "id",
        "artifact://x",
        "javascript:x()",
        "https://x",
        "<!--",
        "-->",
        "<![CDATA[",
        "\u0000",
        "\u0001",
      ],
    );
    const allowed =
      /^<(?:\/?(?:h[1-6]|p|div|span|br|hr|blockquote|pre|code|em|strong|s|del|a|ul|ol|li|dl|dt|dd|details|summary|table|caption|thead|tbody|tfoot|tr|th|td)|img)(?: (?:href|title|src|alt|class|rel|width|height|start|colspan|rowspan)="[^"<>]*"| open(?:="[^"<>]*")?)*(?: \/)?>$/;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const html = renderMarkdown(parts.join(""));
        for (const [tag] of html.matchAll(/<[^>]*>?/g)) assert.match(tag, allowed);
        for (const [, address = ""] of html.matchAll(/ (?:href|src)="([^"]*)"/g))
          assert.match(address, /^(?:https?:|mailto:|artifact:|(?![a-z\d+.-]*:|\/\/))/i);
        for (const [, address = ""] of html.matchAll(/ src="([^"]*)"/g)) assert.match(address, /^artifact:/);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("the threads that render", () => {
  it("let no small body wait for a large one that is made to be slow", async () => {
    const done: number[] = [];
    const bodies = ["[".repeat(150_000), "**a**"];
    await Promise.all(
      bodies.map(async (body) => {
        const html = await renderOffLoop(body, assert.fail);
        done.push(html.length);
      }),
    );
    assert.deepEqual(done, [26, 150_008]);
  });
});

describe("the text of a body that cannot be rendered", () => {
  it("is escaped, and cut", () => {
    assert.match(renderAsText('<b>&"'), /<pre>&lt;b&gt;&amp;&quot;<\/pre>\n$/);
    assert.match(renderAsText("x".repeat(300_000)), /up to 256 KB.*\n<pre>x{262144}\n…<\/pre>\n$/);
  });
});

describe("a body that would become much larger HTML", () => {
  it("is shown as text, and says so", () => {
    const body = `[a]: https://example.com/${"x".repeat(7000)}\n\n${"[a] ".repeat(410)}`;

    const html = renderMarkdown(body);

    assert.ok(html.length < 8 * body.length, `${body.length} characters became ${html.length}`);
    assert.match(html, /is shown as text/);
    assert.match(html, /\[a\] \[a\]/);
  });

  it("is HTML if it is an honest table of a megabyte", () => {
    const row = "| signs in with a code of a device | failed | 1.2 s |\n";
    const body = `| Test | State | Time |\n|---|---|---|\n${row.repeat(15_000)}`;

    assert.match(renderMarkdown(body), /<td>signs in/);
  });

  it("is text before much of it is made: cells that nobody wrote", () => {
    const wide = `${"|a".repeat(1000)}|\n${"|-".repeat(1000)}|\n${"|\n".repeat(150)}`;
    const honest = `|a|b|c|\n|-|-|-|\n${"|some|cell|text|\n".repeat(2500)}`;

    assert.match(renderMarkdown(wide), /is shown as text/);
    assert.match(renderMarkdown(honest), /<td>some/);
    assert.ok(cpuMsToRender(wide) < 2 * cpuMsToRender(honest));
  });
});

/** Without the time that the machine gives to others. */
function cpuMsToRender(body: string): number {
  const times = [1, 2, 3].map(() => {
    const before = process.threadCpuUsage();
    renderMarkdown(body);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}
