import type { Connector, ScanFilter, ScanOptions } from '../../connectors/connector.ts'
import type { Plan, PlanLedger } from '../../store/plans/plans.ts'
import { recordDigest } from './make-plan.ts'

/** The number of a plan's records that a scan has found again, as they were and changed. */
export interface PlannedTally {
  same: number
  changed: number
  total: number
}

export const changedReason = 'changed since the plan'

/**
 * Returns the connector with a scan of the plan's records alone. The scan ends when it has found all of them. A page that
 * could not be stored is read again: each of its records counts once.
 */
export function onlyPlanned(
  connector: Connector,
  plan: Plan,
  plans: Pick<PlanLedger, 'digests'>,
  salt: string,
  tally: PlannedTally,
): Connector {
  const found = new Set<string>()
  return {
    ...connector,
    async *scan(entity, scanOptions) {
      for await (const page of connector.scan(entity, scanOptions)) {
        const digests = await plans.digests(
          plan.id,
          page.records.map(({ id }) => id),
        )
        const records = page.records.flatMap((record) => {
          const digest = digests.get(record.id)
          if (digest === undefined) return []
          const isSame = recordDigest(record, salt) === digest
          if (!found.has(record.id)) tally[isSame ? 'same' : 'changed'] += 1
          found.add(record.id)
          return [isSame ? record : { ...record, identity: {}, unreadable: changedReason }]
        })
        yield { ...page, records }
        if (tally.same + tally.changed >= tally.total) return
      }
    },
  }
}

/** Returns where the plan's scan began. Other syncs may have moved the watermark since. */
export function plannedSource(plan: Plan): Omit<ScanOptions, 'signal'> {
  const { after, since, filter } = plan.job
  return {
    after: typeof after === 'string' ? after : undefined,
    since: typeof since === 'string' ? new Date(since) : undefined,
    filter: Array.isArray(filter) && filter.length > 0 ? (filter as ScanFilter[]) : undefined,
  }
}
