import { foldCompanyName } from '../normalise/company.ts'
import { foldText } from '../normalise/text.ts'
import type { FieldValue } from '../record.ts'

interface Change {
  from: string
  to: string
}

/** The person has another employer or title than the record says. */
export interface JobChange {
  employer?: Change
  title?: Change
}

type Job = Readonly<Record<string, FieldValue | undefined>>

/**
 * Compares the employer (`company_name`) and title (`job_title`) of a record with the values found. Legal forms,
 * abbreviations and letter case are ignored, and a blank on either side is no change. Returns undefined without a change.
 */
export function jobChangeOf(record: Job, found: Job): { jobChange: JobChange } | undefined {
  const employer = changeOf(record['company_name'], found['company_name'], foldCompanyName)
  const title = changeOf(record['job_title'], found['job_title'], foldTitle)
  if (!employer && !title) return undefined
  return { jobChange: { ...(employer ? { employer } : {}), ...(title ? { title } : {}) } }
}

function changeOf(
  from: FieldValue | undefined,
  to: FieldValue | undefined,
  fold: (text: string) => string,
): Change | undefined {
  const [before, after] = [String(from ?? '').trim(), String(to ?? '').trim()]
  const [one, other] = [fold(before), fold(after)]
  return one === '' || other === '' || one === other ? undefined : { from: before, to: after }
}

const abbreviations: Readonly<Record<string, string>> = {
  ceo: 'chief executive officer',
  cto: 'chief technology officer',
  cfo: 'chief financial officer',
  coo: 'chief operating officer',
  cmo: 'chief marketing officer',
  cio: 'chief information officer',
  ciso: 'chief information security officer',
  cro: 'chief revenue officer',
  cpo: 'chief product officer',
  evp: 'executive vice president',
  svp: 'senior vice president',
  avp: 'assistant vice president',
  vp: 'vice president',
  md: 'managing director',
  sr: 'senior',
  jr: 'junior',
  mgr: 'manager',
  eng: 'engineer',
  dir: 'director',
  asst: 'assistant',
  hr: 'human resources',
  it: 'information technology',
}
/** `VP of Sales` is `VP, Sales`. */
const fillers = new Set(['of', 'the', 'and', 'for', 'at'])

function foldTitle(title: string): string {
  return foldText(title)
    .replace(/(?<=\p{L})\.(?=\p{L})/gu, '')
    .split(/[^\p{L}\p{M}\p{N}+#]+/u)
    .filter((word) => word !== '' && !fillers.has(word))
    .map((word) => (Object.hasOwn(abbreviations, word) ? abbreviations[word] : word))
    .join(' ')
}
