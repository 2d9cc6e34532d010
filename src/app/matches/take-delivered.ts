import type { DeliveredSignal } from '../../domain/monitors/read-delivery.ts'
import { takeMatch } from './work-match.ts'

/** Takes what a delivery says of one company as a match. Returns false where the monitor declares nothing to do. */
export async function takeDeliveredMatch(
  context: Parameters<typeof takeMatch>[0],
  monitor: string,
  signals: readonly DeliveredSignal[],
): Promise<boolean> {
  const [first] = signals
  if (!first) return false
  const { company, name, serviceId } = first
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
