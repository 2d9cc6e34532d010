import { Option } from 'commander'
import type { ObjectKind } from '../../domain/words.ts'

/** The purchases of each built-in recipe for each kind of record. A test holds it against the recipes themselves. */
export const recipeTexts: Readonly<Record<string, Readonly<Record<ObjectKind, string>>>> = {
  profile: {
    company: 'the profile of their profile URL, and the logo',
    person: 'the profile of their profile URL',
  },
  contact: {
    company: 'the same, also found by domain',
    person: 'found by e-mail, phone or name; work e-mails and phones revealed',
  },
  full: {
    company: 'contact, and enriched by direct access (half a minute or more)',
    person: "contact, the profile of their profile URL, and the employer's profile and logo",
  },
}

export function recipeOption(): Option {
  return new Option(
    '--recipe <name>',
    'what to find out and buy, see below (default: `recipe` in paydirt.config.ts, else profile)',
  )
}

/** The paragraph of the help to which `--recipe` points. */
export const recipeNote = `Recipes, besides those of paydirt.config.ts:
${Object.entries(recipeTexts)
  .flatMap(([name, { company, person }]) => [
    `  ${name.padEnd(8)}  companies: ${company}`,
    `  ${''.padEnd(8)}  people: ${person}`,
  ])
  .join('\n')}`
