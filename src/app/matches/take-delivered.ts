import type { DeliveredSignal } from '../../domain/monitors/read-delivery.ts'
import { knownMonitors } from '../../store/monitors/declared-monitors.ts'
import { takeMatch } from './work-match.ts'

/**
 * Takes what a delivery says of one company as a match. The monitor is known by the id under which it was made or adopted, else by its
 * name. Returns false where it declares nothing to do.
 */
export async function takeDeliveredMatch(
  context: Parameters<typeof takeMatch>[0],
  given: { id: string; name: string | null },
  signals: readonly DeliveredSignal[],
): Promise<boolean> {
  const [first] = signals
  if (!first) return false
  const { company, name, serviceId } = first
  const known = await knownMonitors(context.database.db)
  const monitor = known.find(({ monitorId }) => monitorId === given.id)?.name ?? given.name
  if (monitor === null) return false
  const taken = await takeMatch(context, monitor, {
    company: {
      serviceId,
      identity: {
        ...(company.profile === null ? {} : { profileUrl: company.profile }),
        ...(company.domain === null ? {} : { domain: company.domain }),
        ...(name === null ? {} : { company: name }),
      },
      values: {},
    },
    signals: signals.map(({ title, url, at }) => ({ title, url, at })),
  })
  return taken !== undefined
}
