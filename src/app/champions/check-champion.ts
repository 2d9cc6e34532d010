import { checkOf } from '../../domain/champions/check.ts'
import { currentTitle, type Employment, type Verdict } from '../../domain/champions/moved.ts'
import { canonicalProfileUrl, profileUrlOf } from '../../domain/keys.ts'
import { answeredAt, type CheckedChampion, type NewEmployer } from '../../store/champions/champions.ts'
import type { Context } from '../context/context.ts'
import type { Bought, Purse } from '../signals/buying/purse.ts'
import { askedUrl, type Candidate } from './candidates.ts'

/** An employer as it was looked up. */
interface Employer {
  domain: string | null
  name: string | null
}

/** The employers that were looked up in this run, by canonical profile URL. */
export type Employers = Map<string, Employer>

/**
 * Looks a person up, and their employers as far as their domains decide, and judges the answer. Undefined: it was not bought, or cannot
 * be judged now; the person stays due.
 */
export async function checkChampion(
  context: Context,
  candidate: Candidate,
  { purse, employers }: { purse: Purse; employers: Employers },
): Promise<CheckedChampion | undefined> {
  const { recordId, profileUrl, key, known, last } = candidate
  const bought = await purse.buy('person.profile', { profnet_url: askedUrl(candidate) })
  if (bought.state !== 'answered') return undefined
  const history = historyOf(bought.fact.data)
  for (;;) {
    const domains = new Map([...employers].map(([url, { domain }]) => [url, domain]))
    const checked = checkOf(known, history, domains)
    if (checked.state === 'judged') {
      const at = (await answeredAt(context.database.db, key)) ?? context.now()
      const { verdict, now } = checked
      return {
        recordId,
        profileUrl,
        checkedAt: at,
        lookupKey: key,
        verdict,
        known: checked.known,
        employer: verdict === 'moved' && now ? employerOf(now, employers) : null,
        leftAt: leftAtOf(verdict, last, at),
      }
    }
    const asked = await purse.buy('company.profile', { profnet_url: profileUrlOf(checked.profileUrl) })
    if (asked.state !== 'answered') return undefined
    employers.set(checked.profileUrl, readEmployer(asked))
  }
}

/** A person who is not found to have left stays one who left, until an answer shows a job at the known employer. */
function leftAtOf(verdict: Verdict, last: CheckedChampion | undefined, at: Date): Date | null {
  if (verdict === 'left' || verdict === 'moved') return last?.leftAt ?? at
  return verdict === 'unclear' || verdict === 'unknown' ? (last?.leftAt ?? null) : null
}

function employerOf(job: Employment & { company_name?: unknown }, employers: Employers): NewEmployer {
  const profile = job.profnet_url ? canonicalProfileUrl('company', job.profnet_url) : undefined
  const profileUrl = profile?.ok ? profile.value : null
  const known = profileUrl === null ? undefined : employers.get(profileUrl)
  const told = typeof job.company_name === 'string' ? job.company_name : null
  return {
    profileUrl,
    domain: job.domain ?? null,
    name: known?.name ?? told,
    title: currentTitle(job) ?? null,
  }
}

function historyOf(data: Record<string, unknown> | null): readonly Employment[] | null {
  const history = data?.['employment_history']
  return Array.isArray(history) ? history.filter((job): job is Employment => isObject(job)) : null
}

function readEmployer({ fact: { data } }: Extract<Bought, { state: 'answered' }>): Employer {
  const text = (name: string) => {
    const value = data?.[name]
    return typeof value === 'string' && value.trim() !== '' ? value : null
  }
  return { domain: text('domain') ?? text('unique_domain'), name: text('company_name') }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
