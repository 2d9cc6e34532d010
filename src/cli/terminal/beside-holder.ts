import { greetHolder } from '../../app/queries/ask-holder.ts'
import { isInUse } from '../../app/queries/query-ledger.ts'
import { ConfigError } from '../../domain/errors.ts'
import { readConfig } from './with-context.ts'

/** The page of the desk on which the same can be done, by command. */
const pages: Readonly<
  Record<string, (args: readonly string[]) => { path: string; does: string } | undefined>
> = {
  sync: () => ({ path: '', does: 'starts a sync' }),
  schedules: () => ({ path: 'settings', does: 'pauses, resumes and runs schedules' }),
  runs: ([, run = '']) => ({ path: `runs/${run}`, does: 'stops and resumes the run' }),
  service: ([, command]) =>
    command === 'retry' ? { path: 'contract', does: 'lets a stopped operation be asked again' } : undefined,
  undo: ([, run = '']) =>
    run.startsWith('-')
      ? { path: 'runs', does: 'lists the runs, each with its undo' }
      : { path: `runs/${run}/undo`, does: 'shows the plan of the undo, and carries it out' },
}

/**
 * Returns the error of a command that found its ledger in use, with what to do: the desk of the process that holds it, or to
 * stop it for a while. Commands that only read are answered by that process, and never come here. Other errors stay as they are.
 */
export async function besideHolder(thrown: unknown, args: readonly string[]): Promise<unknown> {
  if (!isInUse(thrown) || thrown.cause !== undefined) return thrown
  const holder = await readConfig()
    .then(({ dataDir }) => greetHolder(dataDir))
    .catch(() => undefined)
  const page = holder?.desk === undefined ? undefined : pages[args[0] ?? '']?.(args)
  const instead =
    args[0] === 'start'
      ? 'One process at a time works with an embedded ledger; with DATABASE_URL and REDIS_URL any number does'
      : page === undefined
        ? `\`paydirt ${args[0]}\` writes into the ledger, which one process at a time can: stop that process, run this, and start it again. Commands that only read (runs, history, explain, spend, report, doctor, service list, show, verify and actions, every --plan of service call) work beside it`
        : `Its desk does the same: ${new URL(page.path, holder?.desk).href} ${page.does}. Or stop that process, run this, and start it again`
  return new ConfigError(thrown.code, `${thrown.message}. ${instead}`, { cause: thrown })
}
