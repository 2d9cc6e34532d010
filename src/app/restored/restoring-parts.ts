import type { Chain } from '../../pay/chain/chain.ts'
import type { OpenDatabase } from '../../store/database/database.ts'
import type { Config } from '../config/config.ts'

/** The parts of a context that restore mode needs: it is left while a context is opened. */
export interface RestoringParts {
  config: Config
  database: OpenDatabase
  chain: Chain
  now: () => Date
  randomBytes: (size: number) => Buffer
  log: { warn(details: object, message: string): void }
}
