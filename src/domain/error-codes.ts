/**
 * Codes that the program compares and does not only report. Throwing and comparing code takes them from here, so that the
 * type checker finds a misspelt one.
 */
export const errorCode = {
  budgetRun: 'budget_run',
  /** A run has spent what the plan said that it was started from. */
  planCost: 'plan_cost',
  budgetDay: 'budget_day',
  budgetMonth: 'budget_month',
  budgetConnector: 'budget_connector',
  /** The budget of a list in its month. */
  budgetList: 'budget_list',
  /** The budget of a monitor's matches in its day or month. */
  budgetMonitor: 'budget_monitor',
  walletEmpty: 'wallet_empty',
  /** Spending is stopped by `paydirt spend --stop`. */
  stopped: 'stopped',
  /** A person stopped the run that would buy the lookup. */
  runStopped: 'run_stopped',
  rateLimited: 'rate_limited',
  /** No permit of the shared pace was free for a while. */
  paced: 'paced',
  /** Another request of an operation that no answer has confirmed is under way. */
  onProbation: 'on_probation',
  /** An operation that no answer had confirmed was answered in a way that cannot be used. */
  operationStopped: 'operation_stopped',
  /** The service could not finish in time (408). */
  notInTime: 'not_in_time',
  paidNoData: 'paid_no_data',
  unreachable: 'unreachable',
  timeout: 'timeout',
  chainUnreachable: 'chain_unreachable',
  /** An MPP server gave the same challenge to two payments. */
  challengeTaken: 'challenge_taken',
  /** The database lacks migrations, and this process may not apply them. */
  schemaBehind: 'schema_behind',
  dataDirInUse: 'data_dir_in_use',
  /** A process that cannot be seen from here may use the data directory. */
  dataDirOwnerUnknown: 'data_dir_owner_unknown',
} as const

export type ErrorCode = (typeof errorCode)[keyof typeof errorCode]

/** Codes of an order that nothing more is to be bought: of all spending, or for one run. */
export const stopCodes: readonly string[] = [errorCode.stopped, errorCode.runStopped]

/** Codes of parked lookups that a new start of the workers tries again. */
export const parkingCodes: readonly ErrorCode[] = [
  errorCode.budgetRun,
  errorCode.budgetDay,
  errorCode.budgetMonth,
  errorCode.budgetConnector,
  errorCode.walletEmpty,
  errorCode.unreachable,
]
