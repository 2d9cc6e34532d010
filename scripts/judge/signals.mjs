// Judges signals of accounts, from the rows that the service has and the settings alone, and with nothing of this project: no import,
// and only what docs/signals.md says. The tests hold records of a CRM, scores and reports of `paydirt signals` against it, day by day.
//
// In: JSON lines. First { types, days, halfLifeDays, points, since }. Then a line a day: { at, accounts: [{ id, company }], rows }. `rows`
// has, by type, all that the service knows of the companies on that day. `company` is null for one that it does not know.
// Out: a line a day: { records: { ID: fields }, report, open }. `open` is the number of jobs that are open by the service, by account.
import { createInterface } from 'node:readline'

const DAY = 86_400_000
const usualDays = { job: 7, news: 3, advertisement: 14, cloud: 30, expansion: 7 }
const reach = { job: 150, news: 90 }
const wholeEvery = 28
const stages = ['Exploring', 'Committing', 'Expanding', 'Scaling']
const names = {
  job: 'Job',
  news: 'News',
  advertisement: 'Advertisement',
  cloud: 'Cloud',
  expansion: 'Expansion',
}

const dayText = (ms) => new Date(ms).toISOString().slice(0, 10)
const midnight = (ms) => Math.floor(ms / DAY) * DAY
const time = (text) => (text === null || text === undefined ? null : Date.parse(text))
const fold = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
const list = (value) => (Array.isArray(value) ? value : value === null || value === undefined ? [] : [value])

/** Returns what a row says, by type: its key, its words, and its times. */
const readers = {
  job: (row) => ({
    key: row.job_search_id,
    title: row.title,
    link: row.job_url ?? row.url ?? null,
    happened: time(row.launch_date),
    seen: time(row.created_at),
    ended: time(row.closed_at),
    words: { functions: list(row.functions), seniority: list(row.seniority_rank) },
  }),
  news: (row) => ({
    key: row.news_search_id,
    title: row.title,
    link: row.source_url ?? row.url ?? null,
    happened: time(row.published_at),
    seen: time(row.created_at),
    ended: null,
    words: { categories: list(row.category), markets: list(row.market) },
  }),
  advertisement: (row) => ({
    key: row.advertisement_search_id,
    title: row.title,
    link: row.advertisement_url,
    strength: row.reach_tier,
    happened: time(row.active_from),
    seen: time(row.created_at),
    // It runs until the end of that day.
    ended: row.active_until === null ? null : time(row.active_until) + DAY,
    words: { providers: list(row.source_type), markets: list(row.target_locations) },
  }),
  cloud: (row) => ({
    key: row.cloud_search_id,
    title: `${row.provider} ${row.region}`,
    link: null,
    happened: null,
    seen: time(row.first_seen_at),
    ended: null,
    words: { providers: list(row.provider), markets: list(row.country_code) },
  }),
  expansion: (row) => ({
    key: `${row.expansion_id}:${row.stage.name}`,
    title: `${row.stage.name} in ${row.to}`,
    link: null,
    strength: row.signal_strength,
    happened: null,
    seen: time(row.latest_signal_at),
    ended: null,
    words: {
      from: list(row.from),
      to: list(row.to),
      markets: list(row.to),
      polarity: list(row.polarity),
      stages: list(row.stage.name),
    },
    entry: { id: row.expansion_id, stage: row.stage.name, direction: row.stage.direction, market: row.to },
  }),
}

/** The day by which a question narrows its rows. */
const narrowedBy = { job: 'created_at', news: 'published_at', expansion: 'latest_signal_at' }

let settings
const accounts = new Map()
let lastRun = null

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue
  const given = JSON.parse(line)
  if (!settings) settings = { ...given, days: { ...usualDays, ...given.days } }
  else process.stdout.write(`${JSON.stringify(judgeDay(given))}\n`)
}

function judgeDay({ at, accounts: given, rows }) {
  const now = Date.parse(at)
  const rowsOf = {}
  for (const type of settings.types) {
    rowsOf[type] = new Map()
    for (const row of rows[type]) {
      const own = rowsOf[type].get(row.domain_search_id)
      if (own) own.push(row)
      else rowsOf[type].set(row.domain_search_id, [row])
    }
  }
  const open = {}
  for (const { id, domain, company } of given) {
    let account = accounts.get(id)
    if (!account || account.domain !== domain) {
      // One that names another company begins anew. What was written of the one before goes, when nobody knows the new one.
      account = { id, domain, signals: new Map(), checks: {}, scores: [] }
      accounts.set(id, account)
    }
    for (const type of settings.types)
      check(account, type, rowsOf[type].get(company) ?? [], company !== null, now)
    account.scores = account.scores.filter(({ day }) => day !== dayText(now))
    account.scores.push({
      day: dayText(now),
      score: scoreOf(account, now).sum,
      stage: position(account)?.stage ?? null,
    })
    account.lastDay = dayText(now)
    open[id] = (rowsOf.job?.get(company) ?? []).filter(
      (row) => row.closed_at === null && time(row.launch_date) >= now - 150 * DAY,
    ).length
  }
  lastRun = dayText(now)
  const records = {}
  for (const { id } of given) records[id] = fieldsOf(accounts.get(id), now)
  return { records, report: reportOf(now), open }
}

