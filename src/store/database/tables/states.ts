/** `stopped`: interrupted; nothing is bought for it until the same run is started again. */
export type RunState = 'planned' | 'scanning' | 'working' | 'stopped' | 'parked' | 'finished' | 'failed'
/**
 * `superseded`: a later write replaced it, or it is unknown whether it was written. `rejected`: the CRM refused it.
 */
export type FieldWriteState = 'intended' | 'written' | 'undone' | 'superseded' | 'rejected'
/**
 * A draft of a record. `intent`: its identities are reserved. `sent`: the CRM may have made it. `created`: it has. `exists`: there was such
 * a record. `rejected`: the CRM refused it. `left`: it is not made for another reason. `archived`: it was made and taken back.
 */
export type CreatedState = 'intent' | 'sent' | 'created' | 'exists' | 'rejected' | 'left' | 'archived'
export type LookupState = 'waiting' | 'parked' | 'answered' | 'failed'

/** `handed_over`: its scan is complete, and the workers do the rest. */
export type OccurrenceState = 'due' | 'scanning' | 'handed_over' | 'stopped' | 'missed' | 'failed'
/** `catch_up`: planned for a time at which no scheduler was running. `request`: a sync that a person asked for. */
export type OccurrenceCause = 'cron' | 'catch_up' | 'run_now' | 'request'

/** The due time of work that is parked until a person acts: it never comes, and every date library can hold it. */
export const indefinitely = new Date('9999-01-01T00:00:00Z')
