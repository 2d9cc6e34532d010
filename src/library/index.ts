/// <reference lib="esnext.disposable" preserve="true" />
/** The package's exports: `createPaydirt` for a program, `defineConfig` for `paydirt.config.ts`. */
export { defineConfig, type FileConfig } from '../app/config/file.ts'
export { createPaydirt, recoveryOf } from './create-paydirt.ts'
export {
  BudgetExhaustedError,
  ConfigError,
  FatalError,
  InputError,
  OperationStoppedError,
  PaydirtError,
  PaymentInDoubtError,
  PolicyDeniedError,
  RetriableError,
  type Recovery,
} from '../domain/errors.ts'
export type {
  AppliedPlan,
  ApplyPlanOptions,
  EndedRun,
  EnrichedByIds,
  FileWork,
  LeftOutObject,
  Paydirt,
  PaydirtEvent,
  PaydirtOptions,
  RecordsWork,
  SpendReport,
  Synced,
  SyncPlans,
  SyncWork,
  UndoResult,
  UndoWorkOptions,
  WorkOptions,
} from './types.ts'
