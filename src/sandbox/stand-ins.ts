import type { CrmStandIn } from './crm/stand-in.ts'

/** One line a CRM that has a stand-in. A stand-in is large: it is loaded when it is started. */
const standIns = {
  hubspot: () => import('./hubspot/index.ts'),
  salesforce: () => import('./salesforce/index.ts'),
} satisfies Record<string, () => Promise<{ startCrm(): Promise<CrmStandIn> }>>

export type StandInName = keyof typeof standIns

/** Starts a CRM with 500 records an object and the habits of the real one. It forgets everything when it stops. */
export async function startCrm(name: StandInName): Promise<CrmStandIn> {
  const standIn = await standIns[name]()
  return standIn.startCrm()
}
