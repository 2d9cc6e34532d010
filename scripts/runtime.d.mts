/** What of runtime.mjs the benchmarks use. */
export const leanFlags: string[]
