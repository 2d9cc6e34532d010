import { canonicalDomain, canonicalProfileUrl } from '../keys.ts'
import { fitText, fromCrm, toCrm } from '../mapping/convert.ts'
import { identityOfValues } from '../identity.ts'
import { matchOption, matchOptions } from '../mapping/option.ts'
import { foldCompanyName } from '../normalise/company.ts'
import { countryCode } from '../normalise/country.ts'
import { canonicalNetworkUrl } from '../normalise/network-url.ts'
import { bareHost, canonicalUrl, registrableDomain } from '../normalise/domain.ts'
import { canonicalEmail } from '../normalise/email.ts'
import { letters } from '../normalise/near-names.ts'
import { phoneE164, phoneWithExtension } from '../normalise/phone.ts'
import { foldPersonName, foldText } from '../normalise/text.ts'
import { contactSearch } from '../planning/contact-keys.ts'
import { jobChangeOf } from '../planning/job-change.ts'
import { sameValue } from '../field-policy/same-value.ts'
import { identifiersOf } from '../subjects/identifiers.ts'
import { identifiersOfKey } from '../subjects/traces.ts'
import type { LookupKey } from '../keys.ts'
import { checkValue } from './check-value.ts'
import { identityFault, valuesFault } from './gate.ts'
import { parseNumber } from './number.ts'
import { textFault } from './text-fault.ts'
import { webAddressFault } from './web-address.ts'

const field = { name: 'x', label: 'X', writable: true, custom: false } as const
const industries = { options: ['Robots', 'Food'].map((label) => ({ label, value: label.toUpperCase() })) }

/** Everything that folds, reads or checks a text from outside. */
export const normalisers: Record<string, (text: string) => unknown> = {
  canonicalProfileUrl: (text) => canonicalProfileUrl('company', text),
  canonicalDomain,
  registrableDomain,
  canonicalNetworkUrl: (text) => canonicalNetworkUrl('tiktok_url', text),
  bareHost,
  canonicalUrl,
  canonicalEmail,
  phoneE164: (text) => phoneE164(text, 'DE'),
  phoneWithExtension,
  countryCode,
  foldText,
  foldCompanyName,
  foldPersonName,
  letters,
  parseNumber: (text) => parseNumber(text, 'DE'),
  textFault: (text) => textFault(text, Infinity),
  webAddressFault,
  fitText: (text) => fitText(text, 60_000),
  matchOption: (text) => matchOption(text, industries),
  matchOptions: (text) => matchOptions([text], industries),
  identityFault: (text) => identityFault({ company: text, email: text, profileUrl: text }),
  valuesFault: (text) => valuesFault({ about: text }),
  contactSearch: (text) => contactSearch({ email: text, phone: text }),
  identifiersOf: (text) => identifiersOf({ email: text, phone: text, profileUrl: text, domain: text }),
  identifiersOfKey: (text) => identifiersOfKey(`contact.lookup|${text}` as LookupKey),
  identityOfValues: (text) => identityOfValues('person', { full_name: text, email: text }),
  jobChangeOf: (text) =>
    jobChangeOf({ company_name: text, job_title: text }, { company_name: 'a', job_title: 'b' }),
  ...Object.fromEntries(
    (['text', 'number', 'date', 'url', 'email', 'phone', 'boolean', 'option', 'options'] as const).flatMap(
      (type) => [
        [
          `toCrm ${type}`,
          (text: string) => toCrm(text, { ...field, ...industries, type, maxLength: 60_000 }),
        ],
        [`fromCrm ${type}`, (text: string) => fromCrm(text, { type }, { as: 'country_code' })],
      ],
    ),
  ),
  ...Object.fromEntries(
    [
      'email',
      'phone',
      'domain',
      'website',
      'profnet_url',
      'country_code',
      'employees',
      'industry',
      'about',
    ].map((name) => [`sameValue ${name}`, (text: string) => sameValue(name, text, `${text} `, 'DE')]),
  ),
  ...Object.fromEntries(
    (
      [
        'label',
        'text',
        'url',
        'company_profile',
        'domain',
        'email',
        'phone',
        'country',
        'year',
        'count',
      ] as const
    ).map((kind) => [`checkValue ${kind}`, (text: string) => checkValue(kind, text)]),
  ),
}

/** Each makes a text of about this length in which a careless expression looks at every character for every character. */
const hostileTexts: Record<string, (length: number) => string> = {
  'one letter': (n) => 'a'.repeat(n),
  digits: (n) => `${'1'.repeat(n)}x`,
  'white space': (n) => `a${' '.repeat(n)}b`,
  slashes: (n) => `https://acme.example${'/'.repeat(n)}x`,
  'question marks': (n) => `a@b.example${'?'.repeat(n)}\nx`,
  'open brackets': (n) => `${'<'.repeat(n)}x`,
  'brackets and spaces': (n) => '<a> '.repeat(n / 4),
  'at signs': (n) => `${'a@'.repeat(n / 2)} `,
  dots: (n) => `a@${'a.'.repeat(n / 2)}@`,
  'Japanese legal forms': (n) => '(株)'.repeat(n / 3),
  'legal forms': (n) => 'the inc '.repeat(n / 8),
  titles: (n) => 'dr mba '.repeat(n / 7),
  abbreviations: (n) => `${'a.'.repeat(n / 2)}aa`,
  groups: (n) => '1,000'.repeat(n / 5),
  'crossed marks': (n) => `a${'\u0301'.repeat(n / 2)}${'\u0323'.repeat(n / 2)}`,
  'scattered characters': (n) =>
    `https://${Array.from({ length: n / 2 }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000))).join('')}.example`,
  percents: (n) => `https://profnet.example/company/${'%00'.repeat(n / 3)}`,
  subdomains: (n) => `https://${'de.'.repeat(n / 3)}example/company/x`,
  separators: (n) => 'a;b,'.repeat(n / 4),
  'and signs': (n) => '& and_and_ '.repeat(n / 11),
  surrogates: (n) => '\ud83e\udd16'.repeat(n / 2),
}

const made = new Map<string, string>()

function hostileText(name: string, shape: (length: number) => string, length: number): string {
  const text = made.get(`${name} ${length}`) ?? shape(length)
  made.set(`${name} ${length}`, text)
  return text
}

/** Returns the processor time of one call in microseconds, the least of a few. */
function cost(work: () => unknown): number {
  let least = Infinity
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, user + system)
    if (least < noise) return least
  }
  return least
}

/** Below this many microseconds a measurement says more about the machine than about the code. */
const noise = 20_000

/**
 * Returns the hostile texts with which the time grows faster than their length: 16 times the length may take 48 times as
 * long, not 256 times. A quarter of the way is measured first, so that the square of the length is never waited for.
 */
export function slowTexts(work: (text: string) => unknown, longest: number): string[] {
  return Object.entries(hostileTexts).flatMap(([name, shape]) => {
    const timed = (length: number) => {
      const text = hostileText(name, shape, length)
      return cost(() => work(text))
    }
    const least = Math.max(timed(longest / 16), noise / 16)
    for (const times of [4, 16]) {
      const taken = timed((longest / 16) * times)
      if (taken > noise && taken > 3 * times * least)
        return [`${name}: ${Math.round(taken)} us for ${times} times the text of ${Math.round(least)} us`]
    }
    return []
  })
}
