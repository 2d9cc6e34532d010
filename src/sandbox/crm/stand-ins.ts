import { startHubspotStandIn } from '../hubspot/index.ts'
import { startSalesforceStandIn } from '../salesforce/index.ts'

export type CrmKind = 'hubspot' | 'salesforce'

export interface CrmStandIn {
  /** The variables with which Paydirt finds it. */
  environment: Record<string, string>
  stop(): Promise<void>
}

/** A CRM with 500 records an object and the habits of the real one. It forgets everything when it stops. */
export async function startCrm(kind: CrmKind): Promise<CrmStandIn> {
  if (kind === 'hubspot') {
    const { baseUrl, token, stop } = await startHubspotStandIn()
    return { environment: { HUBSPOT_BASE_URL: baseUrl, HUBSPOT_ACCESS_TOKEN: token }, stop }
  }
  const { baseUrl, auth, stop } = await startSalesforceStandIn()
  const environment = {
    SALESFORCE_LOGIN_URL: baseUrl,
    SALESFORCE_CLIENT_ID: auth.clientId,
    SALESFORCE_CLIENT_SECRET: auth.clientSecret,
  }
  return { environment, stop }
}
