import type { Context } from '../../../src/app/context/context.ts'
import { dayBefore, utcDay } from '../../../src/domain/signals/change.ts'
import { signalTypes } from '../../../src/domain/signals/signal.ts'
import { holdAccounts } from '../../../src/store/signals/accounts.ts'
import { saveScores } from '../../../src/store/signals/score-days.ts'
import { storable } from './storable.ts'

export const textPipeline = 's'.repeat(40)

/** Two pipelines, so that the page has a choice. */
export function signalsWith() {
  const accounts = { connector: 'hubspot' } as const
  return {
    [textPipeline]: { accounts, budgetUsd: '98765.43', budgetMonthUsd: '98765.43' },
    other: { accounts, types: ['job'] as ['job'] },
  }
}

/** Adds an account that moved, with signals of each type, and one that is gone. */
export async function fillSignals({ database: { db }, now }: Context, text: string): Promise<void> {
  const given = storable(text)
  const at = now()
  const today = utcDay(at)
  const accounts = await holdAccounts(
    db,
    ['2', '3'].map((recordId) => ({
      connector: 'hubspot',
      entity: 'companies',
      recordId,
      name: given,
      identity: { domain: 'there.example' },
    })),
    at,
  )
  const [moved, gone] = accounts.map(({ id }) => id) as [bigint, bigint]
  await db
    .updateTable('signal_accounts')
    .set({ stage: given, direction: given, markets: JSON.stringify([given]), service_id: given })
    .where('id', '=', moved)
    .execute()
  for (const type of signalTypes) {
    await db
      .insertInto('signals')
      .values({
        account_id: moved,
        type,
        key: type,
        title: given,
        link: type === 'job' ? `https://jobs.example/${encodeURIComponent(given.slice(0, 500))}` : given,
        place: given,
        strength: given,
        about: '{}',
        happened_at: type === 'job' ? at : null,
        first_seen_at: at,
        last_seen_at: at,
        ended_at: type === 'job' ? at : null,
        lookup_key: 'key',
      })
      .execute()
    await db
      .insertInto('signal_checks')
      .values({
        pipeline: textPipeline,
        account_id: moved,
        type,
        checked_at: at,
        whole_at: at,
        is_matched: type !== 'cloud',
        reason: type === 'cloud' ? given : null,
        lookup_key: 'key',
      })
      .execute()
  }
  const days = [
    { day: dayBefore(today, 8), stage: 'before' },
    { day: today, stage: given },
  ]
  for (const pipeline of [textPipeline, 'other']) {
    for (const { day, stage } of days)
      await saveScores(db, pipeline, day, [{ accountId: moved, hundredths: 1_234_567, stage }])
    await saveScores(db, pipeline, dayBefore(today, 3), [{ accountId: gone, hundredths: 1, stage: null }])
  }
}
