import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { createToken, listTokens, revokeToken } from '../../app/web/tokens.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd, parseUsd } from '../../domain/money.ts'
import { tokenScopes, type TokenScope } from '../../store/access/api-tokens.ts'
import { withContext } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'

interface CreateOptions {
  scope: TokenScope[]
  perMinute: number
  dayUsd?: bigint
  json?: true
}

const defaultScopes: TokenScope[] = ['enrich']

export function tokenCommand(): Command {
  const command = new Command('token').description('Make, list and revoke the tokens of the HTTP interface.')
  command.addCommand(
    new Command('create')
      .description('Make a token. It is shown only once, because only its digest is stored.')
      .argument('<name>', 'what it is for')
      .addOption(
        new Option('--scope <name>', 'enrich, read (all tasks and runs) or admin; repeatable')
          .argParser(scope)
          .default(defaultScopes, 'enrich'),
      )
      .option('--per-minute <n>', 'the most calls in a minute', count, 120)
      .option('--day-usd <amount>', 'the most that may be spent for it in a day (UTC)', usd)
      .option('--json', 'print one JSON document')
      .action(create),
  )
  command.addCommand(
    new Command('list')
      .description('List the tokens by id and name, without their text.')
      .option('--json', 'print one JSON document')
      .action(list),
  )
  command.addCommand(
    new Command('revoke')
      .description('Revoke a token.')
      .addArgument(new Argument('<id>', 'the id that `paydirt token list` shows'))
      .action(revoke),
  )
  return command
}

async function create(
  name: string,
  { scope: scopes, perMinute, dayUsd, json }: CreateOptions,
): Promise<void> {
  await withContext(async (context) => {
    const { id, token } = await createToken(context, {
      name,
      scopes,
      perMinute,
      dayCapAtomic: dayUsd ?? null,
    })
    if (json) print(`${JSON.stringify({ id, token })}\n`)
    else print(`${token}\n`)
    printError(`token ${id} (${scopes.join(', ')}) is shown only this once\n`)
  })
}

async function list({ json }: { json?: true }): Promise<void> {
  await withContext(async (context) => {
    const tokens = await listTokens(context)
    if (json) {
      const rows = tokens.map(({ dayCapAtomic, ...token }) => ({
        ...token,
        dayCapUsd: dayCapAtomic === null ? null : formatUsd(dayCapAtomic),
      }))
      print(`${JSON.stringify(rows)}\n`)
      return
    }
    if (tokens.length === 0) print('no tokens yet\n')
    for (const { id, name, scopes, perMinute, dayCapAtomic, lastUsedAt, revokedAt } of tokens) {
      const cap = dayCapAtomic === null ? 'no cap' : `${formatUsd(dayCapAtomic)} USD/day`
      const used = revokedAt ? 'revoked' : lastUsedAt ? `used ${minute(lastUsedAt)}` : 'never used'
      print(`${id}  ${name.padEnd(20)} ${scopes.join(',').padEnd(12)} ${perMinute}/min  ${cap}  ${used}\n`)
    }
  })
}

async function revoke(id: string): Promise<void> {
  await withContext(async (context) => {
    if (!(await revokeToken(context, id)))
      throw new ConfigError('no_such_token', `there is no token ${id}; \`paydirt token list\` shows them`)
    print(`token ${id} is revoked\n`)
  })
}

function minute(date: Date): string {
  return date.toISOString().slice(0, 16)
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
