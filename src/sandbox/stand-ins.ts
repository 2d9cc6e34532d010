import type { CrmStandIn, CrmStandInOptions } from './crm/stand-in.ts'

/** One line a CRM that has a stand-in. A stand-in is large: it is loaded when it is started. */
const standIns = {
  hubspot: () => import('./hubspot/index.ts'),
  salesforce: () => import('./salesforce/index.ts'),
} satisfies Record<string, () => Promise<{ startCrm(options?: CrmStandInOptions): Promise<CrmStandIn> }>>

export type StandInName = keyof typeof standIns

/** Starts a CRM with seeded records and the habits of the real one. Without a state file it forgets them when it stops. */
export async function startCrm(name: StandInName, options: CrmStandInOptions = {}): Promise<CrmStandIn> {
  const standIn = await standIns[name]()
  return standIn.startCrm(options)
}

/** Returns the file of a CRM's records beside that of the chain: both begin and go on together. */
export function crmStateFile(name: StandInName, chainFile: string | undefined): string | undefined {
  return chainFile === undefined ? undefined : `${chainFile}.${name}`
}
