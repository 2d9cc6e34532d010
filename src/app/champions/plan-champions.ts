import { ConfigError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { championPurse } from '../config/watching/purses.ts'
import { withConnector } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import { listMonth } from '../money/list-months.ts'
import { openPurse } from '../signals/buying/purse.ts'
import { listNamed } from '../lists/pages/list-calls.ts'
import { joinRefusals } from './join-employers.ts'
import { championsNamed, readCandidates, type Candidates } from './candidates.ts'

/** The plan of a watch: nothing was bought for it. Amounts in USD. */
export interface ChampionPlan extends Omit<Candidates, 'due' | 'all' | 'object'> {
  champions: string
  /** The people who can be looked up. */
  people: number
  /** Those of whom a check is due now. */
  due: number
  /** Those who have moved, and are not looked up again. */
  moved: number
  days: number
  perLookupAtMostUsd: string
  /** One lookup each. An employer whose domain decides is one more, once for all people there. */
  leastUsd: string
  /** Each of them with a new employer. */
  mostUsd: string
  /** The recipe that is bought for each who has moved, beside that. Null: none. */
  joinRecipe: string | null
  /** The reasons for which a run would be refused now, before it buys anything. */
  refusals: string[]
  month: { spentUsd: string; capUsd: string | null }
}

/** Most employers that one check looks up: the one of now, and two of before where the record names a domain alone. */
const mostEmployers = 3n

/** Plans a watch: the people who are due, and the cost. Reads them out of their CRM, at no cost. */
export async function planChampions(
  context: Context,
  watch: string,
  { signal }: { signal: AbortSignal },
): Promise<ChampionPlan> {
  const settings = championsNamed(context.config, watch)
  return withConnector(context, settings.connector, async (connector) => {
    const { due, all, object: _, ...others } = await readCandidates(context, watch, connector, { signal })
    const purse = await openPurse(context, { ...championPurse(watch), budgetAtomic: 0n, signal })
    await purse.close()
    const [person, company] = (['person', 'company'] as const).map((kind) => {
      const url = `https://www.${context.config.networkHosts[0]}/${kind === 'person' ? 'in' : 'company'}/any`
      const { capAtomic } = purse.plan(`${kind}.profile`, { profnet_url: url })
      if (capAtomic !== undefined) return capAtomic
      throw new ConfigError(
        'price_unknown',
        `nobody knows the price of ${kind}.profile yet: name the most that one request may cost in payment.maxPricesUsd`,
      )
    }) as [bigint, bigint]
    const month = await listMonth(context, championPurse(watch).budget)
    const count = BigInt(due.length)
    const join = settings.onJoin && listNamed(context.config, championPurse(watch).budget)
    const refusals = join ? await joinRefusals(context, watch, connector) : []
    return {
      champions: watch,
      ...others,
      people: all.length,
      due: due.length,
      moved: all.filter(({ last }) => last?.verdict === 'moved').length,
      days: settings.days,
      perLookupAtMostUsd: formatUsd(person),
      leastUsd: formatUsd(count * person),
      joinRecipe: join?.recipe ?? null,
      refusals: refusals.map(({ message }) => message),
      mostUsd: formatUsd(count * (person + mostEmployers * company)),
      month: {
        spentUsd: formatUsd(month.spentAtomic),
        capUsd: month.capAtomic === undefined ? null : formatUsd(month.capAtomic),
      },
    }
  })
}
