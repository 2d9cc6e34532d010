import { testSeed } from './seed.ts'

/** Says which seed a run has, so that a failure can be had again. */
export default function announceSeed() {
  const seed = testSeed()
  process.env['PAYDIRT_TEST_SEED'] = String(seed)
  console.error(`seed ${seed} (PAYDIRT_TEST_SEED=${seed} gives the same run)`)
}
