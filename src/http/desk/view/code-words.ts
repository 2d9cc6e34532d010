import type { ConversionCode } from '../../../domain/mapping/convert.ts'
import { html } from 'hono/html'
import { hasMissingOption } from '../../../domain/planning/missing-option.ts'
import type { Markup } from './parts.ts'

/** The meanings of our own codes. The documentation of a CRM explains those of the CRM. */
const meanings: Readonly<Record<ConversionCode | 'READ_ONLY', string>> = {
  BLANK: 'there is no value',
  NOT_A_NUMBER: 'not a number',
  NOT_A_BOOLEAN: 'neither yes nor no',
  NOT_A_DATE: 'not a date',
  NO_SUCH_OPTION: 'none of the options of the property',
  NOT_A_PHONE: 'not a phone number',
  NOT_A_COUNTRY: 'not a country',
  NOT_A_URL: 'not a web address',
  NOT_AN_EMAIL: 'not an e-mail address',
  TOO_LONG: 'too long for the property',
  NOT_PLAIN: 'the property does not hold plain values',
  READ_ONLY: 'the property cannot be written',
}

/** Returns what a code of ours means, and a CRM's own code as it is: the words behind the short ones of `refusalWords`. */
export function codeMeaning(code: string): string {
  return Object.hasOwn(meanings, code) ? meanings[code as keyof typeof meanings] : code
}

/** Names the command that lists the values of a picklist that no option stands for. */
export function optionsLine(connector: string, reasons: readonly { reason: string }[]): Markup | string {
  if (!hasMissingOption(reasons)) return ''
  return html`<p>
    <code>paydirt options ${connector}</code> lists the values that are no option of their picklist.
  </p>`
}
