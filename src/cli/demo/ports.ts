import type { StandInName } from '../../sandbox/stand-ins.ts'
import { standInNames } from '../terminal/choices.ts'

/** The ports of `paydirt sandbox` unless told otherwise. A demo's folder names these addresses. */
export const sandboxPorts = { service: 8402, chain: 8545, crm: 8403 } as const

/** Each CRM has a port of its own, so that the settings of several can stand in one folder. */
export function crmPort(name: StandInName): number {
  return sandboxPorts.crm + standInNames.indexOf(name)
}
