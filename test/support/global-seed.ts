import { isFullSize } from './full-size.ts'
import { testSeed } from './seed.ts'

const variable = 'PAYDIRT_TEST_SEED_SAID'

/** Says once a run which seed and size it has, so that a failure can be had again. */
export default function announceSeed() {
  const seed = testSeed()
  process.env['PAYDIRT_TEST_SEED'] = String(seed)
  if (process.env[variable] === undefined)
    console.error(
      `seed ${seed} (PAYDIRT_TEST_SEED=${seed} gives the same run), ${isFullSize ? 'full' : 'short'} size (PAYDIRT_TEST_FULL=1 is full)`,
    )
  process.env[variable] = '1'
}
