import type { StandInName } from '../../sandbox/stand-ins.ts'
import type { DemoFolder } from './demo-folder.ts'
import { listOf, usualLimit, writeListSettings } from './demo-settings.ts'
import { demoSteps, idAfter } from './demo-steps.ts'

/** The companies of the list that a new CRM has already, each in another spelling. */
export const knownToCrm = 12

/** The plan and the run of the list, and the commands that ended well, as `--json` prints them. */
export interface ListDemo {
  planId: string
  runId: string
  commands: string[]
}

interface ListDemoOptions {
  crm: StandInName
  environment: Readonly<Record<string, string>>
  limit: number | undefined
  signal: AbortSignal
  say: (text: string) => void
}

/**
 * Goes from a filter to records in a CRM, and back, by the commands that a person would enter, each in a process of its own in the demo's
 * folder. Their output is passed on as it comes.
 */
export async function demoList(
  folder: DemoFolder,
  { crm, environment, limit = usualLimit, signal, say }: ListDemoOptions,
): Promise<ListDemo> {
  await writeListSettings(folder, limit)
  const list = listOf(crm)
  const { step, commands } = demoSteps(folder, { environment, signal, say })

  await step('the CRM is read into the index, at no cost:', 'index', crm)
  await step('page 1 tells how many there are, and how many the CRM has:', 'lists', 'preview', list)
  await step('the other pages, within the budget of the list:', 'lists', 'fetch', list)
  const plan = await step('a plan pays nothing and writes nothing:', 'lists', 'plan', list)
  const planId = idAfter('apply', plan)
  const applied = await step('the records of the plan, and no others:', 'apply', planId)
  const runId = idAfter('undo', applied)
  await step('the same list again buys nothing ...', 'lists', 'fetch', list)
  await step('... and makes nothing:', 'lists', 'plan', list)
  await step('the way back, first as a plan:', 'undo', runId, '--plan')
  await step('and done:', 'undo', runId)
  return { planId, runId, commands }
}
