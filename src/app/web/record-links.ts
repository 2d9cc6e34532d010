import { crmOf, isCrmName } from '../../connectors/definitions.ts'
import type { RecordLinks } from '../../http/desk/model/record-links.ts'
import { latestReading } from '../../http/desk/model/readings.ts'
import type { Config } from '../config/config.ts'
import { configuredCrms, openConnector } from '../context/connectors.ts'
import type { Engine } from '../context/engine.ts'

/** The account of a CRM does not change while a process runs, unless its token is replaced. */
const accountFreshMs = 3_600_000
/** A page does not wait longer for a CRM; the next one has the link. */
const patienceMs = 1_500

const publicExplorers: Readonly<Record<string, string>> = {
  'eip155:8453': 'https://basescan.org/tx/{transaction}',
}

/** Returns the links from the desk to the pages of others: records in the CRM, transactions in a block explorer. */
export function createRecordLinks(config: Config, engine: Pick<Engine, 'callBudget' | 'meter'>): RecordLinks {
  const accounts = new Map(
    configuredCrms(config).map((name) => [
      name as string,
      latestReading(() => accountOf(name), { freshMs: accountFreshMs, patienceMs }),
    ]),
  )

  /** Returns undefined when the CRM does not answer: the page has no link then. */
  async function accountOf(name: string): Promise<string | undefined> {
    try {
      const connector = await openConnector(config, name, engine)
      try {
        return (await connector.check([])).account?.id
      } finally {
        await connector.close()
      }
    } catch {
      return undefined
    }
  }

  return {
    hosts: config.networkHosts,

    async recordUrl({ connector, entity, id }) {
      const settings = isCrmName(connector) ? config.connectors[connector] : undefined
      if (!settings) return undefined
      const { recordUrl } = crmOf(connector)
      const known = recordUrl(settings, { accountId: undefined, entity, id })
      if (known !== undefined) return webUrl(known)
      const accountId = await accounts.get(connector)?.()
      const url = accountId === undefined ? undefined : recordUrl(settings, { accountId, entity, id })
      return webUrl(url)
    },

    transactionUrl(network, transaction) {
      if (!/^0x[0-9a-f]{64}$/i.test(transaction)) return undefined
      const own = config.desk.explorers[network]
      // No public explorer shows a payment of a chain on this machine.
      const template = own ?? (isLocal(config.rpcUrl) ? undefined : publicExplorers[network])
      return template ? webUrl(template.replaceAll('{transaction}', transaction)) : undefined
    },
  }
}

function isLocal(url: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)
}

/** Returns an address that a browser may follow, and nothing else. */
function webUrl(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined
  return ['https:', 'http:'].includes(new URL(text).protocol) ? text : undefined
}
