import type { Context } from '../../../src/app/context/context.ts'
import { createMatches } from '../../../src/store/matches/matches.ts'
import { createMonitorDeliveries } from '../../../src/store/messages/monitor-deliveries.ts'
import { keepMonitor, noteComparison } from '../../../src/store/monitors/declared-monitors.ts'
import { storable } from './storable.ts'

export const textMonitor = 'm'.repeat(40)

/** A monitor with the text in what a person writes, and one that is not made. */
export function monitorsWith(text: string) {
  const given = storable(text)
  return {
    [textMonitor]: {
      detection_mode: 'signal_first',
      signal_types: [given, 'expansions'],
      onMatch: { connector: 'hubspot', budgetDayUsd: '98765.43', budgetMonthUsd: '98765.43' } as const,
      automaticPersonEnrichment: { is_enabled: true },
    },
    other: { detection_mode: 'signal_first', signal_types: ['jobs'] },
  }
}

/** Adds what was delivered and what came of it. */
export async function fillMonitors(context: Context, text: string): Promise<void> {
  const { db } = context.database
  const given = storable(text)
  const at = context.now()
  await keepMonitor(db, textMonitor, given, at)
  await noteComparison(db, [{ name: textMonitor, differs: true }], at)
  const deliveries = createMonitorDeliveries(db, context)
  for (const [index, monitor] of [textMonitor, given].entries()) {
    await deliveries.add(`d${index}`, '{}')
    await deliveries.admit(`d${index}`, {
      monitor,
      triggeredAt: at,
      isLate: true,
      signals: [{ meaning: 'm', company: null }],
    })
    await deliveries.finish(`d${index}`, { records: 1, unknown: 0, reason: given, outcome: 'no_company' })
  }
  await db
    .insertInto('monitor_headers')
    .values({ name: given.slice(0, 100).toWellFormed(), first_seen_at: at, last_seen_at: at })
    .execute()
  await db
    .insertInto('monitor_log_reads')
    .values({ monitor_id: given, position: at, read_at: at, next_at: at, problem: given, status: given })
    .execute()
  const matches = createMatches(db, context)
  for (const id of ['mtexts1', 'mtexts2'])
    await matches.take(
      {
        id,
        monitor: textMonitor,
        company: { serviceId: null, identity: {}, values: { company_name: given } },
        identities: [{ kind: 'domain', value: `${id}.example` }],
        signals: [{ title: given, url: null, at: null }],
      },
      at,
    )
  await matches.end('mtexts2', 'left', given)
}
