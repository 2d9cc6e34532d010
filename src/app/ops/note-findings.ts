import type { Connector } from '../../connectors/connector.ts'
import type { Config } from '../config/config.ts'
import { companyEntityOf, type MatchConfig } from '../config/watching/match-lists.ts'
import { companyEntity } from '../signals/accounts.ts'
import type { Finding } from './finding.ts'

/** Says whether a CRM takes the notes and tasks of pipelines and matches. One from which none are wanted is not asked. */
export async function noteFindings(
  config: Pick<Config, 'signals'> & MatchConfig,
  connector: Connector,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [entity, places] of placesByEntity(config, connector)) {
    const place = places.join(', ')
    const { notes } = connector
    const problems = notes
      ? await notes.check(entity)
      : [{ message: `${connector.name} takes no notes and no tasks`, todo: `Leave them out of ${place}.` }]
    findings.push(
      ...problems.map(({ message, todo }): Finding => ({ name: place, status: 'problem', message, todo })),
    )
    if (problems.length === 0)
      findings.push({
        name: place,
        status: 'ok',
        message: `${connector.name} takes notes and tasks of ${entity}`,
      })
  }
  return findings
}

function placesByEntity(
  { signals, monitors = {} }: Pick<Config, 'signals'> & MatchConfig,
  connector: Connector,
): Map<string, string[]> {
  const wanted: [entity: string, place: string][] = []
  for (const [name, { accounts, note, task }] of Object.entries(signals)) {
    if (!note && !task) continue
    if ('list' in accounts || accounts.connector !== connector.name) continue
    wanted.push([companyEntity(connector, accounts.entity, `signals.${name}.accounts`), `signals.${name}`])
  }
  for (const [name, { onMatch }] of Object.entries(monitors))
    if (onMatch?.connector === connector.name && (onMatch.note || onMatch.task))
      wanted.push([companyEntityOf(onMatch), `monitors.${name}.onMatch`])
  return new Map(
    [...Map.groupBy(wanted, ([entity]) => entity)].map(([entity, each]) => [
      entity,
      each.map(([, place]) => place),
    ]),
  )
}
