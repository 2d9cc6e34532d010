import { queryLedger } from '../../app/queries/query-ledger.ts'
import type { OptionReport } from '../../app/reports/option-report.ts'
import { readConfig } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'

interface Options {
  object?: string
  json?: true
}

const mostShown = 20

export async function listOptions(name: string, options: Options): Promise<void> {
  const fields = await queryLedger(await readConfig(), 'options', { connector: name, object: options.object })
  print(options.json ? `${JSON.stringify({ connector: name, fields })}\n` : textOf(name, fields))
}

function textOf(connector: string, fields: readonly OptionReport[]): string {
  if (fields.length === 0) return `no field of the mapping is a picklist in ${connector}\n`
  const lines = fields.flatMap((report) => [
    `${report.entity}.${report.property} (${report.field}): ${summary(report)}`,
    ...report.without.slice(0, mostShown).map(({ value, answers, near }) => {
      const like = near.length > 0 ? `   near: ${near.join(', ')}` : ''
      return `  ${String(answers).padStart(6)}  ${JSON.stringify(value)}${like}`
    }),
    ...(report.without.length > mostShown
      ? [`          and ${report.without.length - mostShown} more (--json lists all)`]
      : []),
  ])
  const first = fields.find(({ without }) => without.length > 0)
  const advice = first
    ? [
        'They are left out of every write. To write one, name its option in paydirt.config.ts:',
        `  connectors.${connector}.mapping.${first.entity}.fields.${first.field} = { property: '${first.property}', options: { ${JSON.stringify(first.without[0]?.value)}: '…' } }`,
      ]
    : []
  return `${[...lines, ...advice].join('\n')}\n`
}

function summary({ values, without, allowNew }: OptionReport): string {
  if (values === 0) return 'the ledger has no value for it yet'
  if (without.length === 0)
    return allowNew ? `all ${values} values can be written` : `all ${values} values have an option`
  return `${without.length} of ${values} values have no option`
}