/** Makes the check of one type, where it is due. */
function check(account, type, rows, isKnown, now) {
  const last = account.checks[type]
  if (last && now - last.at < settings.days[type] * DAY) return
  const grows = narrowedBy[type] !== undefined
  const isWhole = !last || !grows || now - last.whole >= wholeEvery * DAY
  account.checks[type] = { at: now, whole: isWhole ? now : last.whole, isKnown }
  if (!isKnown) return
  let from = null
  if (!isWhole) from = midnight(last.at - DAY)
  else if (reach[type]) from = midnight(now - reach[type] * DAY)
  const shown = rows.filter((row) => {
    if (from !== null && midnight(time(row[narrowedBy[type]])) < from) return false
    if (type !== 'advertisement') return true
    return (
      time(row.active_from) <= now && (row.active_until === null || time(row.active_until) >= midnight(now))
    )
  })
  const keys = new Set()
  for (const row of shown) {
    const told = readers[type](row)
    const id = `${type} ${told.key}`
    keys.add(id)
    const before = account.signals.get(id)
    const firstSeen = before?.firstSeen ?? Math.min(told.seen ?? now, now)
    account.signals.set(id, { ...told, type, firstSeen })
    if (!told.entry) continue
    // The stage before has ended.
    for (const other of account.signals.values())
      if (other.entry?.id === told.entry.id && other.key !== told.key) other.ended ??= now
  }
  if (!isWhole || type === 'news') return
  for (const [id, signal] of account.signals)
    if (signal.type === type && !keys.has(id) && signal.ended === null)
      if (from === null || timeOf(signal) >= from) signal.ended = now
}

function timeOf({ happened, firstSeen }) {
  return happened ?? firstSeen
}

/** The furthest entry; of two the one that was seen later in its stage, then the first market of the alphabet. */
function position(account) {
  const entries = [...account.signals.values()].filter(({ entry, ended }) => entry && ended === null)
  entries.sort(
    (a, b) =>
      stages.indexOf(b.entry.stage) - stages.indexOf(a.entry.stage) ||
      b.firstSeen - a.firstSeen ||
      (a.entry.market < b.entry.market ? -1 : 1),
  )
  return entries[0]?.entry
}

function scoreOf(account, now) {
  const parts = []
  const others = []
  for (const signal of account.signals.values()) {
    if (signal.firstSeen > now || !settings.types.includes(signal.type)) continue
    const rule = settings.points.find((each) => fits(each, signal))
    if (!rule) {
      others.push({ signal, left: 0 })
      continue
    }
    const age = Math.max(0, (midnight(now) - midnight(timeOf(signal))) / DAY)
    const share = 2 ** (-age / (rule.halfLifeDays ?? settings.halfLifeDays))
    const left = Math.round(Math.abs(Math.round(rule.points * 100)) * share) * (rule.points < 0 ? -1 : 1)
    parts.push({ signal, left: left || 0 })
  }
  parts.sort(
    (a, b) =>
      Math.abs(b.left) - Math.abs(a.left) ||
      timeOf(b.signal) - timeOf(a.signal) ||
      compare(a.signal.type, b.signal.type) ||
      compare(a.signal.key, b.signal.key),
  )
  others.sort((a, b) => timeOf(b.signal) - timeOf(a.signal) || compare(a.signal.key, b.signal.key))
  return { sum: parts.reduce((sum, { left }) => sum + left, 0), parts, others }
}

function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0
}

function fits({ type, strength, match = {} }, signal) {
  if (type !== signal.type) return false
  const among = (values, wanted) => values.some((value) => wanted.some((each) => fold(each) === fold(value)))
  if (strength && !among(list(signal.strength), list(strength))) return false
  return Object.entries(match).every(([word, wanted]) => among(signal.words[word] ?? [], wanted))
}

/** The three strongest parts, or as many as 255 characters take. */
function reasonOf({ parts }) {
  const counting = parts.filter(({ left }) => left !== 0)
  if (counting.length === 0) return null
  for (let count = Math.min(3, counting.length); ; count--) {
    const texts = counting.slice(0, count).map(({ signal, left }) => {
      const seen = signal.happened === null ? 'seen first ' : ''
      const title = cut(signal.title ?? '')
      return `${left > 0 ? '+' : ''}${left / 100} ${names[signal.type]}${title ? `: ${title}` : ''} (${seen}${dayText(timeOf(signal))})`
    })
    if (counting.length > count) texts.push(`and ${counting.length - count} more`)
    const text = texts.join('; ')
    if (text.length <= 255 || count === 1) return text
  }
}

