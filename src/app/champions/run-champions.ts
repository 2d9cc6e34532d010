import type { Verdict } from '../../domain/champions/moved.ts'
import { ConfigError, PaydirtError } from '../../domain/errors.ts'
import type { Atomic } from '../../domain/money.ts'
import {
  championsOf,
  endFreshness,
  saveChampion,
  type KnownChampion,
} from '../../store/champions/champions.ts'
import { withPlace } from '../config/watching/match-lists.ts'
import { championPurse } from '../config/watching/purses.ts'
import { openConnector } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import type { OwnCharge } from '../service/own-charges.ts'
import { openPurse, type PurseEnd } from '../signals/buying/purse.ts'
import type { WrittenValues } from '../writing/write-values.ts'
import { championsNamed, readCandidates, type Candidates } from './candidates.ts'
import { checkChampion, type Employers } from './check-champion.ts'
import { joinEmployers, joinRefusals, noneJoined, type JoinedEmployers } from './join-employers.ts'
import { noteChampions, type NotedChampions } from './note-champions.ts'
import { writeLeavers } from './write-leavers.ts'

export interface RunChampionsOptions {
  budgetAtomic: Atomic
  signal: AbortSignal
  onProgress?: ((progress: { people: number; due: number; checked: number }) => void) | undefined
  onNotice?: ((text: string) => void) | undefined
}

export interface ChampionRun extends Omit<Candidates, 'due' | 'all' | 'object'> {
  champions: string
  people: number
  due: number
  checked: number
  /** Those who were due and not checked: the budget, a cap or a person ended the run, or their question failed. */
  left: number
  /** The checks of this run, by verdict. */
  verdicts: Partial<Record<Verdict, number>>
  bought: number
  charges: readonly OwnCharge[]
  committedAtomic: Atomic
  end: 'complete' | PurseEnd['end']
  reason?: string
  resumesAt?: Date
  problems: readonly string[]
  /** The outcome of the write into the records. Undefined for a run that was interrupted before: the next one writes it. */
  records: WrittenValues | undefined
  /** Records at the new employers. Undefined where none are wanted, or the run was interrupted before. */
  joined: JoinedEmployers | undefined
  /** Notes and tasks. Undefined where there are none, or the run was interrupted before. */
  noted: NotedChampions | undefined
}

const dayMs = 86_400_000

/**
 * Looks the people of a watch up again as far as they are due, those who were checked longest ago first, within the budget, and writes
 * `left_company_at` and what `onLeave` declares for those who have left. Their employer in the record stays as it is. Where `onJoin` is
 * declared, those who have moved get a record at their new employer, unless they have one there.
 *
 * Crash windows:
 * - Killed before an answer is stored: those of a lookup. The same payment is finished by the next call.
 * - An answer is stored, and its check is not: the person is still due, and the next call judges the same answer for nothing.
 * - A check is stored and not written: the next call writes what stands in the ledger, and buys nothing for it.
 * - Written, and no record at the new employer yet: those of `joinEmployers`. The next run makes it.
 * - Written, and no note yet: notes are known by record and departure, so that the next call adds the one that is missing.
 */
export async function runChampions(
  context: Context,
  watch: string,
  { budgetAtomic, signal, onProgress, onNotice }: RunChampionsOptions,
): Promise<ChampionRun> {
  const settings = championsNamed(context.config, watch)
  const connector = await openConnector(context.config, settings.connector, await context.openEngine())
  try {
    const { due, all, object, ...others } = await readCandidates(context, watch, connector, { signal })
    await endFreshness(
      context.database.db,
      due.map(({ key }) => key),
      { answeredUntil: new Date(context.now().getTime() - settings.days * dayMs), at: context.now() },
    )
    const [refusal] = settings.onJoin ? await joinRefusals(context, watch, connector) : []
    if (refusal)
      throw new ConfigError(refusal.code, `${refusal.message.replace(/\.$/, '')}. Nothing was bought`)
    const purse = await openPurse(context, { ...championPurse(watch), budgetAtomic, signal })
    const verdicts: ChampionRun['verdicts'] = {}
    let checked = 0
    try {
      const employers: Employers = new Map()
      for (const candidate of due) {
        onProgress?.({ people: all.length, due: due.length, checked })
        if (purse.ended()) break
        const found = await checkChampion(context, candidate, { purse, employers })
        if (!found) continue
        await saveChampion(context.database.db, object, found)
        verdicts[found.verdict] = (verdicts[found.verdict] ?? 0) + 1
        checked += 1
      }
    } finally {
      await purse.close()
    }
    const run = { champions: watch, ...others, people: all.length, due: due.length, checked, verdicts }
    const ended = purse.ended()
    const money = {
      left: due.length - checked,
      bought: purse.bought(),
      charges: purse.charges,
      committedAtomic: purse.committedAtomic(),
      end: ended?.end ?? ('complete' as const),
      ...(ended && { reason: ended.reason }),
      ...(ended?.resumesAt && { resumesAt: ended.resumesAt }),
      problems: purse.problems,
    }
    if (signal.aborted) return { ...run, ...money, records: undefined, joined: undefined, noted: undefined }
    const known = new Map(all.map((each) => [each.recordId, each]))
    const kept = await championsKept(context, watch, known)
    const target = { connector, entity: object.entity, watch, identities: known }
    const records = await writeLeavers(context, kept, target, { signal, onNotice })
    const joined =
      settings.onJoin === undefined || signal.aborted
        ? undefined
        : await joinEmployers(context, watch, kept, {
            connector,
            identities: known,
            budgetAtomic: budgetAtomic - money.committedAtomic,
            signal,
            onNotice,
          }).catch((error: unknown) => {
            // A setting or the CRM is in the way. The checks stand, and the next run goes on.
            if (!(error instanceof PaydirtError)) throw error
            return noneJoined(withPlace(championPurse(watch).budget, error.message))
          })
    // With the records at new employers, as they are known now.
    const noting = signal.aborted ? [] : await championsKept(context, watch, known)
    const noted = signal.aborted
      ? undefined
      : await noteChampions(context, settings, noting, { ...target, runId: records.runId })
    return { ...run, ...money, records, joined, noted }
  } finally {
    await connector.close()
  }
}

/** Only those who are read now: one who was suppressed or left the filter is left alone. */
async function championsKept(
  context: Context,
  watch: string,
  known: ReadonlyMap<string, unknown>,
): Promise<KnownChampion[]> {
  return (await championsOf(context.database.db, watch)).filter(({ recordId }) => known.has(recordId))
}
