import { z } from 'zod'
import { crmNames } from '../../../connectors/definitions.ts'
import { parseFilter } from '../../../connectors/parse-filter.ts'
import { described, ofType, setting } from '../../../domain/setting.ts'
import { monitorStatuses } from '../../../domain/monitors/declared.ts'
import { automaticPersonEnrichmentSchema, onMatchSchema } from './on-match.ts'

const condition = z.string().refine((text) => parseFilter(text) !== undefined, {
  message: 'must be PROPERTY=VALUE, PROPERTY!=VALUE, PROPERTY= (blank) or PROPERTY!= (filled)',
})

const companies = z.union([
  z.array(z.string().trim().min(1)).min(1).max(10_000),
  z.strictObject({
    connector: z.enum(crmNames),
    entity: z.string().min(1).optional(),
    filter: z.union([condition, z.array(condition).min(1)]).optional(),
    limit: z.int().min(1).optional(),
  }),
  z.strictObject({ list: z.string().min(1), limit: z.int().min(1).optional() }),
])

const webhook = z.string().refine((text) => text === 'auto' || /^https?:$/.test(protocolOf(text)), {
  message: "must be 'auto', or an address that begins with https://",
})

const monitor = z
  .strictObject({
    detection_mode: described(z.string().min(1), {
      means:
        '`signal_first` for the whole market, `company_first` for named companies; it stays as it is once made',
      example: 'signal_first',
    }),
    signal_types: described(z.array(z.string().min(1)).min(1), {
      means: 'the signals that it watches for',
      example: ['expansions'],
    }),
    filters: setting(ofType('filters', z.record(z.string().min(1), z.unknown())), {
      means: 'the filters of the monitor, by the service’s own names',
      defaultText: 'none',
      example: { tos: ['ES'] },
    }),
    companies: setting(ofType('domains and service ids, `{ connector, filter }`, or `{ list }`', companies), {
      means: 'the companies of a monitor in `company_first`',
      defaultText: 'none',
      example: { connector: 'hubspot', filter: 'lifecyclestage=customer' },
    }),
    webhook: setting(webhook, {
      means:
        'the address to which it delivers; `auto` is `/hooks/monitor` below `PAYDIRT_PUBLIC_URL`, with the secret header',
      defaultText: 'none: it is read from its logs alone',
      example: 'auto',
    }),
    status: setting(z.enum(monitorStatuses), {
      means: 'its status at the service',
      default: 'active',
      example: 'paused',
    }),
    channel: setting(ofType('keys of the service', z.record(z.string().min(1), z.unknown())), {
      means: 'further keys that are sent as they stand, such as those of a channel template',
      defaultText: 'none',
      example: { channel_template_id: 7 },
    }),
    onMatch: setting(ofType('what is done on a [match](monitors.md#on-a-match)', onMatchSchema), {
      means: 'the work that is done for each company that it names',
      defaultText: 'records that exist are enriched by `http.monitor.recipe`',
      example: { connector: 'hubspot', create: true },
    }),
    automaticPersonEnrichment: setting(ofType('keys of the service', automaticPersonEnrichmentSchema), {
      means:
        'the service’s own enrichment of people at matched companies: it spends credits that this ledger does not see',
      defaultText: 'off',
      example: { is_enabled: true },
    }),
  })
  .superRefine((given, context) => {
    const fault = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (given.detection_mode === 'company_first' && given.companies === undefined)
      fault('companies', 'is missing: a monitor in company_first names its companies')
    if (given.detection_mode === 'signal_first' && given.companies !== undefined)
      fault('companies', 'is only for company_first: the service drops it')
    if (given.webhook !== undefined && given.webhook !== 'auto') {
      const host = URL.canParse(given.webhook) ? new URL(given.webhook).hostname : ''
      if (/^(localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|\[?::1)/.test(host))
        fault('webhook', `${host} is no public address: the service cannot reach it`)
    }
  })

export const monitorsSchema = z.record(
  z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be a name of small letters, digits and hyphens'),
  monitor,
)

export type MonitorsConfig = z.output<typeof monitorsSchema>
export type MonitorSettings = MonitorsConfig[string]

function protocolOf(text: string): string {
  return URL.canParse(text) ? new URL(text).protocol : ''
}
