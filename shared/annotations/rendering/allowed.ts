// The HTML that an annotation may have. No inline style, no id, no script: its authors are strangers to its readers.

/** The elements of CommonMark, and those of HTML that people lay out annotations with. */
export const allowedTags = [
  ...["h1", "h2", "h3", "h4", "h5", "h6", "p", "div", "span", "br", "hr", "blockquote", "pre", "code"],
  ...["em", "strong", "s", "del", "a", "img", "ul", "ol", "li", "dl", "dt", "dd", "details", "summary"],
  ...["table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"],
];

export const allowedAttributes = {
  a: ["href", "title"],
  img: ["src", "alt", "title", "width", "height"],
  details: ["open"],
  ol: ["start"],
  th: ["colspan", "rowspan"],
  td: ["colspan", "rowspan"],
};

const spaces = [
  ...["m0", "m1", "m2", "mt0", "mt1", "mt2", "mb0", "mb1", "mb2", "ml1", "ml2", "mr1", "mr2"],
  ...["p0", "p1", "p2", "px1", "px2", "py1", "py2"],
];
const colors = [0, 1, 2, 3, 4, 5, 6, 7];

/** `styles/build/annotations/classes.css` has them. No other class of a page may be worn: it would look like a part of it. */
export const allowedClasses = [
  ...["left-align", "center", "right-align", "nowrap", "truncate"],
  ...["bold", "regular", "italic", "caps", "small", "block", "inline-block"],
  ...["flex", "flex-wrap", "flex-column", "flex-auto", "items-center", "justify-between", "justify-center"],
  ...["border", "rounded", "list-reset", ...spaces],
  ...["term-fg1", "term-fg2", "term-fg3", "term-fg4", "term-fg9"],
  ...colors.flatMap((n) => [
    `term-fg${30 + n}`,
    `term-fgi${90 + n}`,
    `term-bg${40 + n}`,
    `term-bgi${100 + n}`,
  ]),
];
