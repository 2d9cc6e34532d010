// HubSpot's published OpenAPI documents, joined into one. They are HubSpot's own and not licensed to others, so none is
// kept here: they are read from a copy of the repository that whoever runs the judge has, or that is cloned for the run.

import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../runtime.mjs'

const repository = 'https://github.com/HubSpot/HubSpot-public-api-spec-collection'

/** The documents that describe the calls of the connector, by the folder of their version. */
const documents = [
  '2026-09/objects.json',
  '2026-09/properties.json',
  '2026-09/propertyValidations.json',
  '2026-09/associations.json',
  '2026-09/accountInfo.json',
  '2026-09/crmOwners.json',
  '2026-03/oauth.json',
  '2026-03/actionsV4.json',
]

/** Returns the folder of the repository: the one that is given, or a clone in the cache. */
export function specificationFolder(given) {
  if (given !== undefined) return given
  const folder = join(root, 'node_modules', '.cache', 'hubspot-specification')
  if (existsSync(join(folder, 'PublicApiSpecs'))) return folder
  mkdirSync(dirname(folder), { recursive: true })
  const { status } = spawnSync('git', ['clone', '--quiet', '--depth', '1', repository, folder], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, GIT_TERMINAL_PROMPT: '0' },
  })
  if (status !== 0)
    throw new Error(`${repository} cannot be cloned: name a copy of it with --specification FOLDER`)
  return folder
}

/**
 * Returns one OpenAPI document of all. The schemas of each keep their names behind the document's own, since several
 * documents use one name for different schemas.
 */
export function readSpecification(folder) {
  const joined = {
    openapi: '3.0.1',
    info: { title: 'HubSpot', version: '2026-09' },
    paths: {},
    components: { schemas: {}, responses: {} },
  }
  for (const name of documents) {
    const [path] = globSync(`**/${name}`, { cwd: folder })
    if (path === undefined) throw new Error(`there is no ${name} in ${folder}`)
    const prefix = name.replaceAll(/\W/g, '_')
    const text = readFileSync(join(folder, path), 'utf8')
      .replaceAll(/#\/components\/(schemas|responses)\//g, (start) => `${start}${prefix}_`)
      // Every value has an example of null, which is none.
      .replaceAll(/,?\s*"example"\s*:\s*null/g, '')
      .replaceAll(/\{\s*,/g, '{')
    const document = JSON.parse(text)
    for (const [address, operations] of Object.entries(document.paths)) {
      joined.paths[address] = Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [method, asUsed(address, operation)]),
      )
    }
    for (const kind of ['schemas', 'responses'])
      for (const [key, value] of Object.entries(document.components?.[kind] ?? {}))
        joined.components[kind][`${prefix}_${key}`] = value
  }
  return joined
}

/** The documents of 2026-09 list 200 alone for batches of which those of 2026-03 list 207 too: both are taken. */
function asUsed(address, operation) {
  const { responses } = operation
  return {
    ...operation,
    // Rights are the stand-in's to check: the proxy would only ask for a header.
    security: [],
    responses:
      address.includes('/batch/') && responses['200'] && !responses['207']
        ? { ...responses, 207: responses['200'] }
        : responses,
  }
}
