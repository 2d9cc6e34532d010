import type { Migration } from './migration.ts'

/**
 * New words are put into the index of words in small parts. By default they are gathered up to 4 MB, and the insert that fills the list sorts
 * all of it in: 0.4 s of the embedded ledger's only connection.
 */
export const shorterWordLists: Migration = {
  name: '0047-shorter-word-lists',
  statements: `
-- KB.
alter index task_words_words set (gin_pending_list_limit = 256);
`,
}
