import type { Config } from '../config/config.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'
import type { DeliveriesReport } from '../monitors/deliveries-report.ts'
import { isInUse, queryLedger } from '../queries/query-ledger.ts'
import type { Finding } from './finding.ts'

/** Reads the ledger alone: comparing asks the service, which may cost. A ledger that cannot be asked is a finding of its own. */
export async function checkMonitors(config: Config): Promise<Finding[]> {
  if (Object.keys(config.monitors).length === 0) return []
  try {
    return monitorFindings(config, (await queryLedger(config, 'monitorDeliveries', {})).monitors)
  } catch (error) {
    if (!isInUse(error)) throw error
    return []
  }
}

type Known = Pick<
  DeliveriesReport['monitors'][number],
  'name' | 'monitorId' | 'comparedAt' | 'differs' | 'status'
>

/** Says of each monitor of the settings whether it is at the service as declared, as far as the last comparison has shown. */
export function monitorFindings({ monitors }: Pick<Config, 'monitors'>, known: readonly Known[]): Finding[] {
  const compare = '`paydirt monitors plan` compares it now'
  return Object.entries(monitors).map(([name, declared]): Finding => {
    const finding = (status: Finding['status'], message: string, todo?: string): Finding => ({
      name: `monitors.${name}`,
      status,
      message,
      ...(todo !== undefined && { todo }),
    })
    const found = known.find((each) => each.name === name)
    if (!found)
      return finding(
        'warning',
        'not at the service, as far as the ledger knows',
        '`paydirt monitors apply` makes it',
      )
    if (found.comparedAt === null)
      return finding('warning', `${found.monitorId}: never compared with the settings`, compare)
    const at = utcMinute(found.comparedAt)
    if (found.differs)
      return finding(
        'warning',
        `${found.monitorId}: it was not as declared at ${at}`,
        '`paydirt monitors plan` shows the fields, `paydirt monitors apply` restores them',
      )
    const wanted = declared.status ?? 'active'
    if (found.status !== null && found.status !== wanted)
      return finding(
        'warning',
        `${found.monitorId}: its status at the service is ${found.status}, declared is ${wanted}`,
        compare,
      )
    return finding('ok', `${found.monitorId}: as declared at ${at}`)
  })
}
