import { bringSchemaUp, planSchema, type SchemaPlan } from '../../app/upgrade/schema.ts'
import { exitStatus } from '../terminal/exit.ts'
import { liveLine } from '../terminal/live-line.ts'
import { print, printError } from '../terminal/print.ts'
import { dim } from '../terminal/style.ts'
import { readConfig } from '../terminal/with-context.ts'

interface Options {
  plan?: true
  check?: true
  json?: true
}

export async function migrateDatabase(options: Options): Promise<void> {
  const config = await readConfig()
  liveLine.show('opening the database')
  if (options.plan || options.check) {
    const plan = await planSchema(config)
    liveLine.end()
    if (options.json) print(`${JSON.stringify(plan)}\n`)
    else print(`${headline(plan)}\n${options.plan ? steps(plan) : ''}`)
    if (options.check && plan.pending.length > 0) process.exitCode = exitStatus.failed
    return
  }
  const started = performance.now()
  const before = await bringSchemaUp(config, (line) => {
    liveLine.clear()
    printError(`${dim(`${seconds(started)}  `)}${line}\n`)
    liveLine.show('migrating')
  })
  liveLine.end()
  if (options.json)
    print(`${JSON.stringify({ ...before, migrated: before.pending.map(({ name }) => name) })}\n`)
  else if (before.pending.length === 0) print(`${headline(before)}\n`)
  else print(`migrated from ${before.at ?? 'nothing'} to ${before.to} in ${seconds(started)}\n`)
}

function headline(plan: SchemaPlan): string {
  const where = plan.database === 'postgres' ? 'PostgreSQL (DATABASE_URL)' : 'the embedded database'
  return {
    empty: `${where} is empty: ${plan.pending.length} migrations, up to ${plan.to}`,
    behind: `${where} is at ${plan.at}, this version at ${plan.to}: ${plan.pending.length} to do`,
    current: `${where} is up to date (${plan.at})`,
    newer: `${where} was migrated by a newer version (${plan.newer.join(', ')}), on whose schema this one runs`,
  }[plan.state]
}

/** The SQL of a whole new schema is of no use to a person. */
function steps(plan: SchemaPlan): string {
  if (plan.state === 'empty') return ''
  return plan.pending
    .map(({ name, sql, after, expands }) => {
      const kind = expands
        ? 'the version before runs on the schema after it'
        : 'versions before it stop running'
      const lines = [
        ...(sql === null
          ? [dim('applied; what follows was interrupted')]
          : sql === ''
            ? []
            : sql.split('\n')),
        ...after.map((statement) => `${statement}; ${dim('-- beside reads and writes')}`),
      ]
      return `\n${name} (${kind})\n${lines.map((line) => `  ${line}\n`).join('')}`
    })
    .join('')
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}
