import { liveLine } from './live-line.ts'

/**
 * Returns an action of a command that loads its code when it is run, and not before: help, version, completion and wrong
 * usage are answered without the modules of all commands, which take more than a second to load. On a terminal the command
 * is seen at work from the start, unless it begins with a question.
 */
export function lazily<Given extends unknown[]>(
  load: () => Promise<(...given: Given) => Promise<void> | void>,
  { asksFirst = false } = {},
): (...given: Given) => Promise<void> {
  return async (...given) => {
    if (!asksFirst) liveLine.show('starting')
    try {
      const run = await load()
      await run(...given)
    } finally {
      liveLine.end()
    }
  }
}
