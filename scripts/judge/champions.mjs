// Judges champions, from the records of a CRM and the answers of the service alone, and with nothing of this project: no import, and only
// what docs/champions.md says. The tests hold verdicts and records of `paydirt champions run` against it.
//
// In: one JSON document: { champions: [{ id, slug, before, after }], companies, records }. `before` and `after` are the person's
// employment_history at the check before and now, `companies` the answers about employers by slug, `records` all records of people before
// this check: { id, slug, firstName, lastName, mailDomain }.
// Out: { ID: { outcome, to, at } }. `to` is the domain of the new employer; `at` the record there, 'new' where one is to be made.
import { text } from 'node:stream/consumers'

const slugOf = (url) => {
  const [, slug] = /\/company\/([^/?#]+)/.exec(url ?? '') ?? []
  return slug === undefined ? null : decodeURIComponent(slug).toLowerCase()
}
const positionsOf = (job) => job.positions ?? []
const isToday = ({ end_date }) => /^(present|current|now|today)$/i.test((end_date ?? '').trim())
const goesOn = (job) => positionsOf(job).some(isToday)
const hasEnded = (job) =>
  positionsOf(job).length > 0 && positionsOf(job).every(({ end_date }) => /\d{4}/.test(end_date ?? ''))
const plain = (words) =>
  (words ?? '')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
const titleOf = (job) => positionsOf(job).find(isToday)?.title ?? job.title

function judge({ champions, companies, records }) {
  const domainOf = (slug) => {
    const domain = companies[slug]?.domain ?? companies[slug]?.unique_domain
    return domain ? domain.toLowerCase().replace(/^www\./, '') : null
  }
  const bySlug = Map.groupBy(records, ({ slug }) => slug)
  const byName = Map.groupBy(
    records,
    (each) => `${plain(each.firstName)} ${plain(each.lastName)} ${each.mailDomain}`,
  )

  function outcomeOf({ before, after }) {
    const [known] = before.filter(goesOn)
    const own = slugOf(known.profnet_url)
    const today = after.filter(goesOn)
    const slugs = [...new Set(today.map(({ profnet_url }) => slugOf(profnet_url)))]
    if (slugs.length > 1) return { outcome: 'unclear' }
    if (slugs.length === 0)
      return {
        outcome:
          after.some((job) => slugOf(job.profnet_url) === own) && after.every(hasEnded) ? 'left' : 'unknown',
      }
    const [slug] = slugs
    const isOther = plain(titleOf(today[0])) !== plain(titleOf(known))
    if (slug === own) return { outcome: isOther ? 'promoted' : 'stays' }
    if (domainOf(slug) !== null && domainOf(slug) === domainOf(own)) return { outcome: 'renamed' }
    return { outcome: 'moved', to: domainOf(slug) }
  }

  return Object.fromEntries(
    champions.map((champion) => {
      const { outcome, to = null } = outcomeOf(champion)
      if (outcome !== 'moved') return [champion.id, { outcome, to: null, at: null }]
      const own = records.find(({ id }) => id === champion.id)
      const named = byName.get(`${plain(own.firstName)} ${plain(own.lastName)} ${to}`) ?? []
      const there = [...(bySlug.get(champion.slug) ?? []), ...named].find(({ id }) => id !== champion.id)
      return [champion.id, { outcome, to, at: there?.id ?? 'new' }]
    }),
  )
}

process.stdout.write(JSON.stringify(judge(JSON.parse(await text(process.stdin)))))
