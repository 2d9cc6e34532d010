import type { Atomic } from '../../../domain/money.ts'
import type { StepPrice } from '../../../domain/planning/prices.ts'
import type { LiveRun } from '../../../store/views/desk-now.ts'
import { connectorName, runName } from '../view/format.ts'
import type { NowModel } from './now.ts'

/** The caps of the config; undefined means no cap. */
export interface DeskCaps {
  /** Price and cap of each step. */
  prices: readonly StepPrice[]
  runAtomic?: Atomic
  dayAtomic?: Atomic
  monthAtomic?: Atomic | undefined
  connectorDayAtomic?: Record<string, Atomic> | undefined
}

export interface BudgetBar {
  name: string
  usedAtomic: Atomic
  capAtomic: Atomic | undefined
}

/** Returns the budget scopes that count now, as pay/limits/budget.ts names them, each with its name on the page. */
export function budgetScopes(
  now: Date,
  runs: readonly Pick<LiveRun, 'id' | 'connector' | 'entity' | 'file' | 'schedule'>[],
  connectors: readonly string[],
): { scope: string; name: string; cap: (caps: DeskCaps) => Atomic | undefined }[] {
  const day = now.toISOString().slice(0, 10)
  return [
    { scope: `day:${day}`, name: 'Today', cap: (caps) => caps.dayAtomic },
    { scope: `month:${day.slice(0, 7)}`, name: 'This month', cap: (caps) => caps.monthAtomic },
    ...connectors.map((connector) => ({
      scope: `connector:${connector}:${day}`,
      name: `${connectorName(connector)} today`,
      cap: (caps: DeskCaps) => caps.connectorDayAtomic?.[connector],
    })),
    ...runs.map((run) => ({
      scope: `run:${run.id}`,
      name: `This run of ${runName(run)}`,
      cap: (caps: DeskCaps) => caps.runAtomic,
    })),
  ]
}

export function budgetBars(
  model: Pick<NowModel, 'at' | 'runs' | 'money'>,
  caps: DeskCaps,
  connectors: readonly string[],
): BudgetBar[] {
  return budgetScopes(model.at, model.runs, connectors).map(({ scope, name, cap }) => ({
    name,
    usedAtomic: model.money.committed.get(scope) ?? 0n,
    capAtomic: cap(caps),
  }))
}
