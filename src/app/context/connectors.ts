import type { Connector } from '../../connectors/connector.ts'
import { ConfigError } from '../../domain/errors.ts'
import { hubspotMapping, salesforceMapping } from '../../domain/mapping/defaults.ts'
import { resolveMapping } from '../../domain/mapping/schema.ts'
import type { CallBudget } from '../../domain/ports/call-budget.ts'
import type { Config } from '../config/config.ts'

/** The CRMs that can be synced. */
export const crmNames = ['hubspot', 'salesforce'] as const
export type CrmName = (typeof crmNames)[number]

const credentials: Record<CrmName, string> = {
  hubspot: 'HUBSPOT_ACCESS_TOKEN',
  salesforce: 'SALESFORCE_LOGIN_URL, SALESFORCE_CLIENT_ID and SALESFORCE_CLIENT_SECRET',
}

/**
 * Throws ConfigError when the CRM's credentials are not set, or its mapping names what there is not. The clients are
 * loaded only now: they are large, and most commands need neither.
 */
export async function openConnector(
  config: Config,
  name: CrmName,
  budget: CallBudget | undefined,
): Promise<Connector> {
  if (name === 'hubspot' && config.hubspot) {
    const { auth, baseUrl, mapping, tenSecondLimit, searchLimit } = config.hubspot
    const { createHubspotConnector } = await import('../../connectors/hubspot/index.ts')
    return createHubspotConnector({
      ...auth,
      mapping: resolveMapping(hubspotMapping, mapping),
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(budget ? { budget } : {}),
      limits: {
        ...(tenSecondLimit === undefined ? {} : { perTenSeconds: tenSecondLimit }),
        ...(searchLimit === undefined ? {} : { searchPerSecond: searchLimit }),
      },
    })
  }
  if (name === 'salesforce' && config.salesforce) {
    const { auth, loginUrl, mapping, apiVersion, bulkThreshold, quotaShare, allowDuplicates, autoAssign } =
      config.salesforce
    const { createSalesforceConnector } = await import('../../connectors/salesforce/index.ts')
    return createSalesforceConnector({
      auth,
      loginUrl,
      mapping: resolveMapping(salesforceMapping, mapping),
      ...(apiVersion === undefined ? {} : { apiVersion }),
      ...(bulkThreshold === undefined ? {} : { bulkThreshold }),
      ...(quotaShare === undefined ? {} : { quotaShare }),
      ...(budget ? { callBudget: budget } : {}),
      headers: {
        ...(allowDuplicates === undefined ? {} : { allowDuplicates }),
        ...(autoAssign === undefined ? {} : { autoAssign }),
      },
    })
  }
  throw new ConfigError('missing_setting', `${name} is not set up: set ${credentials[name]}`)
}

export function isConfigured(config: Config, name: CrmName): boolean {
  return config[name] !== undefined
}
