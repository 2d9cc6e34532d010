// Judges the rows of a list against the records of a CRM, from raw data alone and with nothing of this project: no import, another
// algorithm, and only what docs/lists.md says of verdicts. The tests hold the verdicts of `paydirt lists` against it.
//
// In: one JSON document on standard input: { rows, records: [{ id, name, domains, profiles }], suppressed, excluded, requires }.
// Out: a list of { verdict, records } in the order of the rows.
//
// All clues of rows and records are laid into one long list, sorted, and walked group by group, so that each row meets the
// records that share a clue with it. Nothing is looked up in an index.
import { text } from 'node:stream/consumers'
import { domainToASCII } from 'node:url'

/** Suffixes of two parts under which anybody can have a domain, as far as the worlds of the tests have them. */
const pairs = new Set(['co.uk', 'com.au', 'co.jp', 'github.io'])
const mailboxes = new Set(['gmail.com', 'gmx.de', 'outlook.com', 'web.de'])

/** Cuts a web address down to the domain that somebody owns, without a parser of addresses. */
function ownDomain(given) {
  let rest = String(given ?? '').trim()
  const scheme = rest.indexOf('://')
  if (scheme >= 0) rest = rest.slice(scheme + 3)
  for (const end of ['/', '?', '#', ':']) {
    const at = rest.indexOf(end)
    if (at >= 0) rest = rest.slice(0, at)
  }
  while (rest.endsWith('.')) rest = rest.slice(0, -1)
  const labels = domainToASCII(rest.toLowerCase()).split('.')
  if (labels.length < 2 || labels.some((label) => label === '')) return null
  const kept = pairs.has(labels.slice(-2).join('.')) ? 3 : 2
  if (labels.length < kept) return null
  const own = labels.slice(-kept).join('.')
  return mailboxes.has(own) ? null : own
}

/** Returns the name in the address of a company's profile, on whichever host of the network and however it is written. */
function slugOf(given) {
  const found =
    /^(?:https?:\/\/)?(?:[a-z0-9]+\.)*profnet\.(?:com|example)(?::\d+)?\/company\/([^/?#]+)/i.exec(
      String(given ?? '').trim(),
    )
  return found ? decodeURIComponent(found[1]).normalize('NFC').toLowerCase() : null
}

/** Drops a legal form and everything but letters and digits. */
function plainName(given) {
  return String(given ?? '')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\s,]+(gmbh|inc|ltd)\.?$/u, '')
    .replace(/[^\p{L}\p{N}]/gu, '')
}

const { rows, records, suppressed, excluded, requires } = JSON.parse(await text(process.stdin))
const clues = []
const note = (kind, value, side, at) => {
  if (value) clues.push({ clue: `${kind} ${value}`, side, at })
}
for (const [at, { domain, profnet_url: profile, company_name: name }] of rows.entries()) {
  note('profile', slugOf(profile), 'row', at)
  note('domain', ownDomain(domain), 'row', at)
  note('name', plainName(name), 'row', at)
}
for (const [at, { name, domains, profiles }] of records.entries()) {
  for (const profile of profiles) note('profile', slugOf(profile), 'record', at)
  for (const domain of domains) note('domain', ownDomain(domain), 'record', at)
  note('name', plainName(name), 'record', at)
}
for (const domain of suppressed) note('domain', ownDomain(domain), 'suppressed', 0)
for (const domain of excluded) note('domain', ownDomain(domain), 'excluded', 0)
clues.sort((a, b) => (a.clue < b.clue ? -1 : a.clue > b.clue ? 1 : 0))

const seen = rows.map(() => ({
  profile: new Set(),
  domain: new Set(),
  name: new Set(),
  marks: new Set(),
  domainMates: [],
  profileMates: [],
}))
for (let from = 0; from < clues.length;) {
  let to = from
  while (to < clues.length && clues[to].clue === clues[from].clue) to += 1
  const group = clues.slice(from, to)
  const kind = clues[from].clue.split(' ', 1)[0]
  const mates = group.filter(({ side }) => side === 'row').map(({ at }) => at)
  for (const row of mates) {
    for (const { side, at } of group) {
      if (side === 'record') seen[row][kind].add(at)
      else if (side !== 'row') seen[row].marks.add(side)
    }
    if (kind !== 'name') seen[row][`${kind}Mates`] = mates.filter((mate) => mate < row)
  }
  from = to
}

const idsSeen = new Map()
const verdicts = []
for (const [at, row] of rows.entries()) verdicts.push(judge(at, row))
process.stdout.write(JSON.stringify(verdicts))

function judge(at, row) {
  const { profile, domain, name, marks, domainMates, profileMates } = seen[at]
  const id = row.domain_search_id
  if (!id) return { verdict: 'drifted', records: [] }
  const isRepeated = idsSeen.has(id)
  if (!isRepeated) idsSeen.set(id, at)
  if (marks.has('suppressed')) return { verdict: 'suppressed', records: [] }
  if (marks.has('excluded')) return { verdict: 'excluded', records: [] }
  const isReal = (mate) => rows[mate].domain_search_id
  const hasProfile = slugOf(row.profnet_url) !== null
  const isSameCompany =
    profileMates.some(isReal) ||
    (!hasProfile && domainMates.some((mate) => isReal(mate) && slugOf(rows[mate].profnet_url) === null))
  if (isRepeated || isSameCompany) return { verdict: 'duplicate', records: [] }
  const named = (ids) => [...ids].map((each) => records[each].id).sort()
  for (const found of [profile, domain]) {
    if (found.size === 0) continue
    const others = [...found].filter((each) => {
      const theirs = records[each].profiles.map(slugOf).filter(Boolean)
      return hasProfile && theirs.length > 0 && !theirs.includes(slugOf(row.profnet_url))
    })
    return {
      verdict: found.size === 1 && others.length === 0 ? 'exists' : 'ambiguous',
      records: named(found),
    }
  }
  if (name.size > 0) return { verdict: 'possible', records: named(name) }
  if (requires.some((field) => !row[field])) return { verdict: 'incomplete', records: [] }
  if (domainMates.some((mate) => verdicts[mate].verdict === 'new'))
    return { verdict: 'ambiguous', records: [] }
  return { verdict: 'new', records: [] }
}
