import type { IdentityField } from './column-names.ts'

/** Words that people and spreadsheets write where they have no value. */
const blankWords = new Set(
  [
    'n/a',
    'n.a.',
    'n.a',
    '#n/a',
    '#value!',
    '#ref!',
    '#name?',
    'none',
    '(none)',
    'not available',
    'tbd',
    '?',
  ].concat(['[none]', '(blank)', '(empty)', '<null>', '(null)', 'no e-mail', 'no email', 'no website']),
)
/** Words that are blanks too, except in a name: people and companies are called Null, Na and Unknown. */
const blankButInNames = new Set(['na', 'null', 'nil', 'nan', 'undefined', 'unknown'])
const names = new Set<IdentityField | undefined>(['firstName', 'lastName', 'company'])
/** Dashes, dots and underscores alone. */
const strokes = /^[-‐‑‒–—―−_.·*/\\]+$/u
/** Marks without a width, which copying from web pages leaves at the ends of a cell. */
const invisibleEnds = /^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu

/** Most cells begin and end with a letter or digit of ASCII: nothing is to be taken off. */
const bare = /^[A-Za-z0-9](?:[^]*[A-Za-z0-9])?$/

/**
 * Returns what a person means by a cell: without marks that cannot be seen at its ends, without what a spreadsheet puts
 * around text to keep it text (`="…"`, a leading apostrophe), and blank where the cell says that it has no value.
 */
export function cellText(cell: string | undefined, field?: IdentityField): string {
  if (cell !== undefined && bare.test(cell)) return isBlankWord(cell, field) ? '' : cell
  const trimmed = (cell ?? '').replace(invisibleEnds, '')
  const inner = /^="([^"]*)"$/.exec(trimmed)?.[1]?.replace(invisibleEnds, '') ?? trimmed
  // In front of other characters an apostrophe belongs to a name ('t Hart).
  const text = /^'[=+@\d-]/.test(inner) ? inner.slice(1) : inner
  return isBlankWord(text, field) ? '' : text
}

function isBlankWord(text: string, field: IdentityField | undefined): boolean {
  if (text.length > 20) return false
  const word = text.toLowerCase()
  return blankWords.has(word) || strokes.test(word) || (!names.has(field) && blankButInNames.has(word))
}
