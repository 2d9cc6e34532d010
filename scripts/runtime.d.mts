/** The part of runtime.mjs that the benchmarks use. */
export const leanFlags: string[]
