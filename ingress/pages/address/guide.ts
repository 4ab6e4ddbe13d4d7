import { pathTo, patterns } from "../../../shared/paths.ts";

/** The chapter about filters of triggers. */
export const filtersGuide = `${pathTo(patterns.guide, { page: "webhooks" })}#filters`;

/** The guide to the members of steps. */
export const stepsGuide = pathTo(patterns.guide, { page: "steps" });

/** Its chapter about conditions. */
export const conditionsGuide = `${stepsGuide}#conditions`;

/** Its chapter about commands that run without checkout, and about keys for one. */
export const checkoutGuide = `${stepsGuide}#checkout`;
