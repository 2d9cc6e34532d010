import { canonicalProfileUrl } from '../keys.ts'
import {
  currentJob,
  currentTitle,
  isSameDomain,
  verdictOf,
  type Employment,
  type KnownJob,
  type Verdict,
} from './moved.ts'

/** The outcome of a check. `needs`: the profile of an employer whose domain must be known before anything is said. */
export type Checked =
  | { state: 'judged'; verdict: Verdict; known: KnownJob; now: Employment | undefined }
  | { state: 'needs'; profileUrl: string }

/** So many employers of the past are looked up to find the one that the record names. */
const mostEarlier = 2

/**
 * Judges the jobs of an answer against the job that is known. Pure. `domains` has what was found out about employers by their
 * canonical profile URL; null stands for an employer of which nothing is known. An employer is looked up only where its domain
 * decides: a person who still has the known employer's profile costs nothing more.
 *
 * A record names its employer by a domain alone, which an e-mail address or a person has put there. So a first check says `moved`
 * only where that domain is one of the person's earlier employers: else the domain of the record may be an old one, and the answer is
 * `unclear`.
 */
export function checkOf(
  known: KnownJob,
  history: readonly Employment[] | null | undefined,
  domains: ReadonlyMap<string, string | null>,
): Checked {
  const jobs = (history ?? []).map((job) => ({ job, profileUrl: profileOf(job.profnet_url) }))
  const withDomain = jobs.map(({ job, profileUrl }) => ({
    ...job,
    domain: profileUrl === undefined ? undefined : (domains.get(profileUrl) ?? undefined),
  }))
  const now = currentJob(withDomain)
  const employer = profileOf(now?.profnet_url)
  const isFirstCheck = known.profileUrl === undefined
  // No domain decides between two employers of today.
  if (verdictOf(known, withDomain) === 'unclear') return { state: 'judged', verdict: 'unclear', known, now }
  const needsDomain = (profileUrl: string | undefined) =>
    profileUrl !== undefined && known.domain !== undefined && !domains.has(profileUrl)
  if (employer !== undefined && employer !== profileOf(known.profileUrl) && needsDomain(employer))
    return { state: 'needs', profileUrl: employer }
  const verdict = verdictOf(known, withDomain)
  const asksForEarlier = verdict === 'moved' || (verdict === 'unknown' && now === undefined)
  if (isFirstCheck && known.domain !== undefined && asksForEarlier) {
    const others = jobs.flatMap(({ profileUrl }) => (profileUrl === employer ? [] : (profileUrl ?? [])))
    const earlier = [...new Set(others)].slice(0, mostEarlier)
    if (!earlier.some((profileUrl) => isSameDomain(domains.get(profileUrl), known.domain))) {
      const next = earlier.find((profileUrl) => needsDomain(profileUrl))
      if (next !== undefined) return { state: 'needs', profileUrl: next }
      return { state: 'judged', verdict: now ? 'unclear' : 'unknown', known, now }
    }
  }
  return { state: 'judged', verdict, known: nextKnown(known, verdict, now), now }
}

/** Returns the job against which the next answer is held: the one of today where the person has stayed, else the one before. */
function nextKnown(known: KnownJob, verdict: Verdict, now: Employment | undefined): KnownJob {
  const isBeginning = verdict === 'unknown' && known.profileUrl === undefined && known.domain === undefined
  if (!now || !(isBeginning || verdict === 'stays' || verdict === 'promoted' || verdict === 'renamed'))
    return known
  const profileUrl = profileOf(now.profnet_url) ?? known.profileUrl
  const domain = now.domain ?? known.domain
  const title = currentTitle(now) ?? known.title
  return {
    ...(profileUrl !== undefined && { profileUrl }),
    ...(domain !== undefined && domain !== null && { domain }),
    ...(title !== undefined && { title }),
  }
}

function profileOf(raw: string | null | undefined): string | undefined {
  const profile = raw ? canonicalProfileUrl('company', raw) : undefined
  return profile?.ok ? profile.value : undefined
}
