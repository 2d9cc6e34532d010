import { canonicalProfileUrl } from '../keys.ts'
import { registrableDomain } from '../normalise/domain.ts'
import { jobChangeOf } from '../planning/job-change.ts'

/** The employer and title that a champion's record held before the check. */
export interface KnownJob {
  profileUrl?: string | undefined
  domain?: string | undefined
  title?: string | undefined
}

/** An employer of the person lookup. `domain` comes from a company lookup: the person's answer tells none. */
export interface Employment {
  title?: string | null | undefined
  profnet_url?: string | null | undefined
  domain?: string | null | undefined
  positions?:
    readonly { title?: string | null | undefined; end_date?: string | null | undefined }[] | null | undefined
}

/**
 * `left`: the job ended and no other is known. `moved`: another employer is known. `renamed`: the employer has a new profile
 * under the same domain. `unclear`: two current employers. `unknown`: too little is told.
 */
export type Verdict = 'stays' | 'promoted' | 'renamed' | 'left' | 'moved' | 'unclear' | 'unknown'

/** The service shows no list of the words for a current position. */
const currentWords = new Set(['present', 'current', 'now', 'today'])

/**
 * Decides where a champion works now. A name never counts, since companies rename, merge and abbreviate, so names are not
 * read. Another profile is a move only where the old job ended under the old profile or both domains are known and
 * differ: a rename with a hidden domain looks the same otherwise.
 */
export function verdictOf(known: KnownJob, history: readonly Employment[] | null | undefined): Verdict {
  const before = { profile: profileOf(known.profileUrl), domain: domainOf(known.domain) }
  const jobs = (history ?? []).map((job) => ({
    job,
    profile: profileOf(job.profnet_url),
    domain: domainOf(job.domain),
    state: stateOf(job),
  }))
  const isBefore = (job: (typeof jobs)[number]) => isSame(before.profile, job.profile)
  const current = jobs.filter(({ state }) => state === 'current')
  const [now] = current
  if (!now) {
    const old = jobs.filter((job) => isBefore(job) || isSame(before.domain, job.domain))
    const ended = old.length > 0 && jobs.every(({ state }) => state === 'ended')
    return ended ? 'left' : 'unknown'
  }
  if (current.some((job) => !isSame(job.profile, now.profile) && job !== now)) return 'unclear'
  if (isBefore(now)) return isPromoted(known, now.job) ? 'promoted' : 'stays'
  if (isSame(before.domain, now.domain))
    return before.profile && now.profile ? 'renamed' : isPromoted(known, now.job) ? 'promoted' : 'stays'
  if (before.domain && now.domain) return 'moved'
  const old = jobs.filter(isBefore)
  return now.profile && old.length > 0 && old.every(({ state }) => state === 'ended') ? 'moved' : 'unknown'
}

/** Returns the first job that goes on. */
export function currentJob<Job extends Employment>(jobs: readonly Job[]): Job | undefined {
  return jobs.find((job) => stateOf(job) === 'current')
}

function stateOf({ positions }: Employment): 'current' | 'ended' | 'unknown' {
  const ends = (positions ?? []).map(({ end_date: end }) => end ?? '')
  if (ends.some(isCurrent)) return 'current'
  // A date has a year. Another word may be one for today that is not known here.
  return ends.length > 0 && ends.every((end) => /\d{4}/.test(end)) ? 'ended' : 'unknown'
}

/** Returns the title of the position that goes on: an employer's first one may be an earlier one. */
export function currentTitle({ positions, title }: Employment): string | undefined {
  const position = positions?.find(({ end_date: end }) => isCurrent(end))
  return position?.title ?? title ?? undefined
}

function isCurrent(end: string | null | undefined): boolean {
  return currentWords.has(end?.trim().toLowerCase() ?? '')
}

function isPromoted(known: KnownJob, job: Employment): boolean {
  return (
    jobChangeOf({ job_title: known.title }, { job_title: currentTitle(job) })?.jobChange.title !== undefined
  )
}

/** Returns whether two domains are the same, however they are written. */
export function isSameDomain(one: string | null | undefined, other: string | null | undefined): boolean {
  return isSame(domainOf(one), domainOf(other))
}

function profileOf(raw: string | null | undefined): string | undefined {
  const profile = raw ? canonicalProfileUrl('company', raw) : undefined
  return profile?.ok ? profile.value : undefined
}

function domainOf(raw: string | null | undefined): string | undefined {
  const domain = raw ? registrableDomain(raw) : undefined
  return domain?.ok ? domain.value : undefined
}

function isSame(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one === other
}