function cut(title) {
  const letters = [...title]
  return letters.length <= 80 ? title : `${letters.slice(0, 79).join('').trimEnd()}…`
}

/** Returns the fields of a record; null for one without a value. A company that nobody knows has none. */
function fieldsOf(account, now) {
  const fields = Object.fromEntries(
    [
      'expansion_stage',
      'expansion_direction',
      'expansion_markets',
      'open_jobs',
      'open_jobs_change_30d',
      'last_news_at',
      'last_news_title',
      'advertising',
      'cloud_providers',
      'signal_score',
      'signal_score_change_7d',
      'signal_reason',
      'signals_checked_at',
    ].map((field) => [field, null]),
  )
  if (!Object.values(account.checks).some(({ isKnown }) => isKnown)) return fields
  const signals = [...account.signals.values()]
  const going = (type, at) =>
    signals.filter(
      (each) => each.type === type && timeOf(each) <= at && (each.ended === null || each.ended > at),
    )
  const joined = (values) => [...new Set(values)].sort().join('; ') || null
  if (account.checks.expansion) {
    const entries = signals.flatMap(({ entry, ended }) => (entry && ended === null ? [entry] : []))
    const furthest = position(account)
    fields.expansion_stage = furthest?.stage ?? null
    fields.expansion_direction = furthest?.direction ?? null
    fields.expansion_markets = joined(entries.map(({ market }) => market))
  }
  if (account.checks.job) {
    const openAt = (at) => going('job', at).filter((job) => timeOf(job) >= at - 150 * DAY).length
    fields.open_jobs = openAt(now)
    const then = now - 30 * DAY
    if (Date.parse(account.scores[0].day) <= then) fields.open_jobs_change_30d = openAt(now) - openAt(then)
  }
  if (account.checks.news) {
    const news = signals.filter(({ type }) => type === 'news')
    news.sort((a, b) => b.happened - a.happened || compare(a.key, b.key))
    fields.last_news_at = news[0] ? dayText(news[0].happened) : null
    fields.last_news_title = news[0]?.title ?? null
  }
  if (account.checks.advertisement) fields.advertising = going('advertisement', now).length > 0
  if (account.checks.cloud)
    fields.cloud_providers = joined(going('cloud', now).flatMap(({ words }) => words.providers))
  const score = scoreOf(account, now)
  fields.signal_score = score.sum / 100
  const before = account.scores.findLast(({ day }) => day <= dayText(now - 7 * DAY))
  if (before) fields.signal_score_change_7d = (score.sum - before.score) / 100
  fields.signal_reason = reasonOf(score)
  const times = settings.types.map((type) => account.checks[type].at)
  fields.signals_checked_at = new Date(Math.max(...times)).toISOString()
  return fields
}

/** Returns the report of the days before now. */
function reportOf(now) {
  const since = dayText(now - settings.since * DAY)
  const all = [...accounts.values()]
  const current = all.filter(({ lastDay }) => lastDay === lastRun)
  const isOlder = all.some(({ scores }) => scores[0].day <= since)
  const moved = current.flatMap((account) => {
    const { sum, parts, others } = scoreOf(account, now)
    const evidence = [...parts, ...others].map(({ signal, left }) => ({
      type: signal.type,
      title: signal.title,
      link: signal.link,
      day: dayText(timeOf(signal)),
      isSeenFirst: signal.happened === null,
      isNew: dayText(signal.firstSeen) > since,
      hundredths: left,
    }))
    const fresh = evidence.filter(({ isNew }) => isNew)
    const moves = movesOf(account, since)
    if (fresh.length === 0 && moves.length === 0) return []
    const before = account.scores.findLast(({ day }) => day <= since)
    return {
      id: account.id,
      hundredths: sum,
      changeHundredths: before ? sum - before.score : null,
      stage: position(account)?.stage ?? null,
      moves,
      newSignals: fresh.length,
      evidence: [...fresh, ...evidence.filter(({ isNew }) => !isNew)].slice(0, 3),
    }
  })
  moved.sort(
    (a, b) =>
      (b.changeHundredths ?? b.hundredths) - (a.changeHundredths ?? a.hundredths) ||
      b.hundredths - a.hundredths ||
      compare(a.id, b.id),
  )
  const ids = (some) => some.map(({ id }) => id).sort()
  return {
    scoredOn: lastRun,
    watched: current.length,
    moved,
    added: isOlder ? ids(current.filter(({ scores }) => scores[0].day > since)) : [],
    gone: ids(all.filter(({ lastDay }) => lastDay < lastRun && lastDay >= since)),
  }
}

function movesOf({ scores }, since) {
  const first = scores.findLastIndex(({ day }) => day <= since)
  const moves = []
  let from = null
  for (const { day, stage } of scores.slice(Math.max(0, first))) {
    if (stage === null) continue
    if (from !== null && from !== stage && day > since) moves.push({ day, from, to: stage })
    from = stage
  }
  return moves
}
