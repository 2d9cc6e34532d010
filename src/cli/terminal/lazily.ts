/**
 * Returns an action of a command that loads its code when it is run, and not before: help, version, completion and wrong
 * usage are answered without the modules of all commands, which take more than a second to load.
 */
export function lazily<Given extends unknown[]>(
  load: () => Promise<(...given: Given) => Promise<void> | void>,
): (...given: Given) => Promise<void> {
  return async (...given) => {
    const run = await load()
    await run(...given)
  }
}
