import { privateKeyToAccount } from 'viem/accounts'
import { usdFromCredits } from '../../domain/credits.ts'
import type { Limit } from '../../domain/forecast/limits.ts'
import type { Atomic } from '../../domain/money.ts'
import { budgetLines, type Caps } from '../../pay/limits/budget.ts'
import { committedIn, runToContinue } from '../../store/views/committed.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { Context } from '../context/context.ts'

export interface SpendLimits {
  limits: Limit[]
  /** The wallet that pays; undefined for direct access. */
  wallet: { address: string; balanceAtomic: Atomic | undefined } | undefined
}

/**
 * Returns everything that limits what a run may spend now: its own budget, those of the day, the month and the connector, the
 * wallet and the kill switch. By direct access the budgets in credits count, shown in USD at a cent a credit.
 */
export async function spendLimits(
  {
    config,
    database,
    chain,
    spendSwitch,
    now,
  }: Pick<Context, 'config' | 'database' | 'chain' | 'spendSwitch' | 'now'>,
  run: Pick<Run, 'id' | 'connector' | 'fingerprint'>,
): Promise<SpendLimits> {
  const { db } = database
  const { caps, apiKey, walletKey } = config
  const runId = (await runToContinue(db, run.fingerprint)) ?? run.id
  const currency = apiKey ? 'credit' : 'USD'
  const lines = budgetLines({ runId, connector: run.connector, now: now(), currency }, caps)
  const committed = await committedIn(
    db,
    lines.map(({ scope }) => scope),
  )
  const inUsd = (atomic: Atomic) => (apiKey ? usdFromCredits(atomic) : atomic)
  const limits = lines.map(({ scope, capAtomic }): Limit => {
    const name = windowOf(scope)
    const isCapped = isSet(name, run.connector, caps, apiKey !== undefined)
    const usedAtomic = committed.get(scope) ?? 0n
    return {
      name,
      capAtomic: isCapped ? inUsd(capAtomic) : undefined,
      usedAtomic: inUsd(usedAtomic),
      leftAtomic: isCapped ? inUsd(capAtomic > usedAtomic ? capAtomic - usedAtomic : 0n) : undefined,
    }
  })
  const address = apiKey || walletKey === undefined ? undefined : privateKeyToAccount(walletKey).address
  const balanceAtomic = address && (await chain.balanceOf(address).catch(() => undefined))
  if (address)
    limits.push({ name: 'wallet', capAtomic: balanceAtomic, usedAtomic: 0n, leftAtomic: balanceAtomic })
  if (await spendSwitch.isStopped())
    limits.push({ name: 'stopped', capAtomic: 0n, usedAtomic: 0n, leftAtomic: 0n })
  return { limits, wallet: address ? { address, balanceAtomic } : undefined }
}

/** Returns the limits that are left when other runs before this one spend so much; a run's own budget is its own. */
export function lessPlanned({ limits, wallet }: SpendLimits, plannedAtomic: Atomic): SpendLimits {
  return {
    wallet,
    limits: limits.map((limit) => {
      const { name, usedAtomic, leftAtomic } = limit
      if (name === 'run' || name === 'stopped' || leftAtomic === undefined) return limit
      const left = leftAtomic > plannedAtomic ? leftAtomic - plannedAtomic : 0n
      return { ...limit, usedAtomic: usedAtomic + plannedAtomic, leftAtomic: left }
    }),
  }
}

/** `credits:run:ID` and `run:ID` are both the window of a run. */
function windowOf(scope: string): Limit['name'] {
  return scope.replace(/^credits:/, '').split(':')[0] as Limit['name']
}

function isSet(window: Limit['name'], connector: string, caps: Caps, inCredits: boolean): boolean {
  if (inCredits) return (window === 'run' ? caps.creditsRun : caps.creditsDay) !== undefined
  switch (window) {
    case 'run':
      return caps.runAtomic !== undefined
    case 'day':
      return caps.dayAtomic !== undefined
    case 'month':
      return caps.monthAtomic !== undefined
    default:
      return caps.connectorDayAtomic?.[connector] !== undefined
  }
}
