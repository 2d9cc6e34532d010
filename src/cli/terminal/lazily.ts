import { liveLine } from './live-line.ts'

/**
 * Returns an action of a command that loads its code when it is run, and not before: help, version, completion and wrong
 * usage are answered without the modules of all commands, which take more than a second to load. On a terminal the command
 * is seen at work from the start; a quiet one is not, because it asks first or is done at once.
 */
export function lazily<Given extends unknown[]>(
  load: () => Promise<(...given: Given) => Promise<void> | void>,
  { isQuiet = false } = {},
): (...given: Given) => Promise<void> {
  return async (...given) => {
    if (!isQuiet) liveLine.show('starting')
    try {
      const run = await load()
      await run(...given)
    } finally {
      liveLine.end()
    }
  }
}
