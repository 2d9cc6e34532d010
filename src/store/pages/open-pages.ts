import type { PageMap } from './page-map.ts'
import type { Slots } from './slots.ts'

/** What a file of pages has open: the file, where its pages stand, and its free room. One that is written anew has others. */
export interface OpenPages {
  fd: number
  map: PageMap
  slots: Slots
  isClosed: boolean
  /** How often the file was emptied: what was begun before is of no use after it. */
  timesEmptied: number
}
