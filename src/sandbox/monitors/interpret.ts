import { filterNames, type MonitorFields } from './monitor.ts'

/** Words of a sentence that stand for a source of signals. */
const topics: readonly [RegExp, string][] = [
  [/\b(expan\w*|enter\w*|mov(e|es|ing) in\w*|launch\w* in|new markets?|open\w*)\b/i, 'expansions'],
  [/\b(hir(e|es|ing)|jobs?|vacanc\w+|recruit\w*)\b/i, 'jobs'],
  [/\b(news|press|announce\w*)\b/i, 'news'],
  [/\b(ads?|advertis\w+|campaigns?)\b/i, 'advertisements'],
  [/\b(clouds?|regions?|data cent(er|re)s?)\b/i, 'clouds'],
  [/\b(events?|conferences?|trade fairs?)\b/i, 'events'],
]

const stages = ['Exploring', 'Committing', 'Expanding', 'Scaling']

const countryCodes =
  'AE AR AT AU BE BR CA CH CL CN CO CZ DE DK EG ES FI FR GB GR HK HU ID IE IL IN IT JP KR MX MY NG NL NO NZ PE PH PL PT RO SA SE SG TH TR TW UA US VN ZA'.split(
    ' ',
  )
const english = new Intl.DisplayNames('en', { type: 'region' })
const countries = countryCodes.map((code) => ({ code, name: english.of(code)!.toLowerCase() }))

/**
 * Returns the draft of a monitor that a sentence describes; null for a sentence without a word for any signal. A domain in
 * it is a company to track. Nothing is stored. The real service's reading is not shown: this one knows a few words.
 */
export function interpret(sentence: string): MonitorFields | null {
  const types = topics.filter(([words]) => words.test(sentence)).map(([, type]) => type)
  if (types.length === 0) return null
  const domains = sentence.toLowerCase().match(/\b[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}\b/g) ?? []
  const named = (text: string) => countries.filter(({ name }) => text.includes(name)).map(({ code }) => code)
  const lower = sentence.toLowerCase()
  const from = /\bfrom\s+(.*?)(?=\b(?:to|in|into|that|which|who)\b|$)/.exec(lower)?.[1] ?? ''
  const found: Record<string, string[]> = {
    stages: stages.filter((stage) => lower.includes(`stage ${stage.toLowerCase()}`)),
    froms: named(from),
    tos: named(lower.replace(from, '')),
  }
  return {
    name: sentence.trim().slice(0, 80),
    status: 'draft',
    detection_mode: domains.length > 0 ? 'company_first' : 'signal_first',
    signal_types: types,
    filters: Object.fromEntries(
      filterNames.flatMap((name) => (found[name]?.length ? [[name, found[name]]] : [])),
    ),
    // A company's id is its domain with two letters in front.
    domain_search_ids: [...new Set(domains)].map((domain) => `ds-${domain}`),
    webhook_url: null,
    webhook_headers: {},
  }
}
