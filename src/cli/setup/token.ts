import { queryLedger } from '../../app/queries/query-ledger.ts'
import { createToken, revokeToken } from '../../app/web/tokens.ts'
import type { TokenScope } from '../../store/access/api-tokens.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { readConfig, withContext } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

interface Options {
  scope: TokenScope[]
  perMinute: number
  dayUsd?: bigint
  json?: true
}

export async function create(
  name: string,
  { scope: scopes, perMinute, dayUsd, json }: Options,
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

export async function list({ json }: { json?: true }): Promise<void> {
  const tokens = await queryLedger(await readConfig(), 'tokens', {})
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
    const used = revokedAt ? 'revoked' : lastUsedAt ? `used ${utcMinute(lastUsedAt)}` : 'never used'
    print(`${id}  ${name.padEnd(20)} ${scopes.join(',').padEnd(12)} ${perMinute}/min  ${cap}  ${used}\n`)
  }
}

export async function revoke(id: string): Promise<void> {
  await withContext(async (context) => {
    if (!(await revokeToken(context, id)))
      throw new ConfigError('no_such_token', `there is no token ${id}; \`paydirt token list\` shows them`)
    print(`token ${id} is revoked\n`)
  })
}
