import { inspect } from 'node:util'
import { z } from 'zod'
import { variableGroups } from '../../src/app/config/environment.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { crmNames, crmOf } from '../../src/connectors/definitions.ts'
import { fieldNames } from '../../src/domain/fields.ts'
import { identityFields } from '../../src/connectors/csv/column-names.ts'
import { formatUsd } from '../../src/domain/money.ts'
import { operationRow } from '../../src/domain/operations.ts'
import { defaultPrices, pricedSlots } from '../../src/domain/planning/prices.ts'
import { objectKinds, operations } from '../../src/domain/words.ts'
import { pathNamed, publishedCatalogue } from '../../src/service/catalogue/catalogue.ts'
import { endpointNames } from '../../src/service/catalogue/path-names.ts'
import { listSettings, type Setting } from './list-settings.ts'

/** The parts of docs/configuration.md that are written from the schemas, by the name of their place. */
const parts: Record<string, () => string> = {
  variables: () =>
    Object.entries(variableGroups)
      .map(
        ([title, variables]) => `### ${title}\n\n${tableOf(listSettings(z.object(variables)), 'variable')}`,
      )
      .join('\n\n'),
  keys: () =>
    Object.entries(fileSchema.shape as Record<string, z.ZodType>)
      .map(([key, schema]): [string, Setting[]] => [key, listSettings(schema, key)])
      .map(([key, settings]) => `### ${key}\n\n${tableOf(settings, 'key')}`)
      .join('\n\n'),
  fields: () =>
    table(
      ['of', 'fields'],
      objectKinds.map((object) => [
        object === 'company' ? 'a company' : 'a person',
        fieldNames(object)
          .map((field) => `\`${field}\``)
          .join(', '),
      ]),
    ),
  identity: () => table(['identity'], [[identityFields.map((name) => `\`${name}\``).join(', ')]]),
  steps: () =>
    table(
      ['step', 'published price'],
      pricedSlots.map((slot) => {
        const price = defaultPrices[slot]
        return [`\`${slot}\``, price === undefined ? 'not published' : `${formatUsd(price)} USD`]
      }),
    ),
  operations: () =>
    table(
      ['operation', 'answers are fresh for'],
      operations.map((operation) => {
        const { freshness } = operationRow(operation)
        return [
          `\`${operation}\``,
          freshness === 'usual'
            ? '`freshness.foundDays`, `freshness.notFoundDays`'
            : freshness.foundDays === 0
              ? 'no time: each is asked for'
              : 'a day',
        ]
      }),
    ),
  endpoints: () =>
    table(
      ['endpoint', 'default'],
      endpointNames.map((name) => [`\`${name}\``, `\`${pathNamed(publishedCatalogue, name)}\``]),
    ),
  mappings: () => crmNames.map(mappingOf).join('\n\n'),
}

/** Returns the page with its written parts made anew. Throws when a part has no place on it. */
export function writeParts(page: string): string {
  return Object.entries(parts).reduce((text, [name, write]) => {
    const [begin, end] = [`<!-- from the schemas: ${name} -->`, '<!-- end -->']
    const from = text.indexOf(begin)
    const to = text.indexOf(end, from)
    if (from < 0 || to < 0) throw new Error(`the page has no place for ${name}: ${begin} … ${end}`)
    return `${text.slice(0, from + begin.length)}\n\n${write()}\n\n${text.slice(to)}`
  }, page)
}

function tableOf(settings: readonly Setting[], head: string): string {
  return table(
    [head, 'type', 'default', 'example', 'meaning'],
    settings.map(({ path, type, isRequired, note, schema }) => [
      `\`${path}\``,
      type,
      isRequired ? 'must be set' : defaultOf(note, schema, head),
      note?.example === undefined ? 'a secret' : shown(note.example, head),
      note?.means ?? '',
    ]),
  )
}

function defaultOf(note: Setting['note'], schema: z.ZodType, head: string): string {
  if (note?.default !== undefined) return shown(note.default, head)
  if (schema instanceof z.ZodDefault) return shown(schema.def.defaultValue)
  return note?.defaultText ?? 'none'
}

/** A variable is written as it is; a key as it stands in TypeScript. */
function shown(value: unknown, head = 'key'): string {
  if (typeof value === 'string' && head === 'variable') return `\`${value}\``
  const text = inspect(value, { depth: 9, compact: true, breakLength: Infinity })
  return `\`${text.replaceAll('[ ', '[').replaceAll(' ]', ']')}\``
}

function mappingOf(name: (typeof crmNames)[number]): string {
  const { label, mapping } = crmOf(name)
  const entities = Object.entries(mapping.entities)
  const fields = [...new Set(entities.flatMap(([, { fields: mapped }]) => Object.keys(mapped)))]
  const place = (entity: (typeof entities)[number][1], field: string) => {
    const property = entity.fields[field]?.property
    return property === undefined ? '' : `\`${property}\``
  }
  return `### ${label}\n\n${table(
    ['field', ...entities.map(([entity]) => entity)],
    fields.map((field) => [`\`${field}\``, ...entities.map(([, entity]) => place(entity, field))]),
  )}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
