import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { parseUsd } from '../../domain/money.ts'
import type { TokenScope } from '../../store/access/api-tokens.ts'
import { tokenScopes } from '../terminal/choices.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

const defaultScopes: TokenScope[] = ['enrich']

export function tokenCommand(): Command {
  const command = new Command('token')
    .description('Make, list and revoke the tokens of the HTTP interface.')
    .addHelpText('after', helpEnd({ examples: ['paydirt token create crm-button', 'paydirt token list'] }))
  command.addCommand(
    new Command('create')
      .description('Make a token. It is shown only once, because only its digest is stored.')
      .argument('<name>', 'what it is for')
      .addOption(
        new Option('--scope <name>', 'enrich, read (all tasks and runs) or admin; repeatable')
          .choices(tokenScopes)
          .argParser(scope)
          .default(defaultScopes, 'enrich'),
      )
      .option('--per-minute <n>', 'the most calls in a minute', count, 120)
      .option('--day-usd <amount>', 'the most that may be spent for it in a day (UTC)', usd)
      .option('--json', 'print one JSON document')
      .addHelpText(
        'after',
        helpEnd({
          examples: [
            'paydirt token create crm-button',
            'paydirt token create dashboard --scope read --day-usd 5',
          ],
          statuses: {},
        }),
      )
      .action(lazily(async () => (await import('./token.ts')).create)),
  )
  command.addCommand(
    new Command('list')
      .description('List the tokens by id and name, without their text.')
      .option('--json', 'print one JSON document')
      .addHelpText(
        'after',
        helpEnd({ examples: ['paydirt token list', 'paydirt token list --json'], statuses: {} }),
      )
      .action(lazily(async () => (await import('./token.ts')).list)),
  )
  command.addCommand(
    new Command('revoke')
      .description('Revoke a token.')
      .addArgument(new Argument('<id>', 'the id that `paydirt token list` shows'))
      .addHelpText('after', helpEnd({ examples: ['paydirt token revoke TOKEN'], statuses: {} }))
      .action(lazily(async () => (await import('./token.ts')).revoke)),
  )
  return command
}

/** The first scope that is named replaces the default. */
function scope(text: string, before: TokenScope[]): TokenScope[] {
  const found = tokenScopes.find((name) => name === text)
  if (!found) throw new InvalidArgumentError(`must be ${tokenScopes.join(', ')}`)
  return before === defaultScopes ? [found] : [...new Set([...before, found])]
}

function count(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('must be a whole number above 0')
  return Number(text)
}

function usd(text: string): bigint {
  try {
    const amount = parseUsd(text)
    if (amount > 0n) return amount
  } catch {}
  throw new InvalidArgumentError('must be an amount in USD such as 5 or 0.50')
}
