/** The part of runtime.mjs that TypeScript uses: benchmarks and the mutation run. */
export const leanFlags: string[]
export const leanEnv: Record<string, string>
/** The folder of this checkout. */
export const root: string
