import type { Reporter, TestModule } from 'vitest/node'

const shown = 20
/** A run of a few files needs no list. */
const fewest = 40

/** Prints at the end of a run which files took longest: importing what they need, their hooks and their tests. */
export const slowestFiles: Reporter = {
  onTestRunEnd(modules) {
    if (modules.length < fewest) return
    const files = modules
      .map((module) => ({ path: module.relativeModuleId, ms: durationMs(module) }))
      .sort((one, other) => other.ms - one.ms)
    const totalMs = files.reduce((sum, { ms }) => sum + ms, 0)
    console.log(`\n ${shown} slowest of ${files.length} files (${seconds(totalMs)} s in all):`)
    for (const { path, ms } of files.slice(0, shown)) console.log(` ${seconds(ms).padStart(7)} s  ${path}`)
  },
}

function durationMs(module: TestModule): number {
  const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic()
  return prepareDuration + setupDuration + collectDuration + duration
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
