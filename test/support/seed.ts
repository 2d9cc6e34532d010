const DEFAULT_SEED = 20_260_101

/** The seed for whatever a test draws at random: `PAYDIRT_TEST_SEED`, a whole number, or always the same one. */
export function testSeed(env: Record<string, string | undefined> = process.env): number {
  const given = env['PAYDIRT_TEST_SEED']
  if (given === undefined || given === '') return DEFAULT_SEED
  const seed = Number(given)
  if (!Number.isSafeInteger(seed))
    throw new Error(`PAYDIRT_TEST_SEED must be a whole number, not ${JSON.stringify(given)}`)
  return seed
}

/** Returns the number of cases a fuzz test tries: few enough for every run, and as many as `PAYDIRT_FUZZ_CASES` says. */
export function fuzzCases(usual: number): number {
  const wanted = Number(process.env['PAYDIRT_FUZZ_CASES'])
  return Number.isInteger(wanted) && wanted > 0 ? wanted : usual
}
