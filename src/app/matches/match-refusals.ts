import type { Connector } from '../../connectors/connector.ts'
import { automaticEnrichmentWarning } from '../config/watching/on-match.ts'
import {
  companyEntityOf,
  matchListName,
  matchListSettings,
  onMatchOf,
  withPlace,
} from '../config/watching/match-lists.ts'
import type { Context } from '../context/context.ts'
import { assertMaking } from '../lists/making/may-make.ts'
import { runRefusals } from '../lists/running/run-list.ts'

/** Returns why the matches of a monitor would wait or end now, in words, with the place in the settings. Asks the CRM, and buys nothing. */
export async function matchRefusals(
  context: Context,
  monitor: string,
  connector: Connector,
): Promise<string[]> {
  const onMatch = onMatchOf(context.config, monitor)
  if (!onMatch) return []
  const refusals: string[] = []
  for (const part of ['companies', 'people'] as const) {
    const name = matchListName(monitor, part)
    const settings = matchListSettings(context.config, name)
    if (!settings) continue
    assertMaking(connector, settings, name)
    const found = await runRefusals(context, { name, settings }, connector)
    refusals.push(...found.map(({ message }) => withPlace(name, message)))
  }
  if ((onMatch.note || onMatch.task) && connector.notes)
    refusals.push(
      ...(await connector.notes.check(companyEntityOf(onMatch))).map(
        ({ message, todo }) => `${message}. ${todo}`,
      ),
    )
  return [...new Set(refusals)]
}

/** Returns what a person should know of a monitor's matches before it is applied. */
export function matchWarnings({ config }: Pick<Context, 'config'>, monitor: string): string[] {
  const declared = Object.hasOwn(config.monitors ?? {}, monitor) ? config.monitors?.[monitor] : undefined
  const warning = declared && automaticEnrichmentWarning(declared)
  return warning === undefined ? [] : [`monitors.${monitor}: ${warning}`]
}
