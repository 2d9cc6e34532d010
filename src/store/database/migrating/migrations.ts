import { ledger } from '../../migrations/0001-0010/0001-ledger.ts'
import { provenance } from '../../migrations/0001-0010/0002-provenance.ts'
import { bundles } from '../../migrations/0001-0010/0003-bundles.ts'
import { http } from '../../migrations/0001-0010/0004-http.ts'
import { desk } from '../../migrations/0001-0010/0005-desk.ts'
import { schedules } from '../../migrations/0001-0010/0006-schedules.ts'
import { byteForByte } from '../../migrations/0001-0010/0007-byte-for-byte.ts'
import { sessionCredential } from '../../migrations/0001-0010/0008-session-credential.ts'
import { rejectedTasks } from '../../migrations/0001-0010/0009-rejected-tasks.ts'
import { rounds } from '../../migrations/0001-0010/0010-rounds.ts'
import { paces } from '../../migrations/0011-0020/0011-paces.ts'
import { payers } from '../../migrations/0011-0020/0012-payers.ts'
import { lookupSalts } from '../../migrations/0011-0020/0013-lookup-salts.ts'
import { chainTransfers } from '../../migrations/0011-0020/0014-chain-transfers.ts'
import { mergedRecords } from '../../migrations/0011-0020/0015-merged-records.ts'
import { closedFields } from '../../migrations/0011-0020/0016-closed-fields.ts'
import { subjectNames } from '../../migrations/0011-0020/0017-subject-names.ts'
import { runStops } from '../../migrations/0011-0020/0018-run-stops.ts'
import { measurements } from '../../migrations/0011-0020/0019-measurements.ts'
import { taskWords } from '../../migrations/0011-0020/0020-task-words.ts'
import { contract } from '../../migrations/0021-0030/0021-contract.ts'
import { planCaps } from '../../migrations/0021-0030/0022-plan-caps.ts'
import { undoneFieldsIndex } from '../../migrations/0021-0030/0023-undone-fields.ts'
import { recordIdentities } from '../../migrations/0021-0030/0024-record-identities.ts'
import { createdRecords } from '../../migrations/0021-0030/0025-created-records.ts'
import { listRows } from '../../migrations/0021-0030/0026-list-rows.ts'
import { listReviews } from '../../migrations/0021-0030/0027-list-reviews.ts'
import { listReferences } from '../../migrations/0021-0030/0028-list-references.ts'
import { listExclusions } from '../../migrations/0021-0030/0029-list-exclusions.ts'
import { taskKinds } from '../../migrations/0021-0030/0030-task-kinds.ts'
import { signals } from '../../migrations/0031-signals.ts'
import { crmNotes } from '../../migrations/0032-crm-notes.ts'
import { matches } from '../../migrations/0033-matches.ts'
import { declaredMonitors } from '../../migrations/0034-declared-monitors.ts'
import { champions } from '../../migrations/0036-champions.ts'
import { monitorSeen } from '../../migrations/0035-monitor-seen.ts'
import { monitorLogs } from '../../migrations/0037-monitor-logs.ts'
import { championJoins } from '../../migrations/0038-champion-joins.ts'
import type { Migration } from '../../migrations/migration.ts'
import { restored } from '../../migrations/0041-restored.ts'
import { tasksByLookup } from '../../migrations/0042-tasks-by-lookup.ts'
import { packedRowsMigration } from '../../migrations/0043-packed-rows.ts'
import { pagedFilesMigration } from '../../migrations/0045-paged-files.ts'
import { openIntentsMigration } from '../../migrations/0046-open-intents.ts'
import { shorterWordLists } from '../../migrations/0047-shorter-word-lists.ts'
import { lighterWrites } from '../../migrations/0048-lighter-writes.ts'
import { valid } from '../../migrations/0039-valid.ts'
import { erasures } from '../../migrations/0040-erasures.ts'

/** All migrations in order. A released migration is never edited; changes go into a new one. */
export const migrations: readonly Migration[] = [
  { name: '0001-ledger', statements: ledger },
  { name: '0002-provenance', statements: provenance },
  { name: '0003-bundles', statements: bundles },
  { name: '0004-http', statements: http },
  { name: '0005-desk', statements: desk },
  { name: '0006-schedules', statements: schedules },
  { name: '0007-byte-for-byte', statements: byteForByte },
  { name: '0008-session-credential', statements: sessionCredential },
  { name: '0009-rejected-tasks', statements: rejectedTasks },
  { name: '0010-rounds', statements: rounds },
  { name: '0011-paces', statements: paces },
  { name: '0012-payers', statements: payers },
  { name: '0013-lookup-salts', statements: lookupSalts },
  { name: '0014-chain-transfers', statements: chainTransfers },
  { name: '0015-merged-records', statements: mergedRecords },
  { name: '0016-closed-fields', statements: closedFields },
  { name: '0017-subject-names', statements: subjectNames },
  { name: '0018-run-stops', statements: runStops },
  { name: '0019-measurements', statements: measurements },
  { name: '0020-task-words', statements: taskWords },
  { name: '0021-contract', statements: contract },
  { name: '0022-plan-caps', statements: planCaps },
  { name: '0023-undone-fields', statements: undoneFieldsIndex },
  { name: '0024-record-identities', statements: recordIdentities },
  { name: '0025-created-records', statements: createdRecords },
  { name: '0026-list-rows', statements: listRows },
  { name: '0027-list-reviews', statements: listReviews },
  { name: '0028-list-references', statements: listReferences },
  { name: '0029-list-exclusions', statements: listExclusions },
  { name: '0030-task-kinds', statements: taskKinds },
  { name: '0031-signals', statements: signals },
  { name: '0032-crm-notes', statements: crmNotes },
  { name: '0033-matches', statements: matches },
  { name: '0034-declared-monitors', statements: declaredMonitors },
  { name: '0035-monitor-seen', statements: monitorSeen },
  { name: '0036-champions', statements: champions },
  { name: '0037-monitor-logs', statements: monitorLogs },
  { name: '0038-champion-joins', statements: championJoins },
  valid,
  { name: '0040-erasures', statements: erasures },
  restored,
  tasksByLookup,
  packedRowsMigration,
  pagedFilesMigration,
  openIntentsMigration,
  shorterWordLists,
  lighterWrites,
]
