import type { CrmName } from '../../connectors/definitions.ts'
import { planText, totalText } from '../../app/plans/plan-text.ts'
import type { ScanFilter } from '../../connectors/connector.ts'
import type { OpenedPaydirt } from '../../library/open-paydirt.ts'
import type { LeftOutObject, SyncWork } from '../../library/types.ts'
import { exitStatus, statusOfEnd } from '../terminal/exit.ts'
import { createEventView } from '../terminal/event-view.ts'
import { summaryText } from '../terminal/print-summary.ts'
import { stopSignal, withPaydirt } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'

interface Options {
  object?: string
  recipe?: string
  since?: Date
  limit?: number
  filter: ScanFilter[]
  refresh?: true
  plan?: true
  json?: true
}

export async function syncCrm(connector: CrmName, { plan, json, ...which }: Options): Promise<void> {
  const work = { connector, ...which }
  const signal = stopSignal()
  await withPaydirt((paydirt) =>
    plan ? showPlans(paydirt, work, signal, json) : syncAll(paydirt, work, signal, json),
  )
}

async function syncAll(
  paydirt: OpenedPaydirt,
  work: SyncWork,
  signal: AbortSignal,
  json: true | undefined,
): Promise<void> {
  const view = createEventView({
    onEvent(event) {
      if (event.type === 'left_out') sayLeftOut([event])
      if (event.type === 'ended' && !json) print(summaryText(event.summary, event.end, undefined))
    },
  })
  const { end, runs, leftOut } = await paydirt
    .sync(work, { signal, onEvent: view.show })
    .finally(() => view.end())
  if (json) printDocuments(runs.map(({ summary }) => summary))
  process.exitCode = statusOfEnd[end]
  if (leftOut.length > 0 && process.exitCode !== exitStatus.interrupted) process.exitCode = exitStatus.usage
}

async function showPlans(
  paydirt: OpenedPaydirt,
  work: SyncWork,
  signal: AbortSignal,
  json: true | undefined,
): Promise<void> {
  const { plans, leftOut } = await paydirt.plan(work, {
    signal,
    onEvent(event) {
      if (event.type === 'planned' && !json) print(`${event.entity}: ${planText(event.plan)}`)
    },
  })
  if (json) printDocuments(plans)
  else if (plans.length > 1) print(totalText(plans))
  sayLeftOut(leftOut)
  process.exitCode = leftOut.length > 0 ? exitStatus.usage : exitStatus.done
}

function sayLeftOut(leftOut: readonly LeftOutObject[]): void {
  for (const { entity, error } of leftOut) printError(`paydirt: ${entity} left out: ${error.message}\n`)
}

function printDocuments(documents: readonly unknown[]): void {
  print(`${JSON.stringify(documents.length === 1 ? documents[0] : documents)}\n`)
}
