import { resolve } from 'node:path'
import { openCsv } from '../../../connectors/csv/index.ts'
import { ConfigError } from '../../../domain/errors.ts'
import type { GivenReference } from '../../../domain/lists/references.ts'
import type { ObjectKind } from '../../../domain/words.ts'
import type { Config } from '../../config/config.ts'
import { mostReferences, type LikeSettings } from '../../config/list-sources.ts'

/** Returns the references that stand in the settings themselves, each with its place in them. */
export function namedReferences(
  object: ObjectKind,
  { profiles = [], domains = [], ids = [] }: LikeSettings,
): GivenReference[] {
  return [
    ...profiles.map((profileUrl, at) => ({ place: `profiles[${at}]`, identity: { profileUrl } })),
    ...domains.map((domain, at) => ({ place: `domains[${at}]`, identity: { domain } })),
    ...ids.map((id, at) => ({
      place: `ids[${at}]`,
      ...(object === 'company' ? { identity: { companyId: id } } : { identity: {}, personId: id }),
    })),
  ]
}

/**
 * Reads the references of a file, each with its line; a row that cannot be read has the reason. Throws ConfigError or InputError for a
 * file that cannot be used.
 */
export async function fileReferences(
  config: Pick<Config, 'networkName' | 'networkHosts' | 'csvSynonyms'>,
  object: ObjectKind,
  path: string,
): Promise<GivenReference[]> {
  const csv = await openCsv(resolve(path), {
    object,
    networkName: config.networkName,
    networkHosts: config.networkHosts,
    synonyms: config.csvSynonyms,
  })
  if (csv.wrongObject) throw new ConfigError('wrong_object', `${path}: ${csv.wrongObject}`)
  if (csv.rowCount > mostReferences)
    throw new ConfigError(
      'many_references',
      `${path} has ${csv.rowCount} rows, and a list takes ${mostReferences} references at most: each is a question that is paid`,
    )
  const found: GivenReference[] = []
  for await (const row of csv.rows()) {
    const place = `line ${row.line}`
    found.push(
      row.problem === undefined
        ? { place, identity: csv.identity(row), values: csv.values(row) }
        : { place, identity: {}, fault: row.problem.replace(/^line \d+: /, '') },
    )
  }
  return found
}
