import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import type { ScanFilter } from '../../connectors/connector.ts'
import { parseFilter } from '../../connectors/parse-filter.ts'
import { crmNames } from '../terminal/choices.ts'
import { helpEnd, runStatuses } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'
import { recipeNote, recipeOption } from '../terminal/recipe-option.ts'

export function syncCommand(): Command {
  return new Command('sync')
    .description(
      'Enrich records that are new or changed in a CRM since the last sync, and write the results back.',
    )
    .addArgument(new Argument('<connector>', 'the CRM').choices(crmNames))
    .option(
      '--object <name>',
      "only this object: company, person, or the CRM's own name (companies, Lead ...)",
    )
    .addOption(recipeOption())
    .option(
      '--since <time>',
      'records that changed since then (ISO 8601), also those that the last sync has read',
      time,
    )
    .option('--limit <n>', 'at most so many records of each object', count)
    .addOption(
      new Option(
        '--filter <condition>',
        'only records where PROPERTY=VALUE, PROPERTY!=VALUE, PROPERTY= (blank) or PROPERTY!= (filled); repeatable',
      )
        .argParser(filter)
        .default([], 'none'),
    )
    .option(
      '--refresh',
      'records whose answers are stale instead of changed ones, the oldest answer first, within the budget',
    )
    .option(
      '--plan',
      'show a plan and save it: what would be bought, filled and paid; pays nothing (see apply)',
    )
    .option('--json', 'print one JSON document on standard output')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt sync hubspot --plan',
          'paydirt sync hubspot --object company --limit 50',
          "paydirt sync salesforce --object Lead --filter 'Status=Open'",
        ],
        notes: [recipeNote],
        statuses: runStatuses,
      }),
    )
    .action(lazily(async () => (await import('./sync.ts')).syncCrm))
}

function time(text: string): Date {
  const date = new Date(text)
  if (Number.isNaN(date.getTime()))
    throw new InvalidArgumentError('must be a time such as 2026-11-01 or 2026-11-01T06:00:00Z')
  return date
}

function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a whole number above 0')
  return Number(text)
}

function filter(text: string, before: ScanFilter[]): ScanFilter[] {
  const parsed = parseFilter(text)
  if (!parsed)
    throw new InvalidArgumentError('must be PROPERTY=VALUE, PROPERTY!=VALUE, PROPERTY= or PROPERTY!=')
  return [...before, parsed]
}
